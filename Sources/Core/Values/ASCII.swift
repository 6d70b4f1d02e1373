extension Character {
    package var isASCIIAlphanumeric: Bool { isASCII && (isLetter || isNumber) }
}

extension UInt8 {
    package var isASCIIDigit: Bool { (0x30...0x39).contains(self) }
}
