import Core
import FoundationEssentials
import Glibc
import System

/// What the archive says of each recording, said once more beside its audio, so that a database that is lost can be made
/// anew: `recordings/000007/journal.jsonl`, one line a change, each with its checksum.
///
/// Lines are only ever added. The archive's actor is the only one that writes.
struct Journal: Sendable {
    /// The folder around that of the recordings' folders; it is found whatever it is called meanwhile.
    let storage: Folder

    /// The folder of the recordings' folders.
    var root: String { "\(storage.path)/\(Self.rootName)" }

    private static let rootName = "recordings"
    private static let name = "journal.jsonl"

    /// Beyond this no folder's name is taken for a number: the next one is counted from the highest.
    static let highest = 999_999_999

    func path(of recording: Int) -> String { "\(root)/\(folderName(of: recording))/\(Self.name)" }

    /// Sets aside what lies where the recordings' folder belongs and is none, be it a link to one; returns its new name.
    func clear() throws(DeviceError) -> String? {
        guard let kind = try storage.status(Self.rootName)?.kind, kind != .folder else { return nil }
        let aside = try storage.freeName(for: Self.rootName, "damaged")
        try storage.rename(Self.rootName, toFree: aside)
        try storage.sync()
        return "\(storage.path)/\(aside)"
    }

    /// Makes the folder of a new recording, which nothing may have yet.
    ///
    /// - Returns: false where its name is taken.
    func claim(_ recording: Int) throws(DeviceError) -> Bool {
        if try !storage.exists(Self.rootName) {
            do throws(DeviceError) { try storage.makeFolder(Self.rootName, mode: 0o700) } catch {
                guard error.status == EEXIST else { throw error }
            }
            try storage.sync()
        }
        let top = try top()
        do throws(DeviceError) { try top.makeFolder(folderName(of: recording), mode: 0o700) } catch {
            guard error.status == EEXIST else { throw error }
            return false
        }
        try top.sync()
        return true
    }

