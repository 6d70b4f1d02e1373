import Core

/// Finds the offset of a file that is concatenated to another.
enum ConcatenatedFile {
    /// The maximum number of bytes that libsndfile may have read beyond the end of the audio.
    private static let readAhead: Int64 = 1 << 16

    /// Finds the next FLAC file.
    ///
    /// - Parameter start: The offset that libsndfile has reached, which may be after the beginning of that file.
    static func flac(in source: ByteSource, after start: Int64) throws(DeviceError) -> Int64? {
        let signatures = [Array("fLaC".utf8) + [0, 0, 0, 34], Array("fLaC".utf8) + [0x80, 0, 0, 34]]
        var offset = max(1, start - readAhead)
        while offset < source.length {
            let bytes = try source.bytes(at: offset, count: 1 << 20)
            var index = bytes.startIndex
            while let match = bytes[index...].firstIndex(of: 0x66) {
                if signatures.contains(where: { bytes[match...].starts(with: $0) }) { return offset + Int64(match) }
                index = match + 1
            }
            guard bytes.count == 1 << 20 else { return nil }
            offset += Int64(bytes.count) - 7
        }
        return nil
    }

    /// Finds the file that follows an MP4, MOV, WMA, TTA, WavPack or CAF file. The header of such a file contains its
    /// length, so ffmpeg may not read the next one.
    static func find(in source: ByteSource) throws(DeviceError) -> Int64? {
        let head = try source.bytes(at: 0, count: 16)
        if Ffmpeg.isMovie(head) { return try movie(in: source) }
        guard let signature = signatures.first(where: { head.starts(with: $0) }) else { return nil }
        let frames = try FrameBytes(of: source, track: 0)
        guard frames.ends.after > 0 else { return nil }
        let end = source.length - frames.ends.after
        let rest = try source.bytes(at: end, count: 1 << 20)
        return rest.indices.first { rest[$0...].starts(with: signature) }.map { end + Int64($0) }
    }

    private static let signatures: [[UInt8]] = [
        [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11], Array("TTA1".utf8), Array("wvpk".utf8),
        Array("caff".utf8) + [0, 1, 0, 0],
    ]

    /// Finds the first `ftyp` after a `moov` in an MP4, MOV or M4A file.
    private static func movie(in source: ByteSource) throws(DeviceError) -> Int64? {
        var offset: Int64 = 0
        var hasMovie = false
        for _ in 0..<100_000 {
            let head = try source.bytes(at: offset, count: 16)
            guard head.count >= 8 else { return nil }
            let kind = String(decoding: head[4..<8], as: UTF8.self)
            if kind == "ftyp", hasMovie { return offset }
            if kind == "moov" { hasMovie = true }
            var size = number(head[0..<4])
            if size == 1, head.count == 16 { size = number(head[8..<16]) }
            guard size >= 8, size < source.length - offset else { return nil }
            offset += size
        }
        return nil
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64 {
        Int64(clamping: digits.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
