/// Compares the length of the audio in a file's header with the actual length.
///
/// libsndfile trusts a header whose length is too short. A recording that ended in a power cut would lose its last
/// seconds or, if the length was never written, everything.
struct ContainerCheck: Equatable {
    /// The number of bytes of audio according to the header.
    var claimedBytes: UInt64
    /// The number of bytes of audio in the file.
    var heldBytes: UInt64

    /// The corrections to apply when reading the header.
    var patches: [ByteSource.Patch] = []

    /// The offset of another file that is concatenated to this one; nil if there is none.
    var followingOffset: Int64?

    /// Whether the header contains a placeholder that programs write before they know the length.
    var isPlaceholder: Bool {
        (claimedBytes > 0x7fff_0000 && claimedBytes > heldBytes) || (claimedBytes == 0 && heldBytes > 0)
    }

    /// Checks a RIFF, RF64, AIFF or CAF file. Returns nil if the format is different, or if the chunks before the audio
    /// are invalid.
    ///
    /// - Parameter read: Returns bytes at an offset, fewer at the end of the file.
    init?(length: Int64, read: @escaping (_ offset: Int64, _ count: Int) -> [UInt8]) {
        guard let walk = ChunkWalk(length: length, read: read), let audio = walk.findAudio() else { return nil }
        let rest = UInt64(length - audio.start)
        let isOutdated = audio.size < rest && !walk.hasTrailer(after: audio)
        claimedBytes = audio.size
        heldBytes = isOutdated ? rest : min(audio.size, rest)
        followingOffset = isOutdated ? nil : walk.followingFile(after: audio)
        if claimedBytes != heldBytes { patches = walk.corrections(of: audio, heldBytes: heldBytes) }
    }
}

/// Walks through the chunks of a RIFF, RF64, AIFF or CAF file.
struct ChunkWalk {
    struct Audio: Equatable {
        var start: Int64
        /// The number of bytes of audio according to the header.
        var size: UInt64
        /// The offset and width of the size field.
        var sizeOffset: Int64
        var sizeBytes: Int
        /// The number of bytes that the size field counts in addition to the audio.
        var prefix: UInt64
    }

    private enum Family { case riff, riffBigEndian, aiff, caf }

    private let family: Family
    private let length: Int64
    private let read: (Int64, Int) -> [UInt8]

    private var sizeBytes: Int { family == .caf ? 8 : 4 }
    private var isBigEndian: Bool { family != .riff }

    /// Starts at the beginning of a file. Returns nil for other formats.
    init?(length: Int64, read: @escaping (Int64, Int) -> [UInt8]) {
        let head = read(0, 12)
        guard head.count == 12 else { return nil }
        let id = Self.text(head[0..<4])
        let form = Self.text(head[8..<12])
        switch (id, form) {
        case ("RIFF", "WAVE"), ("RF64", "WAVE"), ("BW64", "WAVE"): family = .riff
        case ("RIFX", "WAVE"): family = .riffBigEndian
        case ("FORM", "AIFF"), ("FORM", "AIFC"): family = .aiff
        case ("caff", _): family = .caf
        default: return nil
        }
        self.length = length
        self.read = read
    }

    /// Finds the chunk with the audio. Returns nil if the chunks before it are invalid.
    func findAudio() -> Audio? {
        var offset: Int64 = family == .caf ? 8 : 12
        var ds64: (offset: Int64, size: UInt64)?
        // A limit, because the file may be malicious.
        for _ in 0..<10_000 {
            guard let (id, size, body) = chunk(at: offset) else { return nil }
            if id == "ds64" {
                let sizes = read(body, 16)
                if sizes.count == 16 { ds64 = (body + 8, number(sizes[8..<16])) }
            }
            if id == (family == .aiff ? "SSND" : "data") {
                let prefix: UInt64 =
                    switch family {
                    case .aiff: 8
                    case .caf: 4
                    default: 0
                    }
                guard body + Int64(prefix) <= length else { return nil }
                if let ds64, size == 0xffff_ffff {
                    return Audio(
                        start: body, size: ds64.size, sizeOffset: ds64.offset, sizeBytes: 8, prefix: 0)
                }
                return Audio(
                    start: body + Int64(prefix), size: size > prefix ? size - prefix : 0, sizeOffset: offset + 4,
                    sizeBytes: sizeBytes, prefix: prefix)
            }
            guard let next = end(of: body, size) else { return nil }
            offset = next
        }
        return nil
    }

