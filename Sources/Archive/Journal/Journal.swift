import Core
import FoundationEssentials
import Glibc
import System

/// The recordings' journals, such as `recordings/000007/journal.jsonl`. A journal has the archive's rows for its
/// recording, one line per change, each with a checksum, so that a lost database can be rebuilt.
///
/// Only the archive's actor writes journals.
struct Journal: Sendable {
    /// The storage folder, kept open because it may be renamed.
    let storage: Folder

    var rootPath: String { "\(storage.path)/\(Self.rootName)" }

    private static let rootName = "recordings"
    private static let name = "journal.jsonl"

    /// Folders with higher numbers are not recordings.
    static let maximumNumber = 999_999_999

    func path(of recording: Int) -> String { "\(rootPath)/\(folderName(of: recording))/\(Self.name)" }

    /// Sets aside anything with the name `recordings` that is not a folder, even a link to a folder. Returns its new
    /// path; nil if nothing was set aside.
    func setAsideNonFolder() throws(DeviceError) -> String? {
        guard let kind = try storage.status(Self.rootName)?.kind, kind != .folder else { return nil }
        return try storage.setAside(Self.rootName, as: "damaged")
    }

    /// Creates the folder for a new recording.
    ///
    /// - Returns: False if the name is taken.
    func claim(_ recording: Int) throws(DeviceError) -> Bool {
        if try !storage.exists(Self.rootName) {
            do throws(DeviceError) { try storage.makeFolder(Self.rootName, mode: 0o700) } catch {
                guard error.status == EEXIST else { throw error }
            }
            try storage.sync()
        }
        let root = try openRoot()
        do throws(DeviceError) { try root.makeFolder(folderName(of: recording), mode: 0o700) } catch {
            guard error.status == EEXIST else { throw error }
            return false
        }
        try root.sync()
        return true
    }

    /// Turns a prepared folder into a new recording's folder, with a journal that has these entries.
    ///
    /// - Returns: False if the name is taken.
    func claim(_ recording: Int, for prepared: String, _ entries: [JournalEntry]) throws -> Bool {
        let root = try openRoot()
        if try root.exists(folderName(of: recording)) { return false }
        try root.folder(prepared).replace(Self.name, with: entries.flatMap(Self.line))
        do throws(DeviceError) { try root.rename(prepared, toUnused: folderName(of: recording)) } catch {
            guard error.status == EEXIST else { throw error }
            return false
        }
        try root.sync()
        return true
    }

    /// Turns a recording's folder back into a prepared folder, if its row could not be added.
    func release(_ recording: Int, as prepared: String) {
        try? openRoot().rename(folderName(of: recording), toUnused: prepared)
    }

    /// Durably appends entries. Creates the recording's folder if it is missing.
    ///
    /// - Parameter committed: The journal's length in bytes according to the database, or 0 if unknown. Later bytes
    ///   were never committed and are truncated.
    /// - Returns: The journal's new length in bytes.
    func append(_ entries: [JournalEntry], recording: Int, committed: Int64) throws -> Int64 {
        let lines = try entries.flatMap(Self.line)
        let folder = try openOrCreateFolder(recording)
        // Throws if this is another recording's journal, which must not be truncated.
        if committed > 0, try size(of: recording) > committed { _ = try read(recording) }
        return try folder.append(lines, to: Self.name, committed: committed > 0 ? committed : nil)
    }

    /// Writes a recording's whole journal, and sets any existing journal aside. Returns the new length in bytes.
    func write(_ entries: [JournalEntry], recording: Int) throws -> Int64 {
        let folder = try openOrCreateFolder(recording)
        if try folder.exists(Self.name) {
            // `replace` syncs the folder.
            try folder.rename(Self.name, toUnused: folder.unusedName(for: Self.name, "damaged"))
        }
        let bytes = try entries.flatMap(Self.line)
        try folder.replace(Self.name, with: bytes)
        return Int64(bytes.count)
    }

    /// Renames another recording's journal in a recording's folder. Returns the new path; nil if there is no journal.
    func setAsideForeign(in recording: Int) throws(DeviceError) -> String? {
        let folder = try openFolder(recording)
        return try folder.exists(Self.name) ? folder.setAside(Self.name, as: "foreign") : nil
    }

    /// Replaces a recording's whole journal. Returns the new length in bytes.
    func replace(_ entries: [JournalEntry], recording: Int) throws -> Int64 {
        _ = try read(recording)
        let bytes = try entries.flatMap(Self.line)
        try openFolder(recording).replace(Self.name, with: bytes)
        return Int64(bytes.count)
    }

    func content(of recording: Int) throws(DeviceError) -> [UInt8] {
        try openFolder(recording).content(ofFile: Self.name)
    }

    /// Returns the journal's length in bytes; 0 if it is missing or not a file.
    ///
    /// - Throws: `DeviceError` if the length cannot be read.
    func size(of recording: Int) throws(DeviceError) -> Int64 {
        try unlessMissing(0) { () throws(DeviceError) in
            let status = try openFolder(recording).status(Self.name)
            return status?.kind == .file ? status?.bytes ?? 0 : 0
        }
    }

    func hasFolder(_ recording: Int) throws(DeviceError) -> Bool {
        try unlessMissing(false) { () throws(DeviceError) in try openRoot().exists(folderName(of: recording)) }
    }

