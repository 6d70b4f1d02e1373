import Core
import Glibc
import System

/// Simulates a power cut: undoes all changes in a folder that were not synced.
///
/// Tests/FaultShim/Journal.c writes the journal. A file's content is durable once the file is synced. A name is durable
/// once its folder or any file in that folder is synced, because ext4 then commits all earlier changes.
struct PowerCut {
    private struct Record {
        var kind: UInt8
        var sequenceNumber: Int
        var inode: UInt64
        var offset: Int
        var size: Int
        var payload: ArraySlice<UInt8>

        var names: (String, String) {
            let half = payload.startIndex + payload.count / 2
            return (Self.name(payload[..<half]), Self.name(payload[half...]))
        }

        private static func name(_ bytes: ArraySlice<UInt8>) -> String {
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    private let journal: String
    private let storage: String
    private var records: [Record] = []
    private var paths: [UInt64: String] = [:]

    /// Reads a journal.
    ///
    /// - Parameter storage: the folder whose changes are in the journal.
    init(journal: String, storage: String) {
        self.journal = journal
        self.storage = storage
        let raw = bytes(of: journal)
        var offset = 0
        while offset + 48 <= raw.count {
            let fields = (0..<6).map { word in
                (0..<8).reduce(UInt64(0)) { $0 | UInt64(raw[offset + word * 8 + $1]) << (8 * $1) }
            }
            let count = Int(fields[4])
            guard offset + 48 + count <= raw.count else { break }
            records.append(
                Record(
                    kind: UInt8(fields[0]), sequenceNumber: Int(fields[1]), inode: fields[2],
                    offset: Int(fields[3]),
                    size: Int(fields[5]), payload: raw[(offset + 48)..<(offset + 48 + count)]))
            offset += 48 + count
        }
        for path in files(below: storage) { paths[Self.inode(path)] = path }
    }

    /// Undoes the changes that were not synced, and returns how many there were.
    func apply() throws -> Int {
        var undoneCount = 0
        var lastSyncs: [UInt64: Int] = [:]
        for record in records where record.kind == UInt8(ascii: "S") {
            lastSyncs[record.inode] = max(lastSyncs[record.inode] ?? 0, record.offset)
        }
        for record in records.reversed()
        where record.kind == UInt8(ascii: "W") && record.sequenceNumber > lastSyncs[record.inode] ?? 0 {
            let keptPath = "\(journal).kept.\(record.inode)"
            let path = paths[record.inode] ?? keptPath
            guard access(path, F_OK) == 0 else { continue }
            let file = try FileDescriptor(opening: path, O_WRONLY)
            try record.payload.withUnsafeBytes { try file.write($0, at: Int64(record.offset)) }
            try file.truncate(to: Int64(record.size))
            undoneCount += 1
        }
        for record in records.reversed() {
            let (first, second) = record.names
            let name = record.kind == UInt8(ascii: "R") ? second : first
            switch record.kind {
            case UInt8(ascii: "C"), UInt8(ascii: "R"), UInt8(ascii: "U"):
                guard record.sequenceNumber > lastSync(inFolderOf: name, lastSyncs) else { continue }
            default: continue
            }
            switch record.kind {
            case UInt8(ascii: "C"): unlink(first)
            case UInt8(ascii: "R"): rename(second, first)
            default:
                unlink(first)
                link("\(journal).kept.\(record.inode)", first)
            }
            undoneCount += 1
        }
        return undoneCount
    }

    /// Returns the sequence number up to which changes of names in the folder of `name` are durable.
    private func lastSync(inFolderOf name: String, _ lastSyncs: [UInt64: Int]) -> Int {
        let folder = name.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
        var last = lastSyncs[Self.inode(folder)] ?? 0
        for (inode, path) in paths where path.hasPrefix(folder + "/") && !path.dropFirst(folder.count + 1).contains("/")
        {
            last = max(last, lastSyncs[inode] ?? 0)
        }
        return last
    }

    private static func inode(_ path: String) -> UInt64 {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt64(status.st_ino) : 0
    }
}
