import Copying
import Core

/// A recording's metadata in the tags of its audio file: FLAC comments, or the LIST chunk of a WAV file. All of it is
/// untrusted.
struct AudioTags: Hashable, Sendable {
    /// The number of bytes at the beginning of a file that are searched for tags.
    static let headLength = 16_384
    private static let maximumComments = 100

    let device: String?
    /// The recording's start, in seconds since 1970-01-01T00:00:00Z.
    let startedAt: Double?
    /// The start in the recorder's time zone, in the format of a copy's name: `2026-11-20_09-30-12`.
    let localStart: String
    let clock: RecordingSummary.Clock

    /// - Parameter head: the first bytes of the file. Tags after them are ignored.
    init(_ head: [UInt8]) {
        var rest = head[...]
        let tags = Self.fourCC(&rest) == "fLaC" ? Self.flacComments(rest) : Self.wavTags(rest)
        device = tags["artist"].flatMap { $0.isEmpty ? nil : DeviceName(madeOf: $0).text }
        let date = tags["date"] ?? ""
        startedAt = seconds(ofStamp: date)
        localStart = String(date.prefix(19)).replacing("T", with: "_").replacing(":", with: "-")
        // Example: `recording 7; start 2026-11-20T09:30:12+01:00; clock synchronized; stopped: button`
        let isSynchronized = (tags["comment"] ?? "").split(separator: ";").contains(" clock synchronized")
        clock = isSynchronized ? .synchronized : .unverified
    }

    /// Reads the metadata blocks of a FLAC file, one of which contains comments such as `artist=pi`.
    private static func flacComments(_ blocks: ArraySlice<UInt8>) -> [String: String] {
        var (blocks, tags) = (blocks, [String: String]())
        while let kind = blocks.popFirst(), let length = integer(&blocks, [16, 8, 0]),
            var block = read(&blocks, length)
        {
            guard kind & 0x7F == 4 else {
                if kind & 0x80 != 0 { break }
                continue
            }
            guard let vendorLength = uint32(&block), read(&block, vendorLength) != nil, let count = uint32(&block)
            else { break }
            for _ in 0..<min(count, maximumComments) {
                guard let length = uint32(&block), let comment = read(&block, length) else { break }
                let fields = text(comment).split(separator: "=", maxSplits: 1).map(String.init)
                if fields.count == 2 { tags[fields[0].lowercased()] = fields[1] }
            }
            break
        }
        return tags
    }

    /// Reads the chunks of a WAV or RF64 file, one of which contains tags such as `IART`.
    private static func wavTags(_ file: ArraySlice<UInt8>) -> [String: String] {
        let names = ["IART": "artist", "ICRD": "date", "ICMT": "comment"]
        var (file, tags) = (file, [String: String]())
        guard uint32(&file) != nil, fourCC(&file) == "WAVE" else { return tags }
        while let kind = fourCC(&file), let length = uint32(&file), var chunk = read(&file, length + length % 2) {
            guard kind == "LIST", fourCC(&chunk) == "INFO" else { continue }
            while let kind = fourCC(&chunk), let length = uint32(&chunk),
                let entry = read(&chunk, length + length % 2)
            {
                if let name = names[kind] { tags[name] = text(entry.prefix { $0 != 0 }) }
            }
        }
        return tags
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func fourCC(_ bytes: inout ArraySlice<UInt8>) -> String? { read(&bytes, 4).map(text) }

    private static func uint32(_ bytes: inout ArraySlice<UInt8>) -> Int? { integer(&bytes, [0, 8, 16, 24]) }

    /// Reads an integer.
    ///
    /// - Parameter shifts: for each byte, the number of bits by which it is shifted left.
    private static func integer(_ bytes: inout ArraySlice<UInt8>, _ shifts: [Int]) -> Int? {
        read(&bytes, shifts.count).map { zip($0, shifts).reduce(0) { $0 + Int($1.0) << $1.1 } }
    }

    /// Reads `count` bytes. Returns nil if there are fewer.
    private static func read(_ bytes: inout ArraySlice<UInt8>, _ count: Int) -> ArraySlice<UInt8>? {
        guard count <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }
}
