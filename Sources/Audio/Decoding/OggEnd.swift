import Core

/// Checks whether an Ogg file is complete: its last page is whole and marked as the last.
///
/// libsndfile 1.2.2 and later reads a truncated file as a shorter one.
enum OggEnd {
    /// The largest page in bytes.
    private static let largestPage = 27 + 255 + 255 * 255

    /// - Parameter tail: the last `largestPage` bytes of the file or more.
    /// - Returns: false also if there is no page.
    static func isFinished(_ tail: [UInt8]) -> Bool {
        var start = tail.count - 27
        while start >= 0 {
            if tail[start] == 0x4f, tail[start...].starts(with: "OggS".utf8) {
                let segments = Int(tail[start + 26])
                let body = start + 27 + segments
                guard body <= tail.count else { return false }
                let size = tail[(start + 27)..<body].reduce(0) { $0 + Int($1) }
                return body + size <= tail.count && tail[start + 5] & 4 != 0
            }
            start -= 1
        }
        return false
    }

    /// Checks a file; nil if it is not Ogg.
    static func isFinished(_ source: ByteSource) throws(DeviceError) -> Bool? {
        guard try source.bytes(at: 0, count: 4).elementsEqual("OggS".utf8) else { return nil }
        let start = max(0, source.length - Int64(2 * largestPage))
        return isFinished(try source.bytes(at: start, count: 2 * largestPage))
    }
}
