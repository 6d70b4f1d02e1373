import Core
import Glibc
import System

/// The sticks that recordings may be copied to where `export.sticks` is `known`: a file beside the archive, a line for each, which a
/// person may read. It is read strictly: where a line is not as it should be, no stick is known.
package struct KnownSticks: Hashable, Sendable {
    /// How a stick became known.
    package enum Way: String, Sendable, CaseIterable { case command, button }

    /// A stick, and how it became known.
    package struct Entry: Hashable, Sendable {
        /// The stick.
        package let stick: StickIdentity
        /// How it became known.
        package let way: Way
    }

    /// The file's name, beside the archive.
    static let fileName = "known-sticks.txt"

    private static let most = 1_000
    private static let largest = 1 << 19
    private static let heading =
        "# Sticks that recordings may be copied to. fieldscribe stick allow and forget change this.\n"

    /// In the order in which they became known.
    package private(set) var entries: [Entry] = []

    /// Reads those that are known to an archive; where there is no file, that is none.
    ///
    /// - Parameter storage: the archive's folder.
    /// - Throws: `DeviceError` that names the file, and the line where there is one.
    package init(in storage: String) throws(DeviceError) {
        let bytes: [UInt8]
        do throws(DeviceError) {
            bytes = try Folder(opening: storage, crosses: true).openFile(Self.fileName, O_RDONLY)
                .content(limit: Self.largest)
        } catch {
            guard error.status == ENOENT else { throw error }
            bytes = []
        }
        try self.init(bytes, path: "\(storage)/\(Self.fileName)")
    }

    /// - Parameter path: what errors name.
    init(_ bytes: [UInt8], path: String) throws(DeviceError) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            if line.isEmpty && index == lines.count - 1 || line.first == UInt8(ascii: "#") { continue }
            let fields = String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
            // A file whose last line has no end was cut off.
            guard index < lines.count - 1, fields.count == 3, entries.count < Self.most,
                let stick = StickIdentity(volume: String(fields[0]), device: String(fields[1])),
                let way = Way(rawValue: String(fields[2]))
            else {
                throw DeviceError(
                    .damaged, "read", on: "\(path):\(index + 1)", "is no line of a known stick, so that none is known",
                    remedy: "remove the line, then allow that stick again: fieldscribe stick allow")
            }
            entries.append(Entry(stick: stick, way: way))
        }
    }

    /// Whether a stick is among them.
    package func contains(_ stick: StickIdentity) -> Bool { entries.contains { $0.stick == stick } }

    /// Makes a stick known, so that a power cut leaves it known or not.
    ///
    /// - Returns: whether it was not known before.
    /// - Throws: `DeviceError`, also where the file is damaged: then it stays as it is.
    package static func allow(_ stick: StickIdentity, by way: Way, in storage: String) throws(DeviceError) -> Bool {
        try change(in: storage) { known throws(DeviceError) in
            if known.contains(stick) { return false }
            guard known.entries.count < most else {
                throw DeviceError(
                    .full, "stick", on: "\(storage)/\(fileName)", "\(most) sticks are known, which is the most",
                    remedy: "forget some: fieldscribe stick forget")
            }
            known.entries.append(Entry(stick: stick, way: way))
            return true
        }
    }

    /// Forgets the sticks whose file system or device has this identifier; returns them.
    ///
    /// - Throws: `DeviceError`, also where the file is damaged: then it stays as it is.
    package static func forget(_ identifier: String, in storage: String) throws(DeviceError) -> [StickIdentity] {
        try change(in: storage) { known throws(DeviceError) in
            let gone = known.entries.map(\.stick).filter { $0.volume == identifier || $0.device == identifier }
            known.entries.removeAll { gone.contains($0.stick) }
            return gone
        }
    }

    /// One change at a time.
    private static func change<Value>(
        in storage: String, _ body: (inout KnownSticks) throws(DeviceError) -> Value
    ) throws(DeviceError) -> Value {
        let folder = try Folder(opening: storage, crosses: true)
        let turn = try folder.openFile("\(fileName).lock", O_RDWR | O_CREAT)
        guard flock(turn.number, LOCK_EX) == 0 else { throw .system("flock", on: turn.path) }
        var known = try KnownSticks(in: storage)
        let before = known
        let value = try body(&known)
        if known != before { try folder.replace(fileName, with: Array(known.text.utf8)) }
        return value
    }

    private var text: String {
        Self.heading + entries.map { "\($0.stick.volume) \($0.stick.device) \($0.way.rawValue)\n" }.joined()
    }
}
