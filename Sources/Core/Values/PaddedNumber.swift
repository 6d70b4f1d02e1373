extension BinaryInteger {
    /// Returns the digits with leading zeros: `7.padded(to: 3)` is `007`.
    package func padded(to digits: Int, radix: Int = 10) -> String {
        let text = String(self, radix: radix)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
