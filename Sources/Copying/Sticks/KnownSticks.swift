import Core
import Glibc
import System

/// The sticks that recordings may be copied to if `export.sticks` is `known`. Stored in a readable file beside the archive, one line
/// each. A malformed line makes every stick unknown.
package struct KnownSticks: Hashable, Sendable {
    /// How a stick became known.
    package enum Way: String, Sendable, CaseIterable { case command, button }

    /// A known stick.
    package struct Entry: Hashable, Sendable {
        package let stick: StickIdentity
        package let way: Way
    }

    static let fileName = "known-sticks.txt"

    private static let most = 1_000
    private static let largest = 1 << 19
    private static let heading =
        "# Sticks that recordings may be copied to. fieldscribe stick allow and forget change this.\n"

    /// The known sticks, in order of addition.
    package private(set) var entries: [Entry] = []

    /// Reads the file in a storage directory; without it, no stick is known.
    ///
    /// - Throws: `DeviceError` that names the file, and the line if possible.
    package init(in storage: String) throws(DeviceError) {
        let bytes = try unlessMissing([]) { () throws(DeviceError) in
            try Folder(opening: storage, crosses: true).content(ofFile: Self.fileName, limit: Self.largest)
        }
        try self.init(bytes, path: "\(storage)/\(Self.fileName)")
    }

    /// - Parameter path: the file that errors name.
    init(_ bytes: [UInt8], path: String) throws(DeviceError) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            if line.isEmpty && index == lines.count - 1 || line.first == UInt8(ascii: "#") { continue }
            let fields = String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
            // Without a final newline the file was truncated.
            guard index < lines.count - 1, fields.count == 3, entries.count < Self.most,
                let stick = StickIdentity(volume: String(fields[0]), device: String(fields[1])),
                let way = Way(rawValue: String(fields[2]))
            else {
                throw DeviceError(
                    .damaged, "read", on: "\(path):\(index + 1)",
                    "is not a valid line, so no stick is known",
                    remedy: "remove the line, then allow that stick again: fieldscribe stick allow")
            }
            entries.append(Entry(stick: stick, way: way))
        }
    }

    /// Returns whether a stick is known.
    package func contains(_ stick: StickIdentity) -> Bool { entries.contains { $0.stick == stick } }

    /// Adds a stick durably.
    ///
    /// - Returns: whether it was unknown before.
    /// - Throws: `DeviceError`, also if the file is damaged, which then stays unchanged.
    package static func allow(_ stick: StickIdentity, by way: Way, in storage: String) throws(DeviceError) -> Bool {
        try change(in: storage) { known throws(DeviceError) in
            if known.contains(stick) { return false }
            guard known.entries.count < most else {
                throw DeviceError(
                    .full, "stick", on: "\(storage)/\(fileName)", "\(most) sticks are known, the maximum",
                    remedy: "forget some: fieldscribe stick forget")
            }
            known.entries.append(Entry(stick: stick, way: way))
            return true
        }
    }

    /// Removes the sticks whose file system or device has an identifier.
    ///
    /// - Returns: the removed sticks.
    /// - Throws: `DeviceError`, also if the file is damaged, which then stays unchanged.
    package static func forget(_ identifier: String, in storage: String) throws(DeviceError) -> [StickIdentity] {
        try change(in: storage) { known throws(DeviceError) in
            let gone = known.entries.map(\.stick).filter { $0.volume == identifier || $0.device == identifier }
            known.entries.removeAll { gone.contains($0.stick) }
            return gone
        }
    }

    /// Changes the file under a lock.
    private static func change<Value>(
        in storage: String, _ body: (inout KnownSticks) throws(DeviceError) -> Value
    ) throws(DeviceError) -> Value {
        let folder = try Folder(opening: storage, crosses: true)
        let lock = try folder.openFile("\(fileName).lock", O_RDWR | O_CREAT)
        guard flock(lock.number, LOCK_EX) == 0 else { throw .system("flock", on: lock.path) }
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
