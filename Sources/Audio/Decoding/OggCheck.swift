import Core

/// Checks whether an Ogg file is complete: its last page is complete and marked as the last.
///
/// Since version 1.2.2, libsndfile reads a truncated file as a shorter one, without an error.
enum OggCheck {
    /// The maximum size of a page in bytes.
    private static let maximumPage = 27 + 255 + 255 * 255

    /// - Returns: Whether the file is complete; false also if it has no pages; nil if it is not an Ogg file.
    static func isComplete(_ source: ByteSource) throws(DeviceError) -> Bool? {
        guard try source.bytes(at: 0, count: 4).elementsEqual("OggS".utf8) else { return nil }
        let start = max(0, source.length - Int64(2 * maximumPage))
        let tail = try source.bytes(at: start, count: 2 * maximumPage)
        for page in tail.indices.dropLast(26).reversed() where tail[page...].starts(with: "OggS".utf8) {
            let body = page + 27 + Int(tail[page + 26])
            guard body <= tail.count else { return false }
            let size = tail[(page + 27)..<body].reduce(0) { $0 + Int($1) }
            return body + size <= tail.count && tail[page + 5] & 4 != 0
        }
        return false
    }
}
