import Core
import Glibc
import System

/// The sticks that recordings may be copied to if `export.sticks` is `known`. Stored in a readable file beside the
/// archive, one stick per line. If a line is malformed, no stick is allowed.
package struct AllowedSticks: Hashable, Sendable {
    /// How a stick was allowed.
    package enum Method: String, Sendable, CaseIterable { case command, button }

    /// An allowed stick.
    package struct Entry: Hashable, Sendable {
        package let stick: StickIdentity
        package let method: Method
    }

    static let fileName = "known-sticks.txt"

    private static let maximumEntries = 1_000
    private static let maximumBytes = 1 << 19
    private static let heading =
        "# Sticks that recordings may be copied to. fieldscribe stick allow and forget change this.\n"

    /// The allowed sticks, in order of addition.
    package private(set) var entries: [Entry] = []

    /// Reads the file in a storage directory. If there is no file, no stick is allowed.
    ///
    /// - Throws: `DeviceError` with the file's name, and the line number if possible.
    package init(in storage: String) throws(DeviceError) {
        let bytes = try unlessMissing([]) { () throws(DeviceError) in
            try Folder(opening: storage, crossesMounts: true).content(ofFile: Self.fileName, limit: Self.maximumBytes)
        }
        try self.init(bytes, path: "\(storage)/\(Self.fileName)")
    }

    init(_ bytes: [UInt8], path: String) throws(DeviceError) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            if line.isEmpty && index == lines.count - 1 || line.first == UInt8(ascii: "#") { continue }
            let fields = String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
            // If the last line does not end with a newline, the file was truncated.
            guard index < lines.count - 1, fields.count == 3, entries.count < Self.maximumEntries,
                let stick = StickIdentity(volume: String(fields[0]), device: String(fields[1])),
                let method = Method(rawValue: String(fields[2]))
            else {
                throw DeviceError(
                    .damaged, "read", on: "\(path):\(index + 1)",
                    "this line is not valid, so no stick is allowed",
                    remedy: "remove the line, then allow that stick again: fieldscribe stick allow")
            }
            entries.append(Entry(stick: stick, method: method))
        }
    }

    /// Returns whether a stick is allowed.
    package func contains(_ stick: StickIdentity) -> Bool { entries.contains { $0.stick == stick } }

    /// Adds a stick durably.
    ///
    /// - Returns: whether the stick was not yet allowed.
    /// - Throws: `DeviceError`. A damaged file stays unchanged.
    package static func allow(
        _ stick: StickIdentity, by method: Method, in storage: String
    ) throws(DeviceError) -> Bool {
        try change(in: storage) { allowed throws(DeviceError) in
            if allowed.contains(stick) { return false }
            guard allowed.entries.count < maximumEntries else {
                throw DeviceError(
                    .full, "stick", on: "\(storage)/\(fileName)", "already lists \(maximumEntries) sticks, the maximum",
                    remedy: "forget some: fieldscribe stick forget")
            }
            allowed.entries.append(Entry(stick: stick, method: method))
            return true
        }
    }

    /// Removes the sticks whose file system or device has the given identifier.
    ///
    /// - Returns: the removed sticks.
    /// - Throws: `DeviceError`. A damaged file stays unchanged.
    package static func forget(_ identifier: String, in storage: String) throws(DeviceError) -> [StickIdentity] {
        try change(in: storage) { allowed throws(DeviceError) in
            let removed = allowed.entries.map(\.stick).filter { $0.volume == identifier || $0.device == identifier }
            allowed.entries.removeAll { removed.contains($0.stick) }
            return removed
        }
    }

    /// Changes the file under a lock.
    private static func change<Value>(
        in storage: String, _ body: (inout AllowedSticks) throws(DeviceError) -> Value
    ) throws(DeviceError) -> Value {
        let folder = try Folder(opening: storage, crossesMounts: true)
        let lock = try folder.openFile("\(fileName).lock", O_RDWR | O_CREAT)
        guard flock(lock.number, LOCK_EX) == 0 else { throw .system("flock", on: lock.path) }
        var allowed = try AllowedSticks(in: storage)
        let before = allowed
        let value = try body(&allowed)
        if allowed != before { try folder.replace(fileName, with: Array(allowed.text.utf8)) }
        return value
    }

    private var text: String {
        Self.heading + entries.map { "\($0.stick.volume) \($0.stick.device) \($0.method.rawValue)\n" }.joined()
    }
}
