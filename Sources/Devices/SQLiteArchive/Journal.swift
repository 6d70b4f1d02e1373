import Core
import FoundationEssentials
import Glibc
import Platform

/// What the archive says of each recording, said once more beside its audio, so that a database that is lost can be made
/// anew: `recordings/000007/journal.jsonl`, one line a change, each with its checksum.
///
/// Lines are only ever added. The archive's actor is the only one that writes.
struct Journal: Sendable {
    /// The folder of the recordings' folders.
    let root: String

    func folder(of recording: Int) -> String { "\(root)/\(folderName(of: recording))" }

    func path(of recording: Int) -> String { "\(folder(of: recording))/journal.jsonl" }

    /// Adds lines, durably, and makes the recording's folder where it is missing.
    ///
    /// - Parameter told: how long the archive knows it to be, in bytes, 0 where it does not; what is beyond was never
    ///   committed, since the archive could not be written then, and goes.
    /// - Returns: how long the journal is now, in bytes.
    func append(_ entries: [JournalEntry], recording: Int, told: Int64) throws -> Int64 {
        let lines = try entries.flatMap(Self.line)
        let path = path(of: recording)
        let isNew = access(path, F_OK) != 0
        if isNew { try makeFolder(folder(of: recording)) }
        let file = try FileDescriptor(opening: path, O_RDWR | O_APPEND | O_CREAT)
        var size = try file.size()
        if told > 0, size > told {
            try file.truncate(to: told)
            size = told
        }
        // A line that a power cut left half stays, and spoils no other.
        var bytes = lines
        if size > 0, try !Self.endsWithNewline(file, size: size) { bytes.insert(UInt8(ascii: "\n"), at: 0) }
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        defer { buffer.deallocate() }
        _ = buffer.initialize(from: bytes)
        try file.write(UnsafeRawBufferPointer(buffer))
        try file.syncData()
        if isNew { try syncFolder(containing: path) }
        return size + Int64(bytes.count)
    }

    /// Writes the whole journal of a recording; one that was there is set aside.
    func write(_ entries: [JournalEntry], recording: Int) throws -> Int64 {
        let path = path(of: recording)
        if access(path, F_OK) == 0 { try durableRename(path, to: asideName(for: path, "damaged")) }
        let bytes = try entries.flatMap(Self.line)
        try durableReplace(path: path, with: bytes)
        return Int64(bytes.count)
    }

    /// How long the journal is, 0 where there is none.
    func size(of recording: Int) -> Int64 {
        var status = stat()
        return stat(path(of: recording), &status) == 0 ? Int64(status.st_size) : 0
    }

    /// What the journal holds; nothing where there is none or it cannot be read.
    func read(_ recording: Int) -> (entries: [JournalEntry], damagedLines: Int) {
        guard let bytes = try? content(ofFile: path(of: recording)) else {
            return ([], access(path(of: recording), F_OK) == 0 ? 1 : 0)
        }
        return Self.entries(in: bytes)
    }

    /// What a journal's bytes hold, and how many of its lines are damaged.
    static func entries(in bytes: some Collection<UInt8>) -> (entries: [JournalEntry], damagedLines: Int) {
        var entries: [JournalEntry] = []
        var damaged = 0
        let decoder = decoder()
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard line.count > 9, Array(CRC32.text(of: line.dropFirst(9)).utf8) == Array(line.prefix(8)) else {
                damaged += 1
                continue
            }
            // A line that is whole but strange is a later version's.
            let json = Array(line.dropFirst(9))
            if let entry = try? decoder.decode(JournalEntry.self, from: Data(JSONStrings.check(json))) {
                entries.append(entry)
            }
        }
        return (entries, damaged)
    }

    /// Takes the journal of a recording that never came to any audio away, and its folder, unless something else is in it.
    func discard(_ recording: Int) {
        unlink(path(of: recording))
        rmdir(folder(of: recording))
    }

    /// The numbers of the recordings that have a folder.
    func recordings() throws(DeviceError) -> [Int] {
        try names(inFolder: root).compactMap { name in
            guard name.utf8.count >= 6, name.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return Int(name).flatMap { $0 > 0 && folderName(of: $0) == name ? $0 : nil }
        }.sorted()
    }

    static func line(_ entry: JournalEntry) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let json = Array(try encoder.encode(entry))
        return Array(CRC32.text(of: json).utf8) + [UInt8(ascii: " ")] + json + [UInt8(ascii: "\n")]
    }

    private static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return decoder
    }

    /// Whether the file, which is not empty, ends with a whole line.
    private static func endsWithNewline(_ file: borrowing FileDescriptor, size: Int64) throws(DeviceError) -> Bool {
        let byte = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        defer { byte.deallocate() }
        return try file.read(into: byte, at: size - 1) == 1 && byte[0] == UInt8(ascii: "\n")
    }
}

/// Six digits, as the recording's folder is called.
func folderName(of recording: Int) -> String {
    let digits = String(recording)
    return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
}
