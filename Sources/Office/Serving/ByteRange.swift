import Core

/// The bytes of a file that the HTTP header `Range` requests.
enum ByteRange: Hashable, Sendable {
    /// The whole file; also if the header has several ranges or is invalid.
    case whole
    case part(ClosedRange<Int64>)
    /// The range is beyond the end of the file.
    case outside

    /// - Parameters:
    ///   - header: the header's value, such as `bytes=0-99`, `bytes=100-` or `bytes=-100`; nil if there is no header.
    ///   - length: the length of the file in bytes.
    init(_ header: String?, of length: Int64) {
        self = .whole
        guard let header, header.hasPrefix("bytes="), !header.contains(",") else { return }
        let parts = header.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        switch (Self.number(parts[0]), Self.number(parts[1])) {
        case (let first?, let last?):
            guard first <= last else { return }
            self = first < length ? .part(first...min(last, length - 1)) : .outside
        case (let first?, _) where parts[1].isEmpty:
            self = first < length ? .part(first...(length - 1)) : .outside
        case (_, let last?) where parts[0].isEmpty:
            self = last > 0 && length > 0 ? .part(max(0, length - last)...(length - 1)) : .outside
        default: return
        }
    }

    private static func number(_ text: Substring) -> Int64? {
        // A number that overflows is beyond the end of the file.
        guard !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int64(text) ?? .max
    }
}
