extension Character {
    /// Whether this is an ASCII letter or digit.
    package var isASCIIAlphanumeric: Bool { isASCII && (isLetter || isNumber) }
}