    /// Returns whether the audio that the header claims is followed by chunks, a tag, another file or nothing, rather
    /// than by more audio.
    func hasTrailer(after audio: Audio) -> Bool {
        guard audio.size <= UInt64(length - audio.start) else { return false }
        let end = audio.start + Int64(audio.size)
        // Some programs omit the pad byte after an odd size.
        return isTrailer(at: end) || (audio.size & 1 == 1 && isTrailer(at: end + 1))
    }

    /// Returns the offset of another file after the audio and the chunks that follow it; nil if there is none.
    func followingFile(after audio: Audio) -> Int64? {
        guard audio.size < UInt64(length - audio.start) else { return nil }
        let end = audio.start + Int64(audio.size)
        for start in audio.size & 1 == 1 ? [end, end + 1] : [end] {
            var offset = start
            for _ in 0..<10_000 {
                guard let (id, size, body) = chunk(at: offset), let id else { break }
                if Self.signatures.contains(id) { return offset }
                guard let next = self.end(of: body, size) else { break }
                offset = next
            }
        }
        return nil
    }

    func corrections(of audio: Audio, heldBytes: UInt64) -> [ByteSource.Patch] {
        let size = ByteSource.Patch(
            offset: audio.sizeOffset, bytes: bytes(heldBytes + audio.prefix, audio.sizeBytes))
        let riffSize = UInt64(max(0, length - 8))
        switch family {
        // AIFF has a frame count in another chunk, and libsndfile reads the existing audio if SSND is too long.
        case .aiff: return []
        case .caf: return [size]
        case _ where audio.sizeBytes == 8:
            return [.init(offset: audio.sizeOffset - 8, bytes: bytes(riffSize, 8)), size]
        default: return [.init(offset: 4, bytes: bytes(riffSize, 4)), size]
        }
    }

    private func isTrailer(at start: Int64) -> Bool {
        var offset = start
        let tag = Self.text(read(offset, 3)[...])
        if tag == "ID3" || (tag == "TAG" && length - offset == 128) { return true }
        for _ in 0..<10_000 {
            if length - offset <= 1 { return true }
            guard let (id, size, body) = chunk(at: offset), let id else { return false }
            if Self.trailingChunks.contains(id) || Self.signatures.contains(id) { return true }
            guard let next = end(of: body, size) else { return false }
            offset = next
        }
        return false
    }

    /// Reads a chunk header. The identifier is nil if it is not text.
    private func chunk(at offset: Int64) -> (id: String?, size: UInt64, body: Int64)? {
        let head = read(offset, 4 + sizeBytes)
        guard head.count == 4 + sizeBytes else { return nil }
        return (Self.text(head[0..<4]), number(head[4...]), offset + Int64(head.count))
    }

    private func end(of body: Int64, _ size: UInt64) -> Int64? {
        guard body <= length, size <= UInt64(length - body) else { return nil }
        return body + Int64(size) + (family == .caf ? 0 : Int64(size & 1))
    }

    private func number(_ digits: ArraySlice<UInt8>) -> UInt64 {
        let bigEndianDigits = isBigEndian ? Array(digits) : digits.reversed()
        return bigEndianDigits.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func bytes(_ number: UInt64, _ count: Int) -> [UInt8] {
        let number = count == 4 ? min(number, 0xffff_ffff) : number
        let littleEndianBytes = (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
        return isBigEndian ? littleEndianBytes.reversed() : littleEndianBytes
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.allSatisfy { (0x20...0x7e).contains($0) } ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// The first bytes of files that may be concatenated to this one.
    private static let signatures: Set<String> = ["RIFF", "RIFX", "RF64", "BW64", "FORM", "caff"]

    /// Chunks that commonly follow the audio. They are recognized even if they are truncated.
    private static let trailingChunks: Set<String> = [
        "LIST", "id3 ", "ID3 ", "bext", "cue ", "smpl", "fact", "PEAK", "JUNK", "junk", "iXML", "axml", "chna", "inst",
        "acid", "cart", "plst", "DISP", "afsp", "_PMX", "FLLR", "PAD ", "MARK", "NAME", "ANNO", "AUTH", "COMT", "APPL",
        "info", "free", "peak", "uuid",
    ]
}
