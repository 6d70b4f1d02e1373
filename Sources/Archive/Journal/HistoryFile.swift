import Core
import Glibc
import System

/// The history of who did what: `history.jsonl` beside the database, one entry per line. Only the archive's actor
/// writes it, and only appends.
struct HistoryFile: Sendable {
    static let name = "history.jsonl"

    /// The folder of the database, held open: it may be renamed.
    let folder: Folder

    var path: String { "\(folder.path)/\(Self.name)" }

    var isThere: Bool { get throws(DeviceError) { try folder.exists(Self.name) } }

    /// Appends a line with its newline durably. Anything else of its name is set aside, so that recording can continue.
    ///
    /// - Parameter end: where the last committed entry ends, in bytes; later bytes are truncated.
    /// - Returns: where the new line ends.
    func append(_ line: [UInt8], behind end: Int64) throws(DeviceError) -> Int64 {
        try makeWay()
        return try folder.append(line, to: Self.name, committed: end)
    }

    private func makeWay() throws(DeviceError) {
        guard try isThere else { return }
        do throws(DeviceError) { _ = try folder.openFile(Self.name, O_RDWR | O_APPEND) } catch {
            guard error.code == .unsupported || [ELOOP, EXDEV, EACCES, EPERM].contains(error.status) else {
                throw error
            }
            try setAside()
        }
    }

    /// The complete lines from an offset, each with its end.
    ///
    /// - Throws: `DeviceError` if the file cannot be read. A missing file has no lines.
    func lines(from start: Int64 = 0) throws(DeviceError) -> [(text: String, end: Int64)] {
        let bytes: [UInt8]
        do throws(DeviceError) {
            let file = try folder.openFile(Self.name, O_RDONLY)
            let size = try file.size()
            guard size > start else { return [] }
            guard size - start <= Self.longest else {
                throw DeviceError(
                    .unsupported, "read", on: path, "is longer than any history",
                    remedy: "move it elsewhere, and keep it")
            }
            bytes = try file.bytes(at: start, count: Int(size - start))
        } catch {
            if error.status == ENOENT { return [] }
            throw error
        }
        var lines: [(text: String, end: Int64)] = []
        var first = 0
        while let end = bytes[first...].firstIndex(of: UInt8(ascii: "\n")) {
            if end > first {
                lines.append((String(decoding: bytes[first..<end], as: UTF8.self), start + Int64(end) + 1))
            }
            first = end + 1
        }
        return lines
    }

    /// Enough for hundreds of thousands of recordings.
    private static let longest: Int64 = 1 << 28

    /// Renames whatever has the file's name, and returns the new path.
    @discardableResult
    func setAside() throws(DeviceError) -> String { try folder.setAside(Self.name, as: "damaged") }

    /// Replaces the file's contents.
    func write(_ lines: [String]) throws(DeviceError) {
        try folder.replace(Self.name, with: Array(lines.map { $0 + "\n" }.joined().utf8))
    }
}
