import Core
import Glibc
import System

/// The history of who did what: the file `history.jsonl` beside the database, with one entry per line. Only the
/// archive's actor writes it, and it only appends.
struct HistoryFile: Sendable {
    static let name = "history.jsonl"

    /// The database's folder, kept open because it may be renamed.
    let folder: Folder

    var path: String { "\(folder.path)/\(Self.name)" }

    var exists: Bool { get throws(DeviceError) { try folder.exists(Self.name) } }

    /// Durably appends a line, including its newline. If something that cannot be appended to has the file's name, sets
    /// it aside, so that recording can continue.
    ///
    /// - Parameter end: The offset at which the last committed entry ends. Later bytes are truncated.
    /// - Returns: The offset at which the new line ends.
    func append(_ line: [UInt8], after end: Int64) throws(DeviceError) -> Int64 {
        try setAsideIfUnwritable()
        return try folder.append(line, to: Self.name, committed: end)
    }

    private func setAsideIfUnwritable() throws(DeviceError) {
        guard try exists else { return }
        do throws(DeviceError) { _ = try folder.openFile(Self.name, O_RDWR | O_APPEND) } catch {
            guard error.code == .unsupported || [ELOOP, EXDEV, EACCES, EPERM].contains(error.status) else {
                throw error
            }
            try setAside()
        }
    }

    /// Returns the complete lines from an offset on, each with the offset of its end. A missing file has no lines.
    ///
    /// - Throws: `DeviceError` if the file cannot be read.
    func lines(from start: Int64 = 0) throws(DeviceError) -> [(text: String, end: Int64)] {
        let bytes: [UInt8]
        do throws(DeviceError) {
            let file = try folder.openFile(Self.name, O_RDONLY)
            let size = try file.size()
            guard size > start else { return [] }
            guard size - start <= Self.maxBytes else {
                throw DeviceError(
                    .unsupported, "read", on: path, "is longer than any history can be",
                    remedy: "move it to another folder, and keep it")
            }
            bytes = try file.bytes(at: start, count: Int(size - start))
        } catch {
            if error.status == ENOENT { return [] }
            throw error
        }
        var lines: [(text: String, end: Int64)] = []
        var lineStart = 0
        while let newline = bytes[lineStart...].firstIndex(of: UInt8(ascii: "\n")) {
            if newline > lineStart {
                let text = String(decoding: bytes[lineStart..<newline], as: UTF8.self)
                lines.append((text, start + Int64(newline) + 1))
            }
            lineStart = newline + 1
        }
        return lines
    }

    /// Enough for hundreds of thousands of entries.
    private static let maxBytes: Int64 = 1 << 28

    /// Renames the file, or anything else that has its name. Returns the new path.
    @discardableResult
    func setAside() throws(DeviceError) -> String { try folder.setAside(Self.name, as: "damaged") }

    func write(_ lines: [String]) throws(DeviceError) {
        try folder.replace(Self.name, with: Array(lines.map { $0 + "\n" }.joined().utf8))
    }
}