    /// Adds lines, durably, and makes the recording's folder where it is missing.
    ///
    /// - Parameter told: how long the archive knows it to be, in bytes, 0 where it does not; what is beyond was never
    ///   committed, since the archive could not be written then, and goes.
    /// - Returns: how long the journal is now, in bytes.
    func append(_ entries: [JournalEntry], recording: Int, told: Int64) throws -> Int64 {
        let lines = try entries.flatMap(Self.line)
        let folder = try made(recording)
        let isNew = try !folder.exists(Self.name)
        let file = try folder.openFile(Self.name, O_RDWR | O_APPEND | O_CREAT)
        var size = try file.size()
        if told > 0, size > told {
            // What is another recording's is not ours to cut.
            _ = try read(recording)
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
        if isNew { try folder.sync() }
        return size + Int64(bytes.count)
    }

    /// Writes the whole journal of a recording; one that was there is set aside.
    func write(_ entries: [JournalEntry], recording: Int) throws -> Int64 {
        let folder = try made(recording)
        try setAside("damaged", in: folder)
        let bytes = try entries.flatMap(Self.line)
        try folder.replace(Self.name, with: bytes)
        return Int64(bytes.count)
    }

    /// Gives the journal in a recording's folder another name; returns that, nil if there is none.
    @discardableResult
    func setAside(_ suffix: String, of recording: Int) throws(DeviceError) -> String? {
        let folder = try opened(recording)
        guard let name = try setAside(suffix, in: folder) else { return nil }
        try folder.sync()
        return "\(folder.path)/\(name)"
    }

    @discardableResult
    private func setAside(_ suffix: String, in folder: Folder) throws(DeviceError) -> String? {
        guard try folder.exists(Self.name) else { return nil }
        let name = try folder.freeName(for: Self.name, suffix)
        try folder.rename(Self.name, toFree: name)
        return name
    }

    /// Writes the whole journal of a recording in the place of one that was there, of which nothing is kept.
    func replace(_ entries: [JournalEntry], recording: Int) throws -> Int64 {
        _ = try read(recording)
        let bytes = try entries.flatMap(Self.line)
        try opened(recording).replace(Self.name, with: bytes)
        return Int64(bytes.count)
    }

    /// The bytes of the journal.
    func content(of recording: Int) throws(DeviceError) -> [UInt8] {
        try opened(recording).openFile(Self.name, O_RDONLY).content()
    }

    /// How long the journal is, 0 where there is none, or something that is no file.
    ///
    /// - Throws: `DeviceError` where that may not be known.
    func size(of recording: Int) throws(DeviceError) -> Int64 {
        do throws(DeviceError) {
            let status = try opened(recording).status(Self.name)
            return status?.kind == .file ? status?.bytes ?? 0 : 0
        } catch {
            guard error.code == .missing else { throw error }
            return 0
        }
    }

    /// Whether the recording has a folder.
    func hasFolder(_ recording: Int) throws(DeviceError) -> Bool {
        do throws(DeviceError) { return try top().exists(folderName(of: recording)) } catch {
            guard error.code == .missing else { throw error }
            return false
        }
    }

    /// What the journal holds; nothing where there is none, and nothing but damage in what is no file.
    ///
    /// - Throws: `DeviceError` where it may not be read: what it holds is then unknown, not damaged; with `ForeignJournal.operation` if
    ///   its lines name another recording.
    func read(_ recording: Int) throws(DeviceError) -> (entries: [JournalEntry], damagedLines: Int) {
        let read = try readAny(recording)
        let record = JournalRecord(read.entries)
        if let other = record.owner.numbers.subtracting([recording]).min() {
            throw ForeignJournal.error(path(of: recording), "is the journal of recording \(other)")
        }
        // A damaged line may be the one that has the other start.
        if read.damagedLines == 0, !record.starts.isEmpty, !record.owner.starts.isSubset(of: record.starts) {
            throw ForeignJournal.error(path(of: recording), "names the start of one recording and tells of another")
        }
        return read
    }

    /// What the journal in a recording's folder holds, whosever it is.
    func readAny(_ recording: Int) throws(DeviceError) -> (entries: [JournalEntry], damagedLines: Int) {
        let bytes: [UInt8]
        do throws(DeviceError) {
            bytes = try opened(recording).openFile(Self.name, O_RDONLY).content()
        } catch {
            switch (error.code, error.status) {
            case (.missing, _): return ([], 0)
            case (.unsupported, _), (_, ELOOP): return ([], 1)
            default: throw error
            }
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

    /// Takes the journal of a recording that never came to any audio away, and its folder, unless something else is in
    /// them.
    func discard(_ recording: Int) {
        guard let top = try? top(), let folder = try? top.folder(folderName(of: recording)) else { return }
        let entries = (try? readAny(recording).entries) ?? []
        let rest = entries.filter { if case .recording(recording, _, _, _) = $0 { false } else { true } }
        let isBegun = rest.allSatisfy { if case .began = $0 { true } else { false } }
        guard isBegun, rest.count <= 1 else { return }
        try? folder.remove(Self.name)
        try? top.removeFolder(folderName(of: recording))
    }

    /// The numbers of the recordings that have a folder.
    func recordings() throws(DeviceError) -> [Int] {
        try names().compactMap { name in
            guard name.utf8.count >= 6, let number = Self.number(name), folderName(of: number) == name else {
                return nil
            }
            return number
        }.sorted()
    }

    /// The highest number that anything beside the recordings has, be it one whose erasing did not come to its end.
    func highestNumber() throws(DeviceError) -> Int {
        try names().compactMap { name in
            Self.number(name.drop { !$0.isASCII || !$0.isNumber }.prefix { $0.isASCII && $0.isNumber })
        }.max() ?? 0
    }

    private static func number(_ digits: some StringProtocol) -> Int? {
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(digits).flatMap { $0 > 0 && $0 < highest ? $0 : nil }
    }

    private func names() throws(DeviceError) -> [String] {
        do throws(DeviceError) { return try top().names() } catch {
            guard error.code == .missing else { throw error }
            return []
        }
    }

    /// The folder of the recordings' folders.
    private func top() throws(DeviceError) -> Folder { try storage.folder(Self.rootName) }

    /// A recording's folder.
    private func opened(_ recording: Int) throws(DeviceError) -> Folder { try top().folder(folderName(of: recording)) }

    /// A recording's folder, made where it is missing.
    private func made(_ recording: Int) throws(DeviceError) -> Folder {
        do throws(DeviceError) { return try opened(recording) } catch {
            guard error.code == .missing else { throw error }
        }
        _ = try claim(recording)
        return try opened(recording)
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
    recording.padded(to: 6)
}