    /// Reads the journal. A missing journal is empty; anything that is not a file counts as one damaged line.
    ///
    /// - Throws: `DeviceError` if the journal cannot be read. Its content is then unknown rather than damaged. The
    ///   cause is `foreignJournal` if the journal names another recording or two recordings.
    func read(_ recording: Int) throws(DeviceError) -> (entries: [JournalEntry], damagedLines: Int) {
        let content = try readAny(recording)
        let record = JournalRecord(content.entries)
        if let other = record.owner.numbers.subtracting([recording]).min() {
            throw ForeignJournal.error(path(of: recording), "is the journal of recording \(other)")
        }
        // A damaged line may have contained the start that matches.
        if content.damagedLines == 0, !record.starts.isEmpty, !record.owner.starts.isSubset(of: record.starts) {
            throw ForeignJournal.error(path(of: recording), "names two recordings")
        }
        return content
    }

    /// Reads the journal in a recording's folder, even if it belongs to another recording.
    func readAny(_ recording: Int) throws(DeviceError) -> (entries: [JournalEntry], damagedLines: Int) {
        let bytes: [UInt8]
        do throws(DeviceError) {
            bytes = try content(of: recording)
        } catch {
            switch (error.code, error.status) {
            case (.missing, _): return ([], 0)
            case (.unsupported, _), (_, ELOOP): return ([], 1)
            default: throw error
            }
        }
        return Self.entries(in: bytes)
    }

    /// Parses a journal and counts its damaged lines.
    static func entries(in bytes: some Collection<UInt8>) -> (entries: [JournalEntry], damagedLines: Int) {
        var entries: [JournalEntry] = []
        var damaged = 0
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard line.count > 9, Array(CRC32.text(of: line.dropFirst(9)).utf8) == Array(line.prefix(8)) else {
                damaged += 1
                continue
            }
            let json = Array(line.dropFirst(9))
            // If a line has a valid checksum but cannot be decoded, a later version wrote it.
            if let entry = try? decoder.decode(JournalEntry.self, from: Data(JSONStrings.check(json))) {
                entries.append(entry)
            }
        }
        return (entries, damaged)
    }

    /// Removes the journal of a recording without audio if the journal has only the recording's number and start. Then
    /// removes the folder if it is empty. A journal that cannot be read completely is set aside.
    ///
    /// - Throws: `DeviceError` with the journal's new path, or if the journal cannot be renamed.
    func discard(_ recording: Int) throws(DeviceError) {
        var problem = "has damaged lines"
        do throws(DeviceError) {
            let (entries, damagedLines) = try readAny(recording)
            if damagedLines == 0 {
                let otherEntries = entries.filter {
                    if case .recording(recording, _, _, _) = $0 { false } else { true }
                }
                let hasOnlyStarts = otherEntries.allSatisfy { if case .began = $0 { true } else { false } }
                if hasOnlyStarts, otherEntries.count <= 1 { remove(recording) }
                return
            }
        } catch { problem = "cannot be read: \(error.reason)" }
        let newPath = try openFolder(recording).setAside(Self.name, as: "damaged")
        throw DeviceError(
            .damaged, "discard", on: path(of: recording),
            "\(problem); the recording has no sound and was removed, but the journal was kept as \(newPath)",
            remedy: "check the disk")
    }

    /// Removes a recording's journal, and its folder if it is then empty.
    func remove(_ recording: Int) {
        guard let root = try? openRoot(), let folder = try? root.folder(folderName(of: recording)) else { return }
        try? folder.remove(Self.name)
        try? root.removeFolder(folderName(of: recording))
    }

    /// Returns the highest number in any name in the folder `recordings`, including names of unfinished erasures.
    func highestNumber() throws(DeviceError) -> Int {
        let names: [String] = try unlessMissing([]) { () throws(DeviceError) in try openRoot().names() }
        // The number in a scratch folder's name is a process ID.
        let numbers = names.filter { !ScratchFolder.isName($0, for: AddedFile.purpose) }.compactMap { name in
            Int(name.drop { !$0.isASCII || !$0.isNumber }.prefix { $0.isASCII && $0.isNumber })
        }
        return numbers.filter { $0 < Self.maximumNumber }.max() ?? 0
    }

    private func openRoot() throws(DeviceError) -> Folder { try storage.folder(Self.rootName) }

    private func openFolder(_ recording: Int) throws(DeviceError) -> Folder {
        try openRoot().folder(folderName(of: recording))
    }

    private func openOrCreateFolder(_ recording: Int) throws(DeviceError) -> Folder {
        if try !hasFolder(recording) { _ = try claim(recording) }
        return try openFolder(recording)
    }

    static func line(_ entry: JournalEntry) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let json = Array(try encoder.encode(entry))
        return Array(CRC32.text(of: json).utf8) + [UInt8(ascii: " ")] + json + [UInt8(ascii: "\n")]
    }
}

/// Returns the name of a recording's folder, which has at least six digits.
func folderName(of recording: Int) -> String { recording.padded(to: 6) }

extension Folder {
    /// Durably appends lines to a file. Creates the file if it is missing.
    ///
    /// - Parameter committed: The offset at which the last committed line ends. Later bytes are truncated. If nil, all
    ///   bytes are kept.
    /// - Returns: The file's new length in bytes.
    func append(_ lines: [UInt8], to name: String, committed: Int64?) throws(DeviceError) -> Int64 {
        let isNew = try !exists(name)
        let file = try openFile(name, O_RDWR | O_APPEND | O_CREAT)
        var size = try file.size()
        if let committed, size > committed {
            try file.truncate(to: committed)
            size = committed
        }
        var bytes = lines
        // A line that a power cut left incomplete stays, but must not be joined with the next line.
        if size > 0, try file.bytes(at: size - 1, count: 1) != [UInt8(ascii: "\n")] {
            bytes.insert(UInt8(ascii: "\n"), at: 0)
        }
        try rethrowing { try bytes.withUnsafeBytes { try file.write($0) } }
        try file.syncData()
        if isNew { try sync() }
        return size + Int64(bytes.count)
    }
}
