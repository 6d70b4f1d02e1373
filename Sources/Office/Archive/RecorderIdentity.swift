import Core
import System

/// What identifies the recorder of a copy. Recorders with the same name differ in the other properties.
package struct RecorderIdentity: Hashable, Sendable {
    /// The name of the folder with its copies, which is the recorder's host name; not unique.
    var name: String
    /// The public key that signs its copies; nil if unknown.
    var key: String?
    /// Hexadecimal digits that identify the machine; nil if unknown.
    var machine: String?

    /// The name of a recorder without one.
    static let unknownName = "recorder"
}

extension RecorderIdentity {
    /// Returns the last name of a path without links and `..`; `unknownName` for `/`.
    static func name(ofFolder path: String) -> String {
        (try? realPath(path))?.split(separator: "/").last.map(String.init) ?? unknownName
    }

    /// Returns a name for its folder that is not in `taken`: `pi-1a2b3c4d`, or `pi` if only the name is known.
    func folder(excluding taken: Set<String>) -> String {
        // The digits also distinguish recorders on file systems that ignore case.
        let mark = key.map { Digest.of($0).prefix(8) } ?? machine?.prefix(8)
        let plain = String(name.lowercased().prefix(32).map { $0.isASCIIAlphanumeric ? $0 : "-" })
        let base = (plain.isEmpty ? Self.unknownName : plain) + (mark.map { "-\($0)" } ?? "")
        return ([base] + (2...9_999).map { "\(base)-\($0)" }).first { !taken.contains($0) } ?? base
    }
}

/// A recorder in an archive.
package struct Recorder: Hashable, Sendable {
    var id: Int
    /// The name on its first copy.
    package var name: String
    /// The name of its folder in the archive, unique: `pi-1a2b3c4d`.
    package var folder: String
    /// The public key that signs its copies; nil if unknown.
    package var key: String?
    /// Digits that identify its machine; nil if unknown.
    var machine: String?

    /// Whether a text is this recorder's name or folder, or at least four characters that begin its folder, key or
    /// machine.
    func matches(_ text: String) -> Bool {
        if name == text || folder == text { return true }
        return text.count >= 4 && [folder, key ?? "", machine ?? ""].contains { $0.hasPrefix(text) }
    }
}

extension Array where Element == Recorder {
    /// Returns the ids of the recorders that a text matches.
    ///
    /// - Parameter archive: the archive's name for the error.
    /// - Throws: `DeviceError` with `missing` if no recorder matches.
    func matching(_ text: String, in archive: String) throws(DeviceError) -> [Int] {
        let meant = filter { $0.matches(text) }.map(\.id)
        guard !meant.isEmpty else {
            let known = isEmpty ? "it has no recorders" : "it has \(map(\.folder).joined(separator: ", "))"
            throw DeviceError(
                .missing, "--recorder", cause: .unknownRecorder, on: archive, "has no recorder \(text)", remedy: known)
        }
        return meant
    }

    /// Returns the recorder with this identity.
    ///
    /// The key has precedence over the machine: a copied SD card keeps the machine's number. Without key and machine, the
    /// name must match a recorder without either.
    func known(_ identity: RecorderIdentity) -> Recorder? {
        if let key = identity.key {
            if let known = first(where: { $0.key == key }) { return known }
            // The archive may have a copy made before the recorder had a key.
            return identity.machine.flatMap { machine in first { $0.machine == machine && $0.key == nil } }
        }
        if let machine = identity.machine { return first { $0.machine == machine } }
        return first { $0.key == nil && $0.machine == nil && $0.name == identity.name }
    }
}
