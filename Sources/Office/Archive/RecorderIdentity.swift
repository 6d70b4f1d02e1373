import Core
import System

/// Identifies the recorder of a copy by its key, its machine ID or its name, in this order.
package struct RecorderIdentity: Hashable, Sendable {
    /// The name of the folder with the recorder's copies, usually its host name. Not unique.
    var name: String
    /// The public key for the recorder's signatures; nil if unknown.
    var key: String?
    /// Hexadecimal digits that identify the machine; nil if unknown.
    var machine: String?

    static let unknownName = "recorder"
}

extension RecorderIdentity {
    /// Returns the last component of a path after resolving links and `..`; `unknownName` if there is none.
    static func name(ofFolder path: String) -> String {
        (try? realPath(path))?.split(separator: "/").last.map(String.init) ?? unknownName
    }

    /// Returns an unused name for the recorder's folder, such as `pi-1a2b3c4d`, or `pi` if only the name is known.
    func folder(excluding usedNames: Set<String>) -> String {
        // A key is case-sensitive, but a file system may ignore case, so uses digits of the key's digest.
        let digits = key.map { Digest.of($0).prefix(8) } ?? machine?.prefix(8)
        let safeName = String(name.lowercased().prefix(32).map { $0.isASCIIAlphanumeric ? $0 : "-" })
        let base = (safeName.isEmpty ? Self.unknownName : safeName) + (digits.map { "-\($0)" } ?? "")
        return ([base] + (2...9_999).map { "\(base)-\($0)" }).first { !usedNames.contains($0) } ?? base
    }
}

/// A recorder in an archive.
package struct Recorder: Hashable, Sendable {
    var id: Int
    /// The recorder's name in its first copy.
    package var name: String
    /// The unique name of the recorder's folder in the archive, such as `pi-1a2b3c4d`.
    package var folder: String
    /// The public key for the recorder's signatures; nil if unknown.
    package var key: String?
    /// Hexadecimal digits that identify the machine; nil if unknown.
    var machine: String?

    /// Returns whether a text is this recorder's name or folder, or consists of at least the first four characters of
    /// its folder, key or machine ID.
    func matches(_ text: String) -> Bool {
        if name == text || folder == text { return true }
        return text.count >= 4 && [folder, key ?? "", machine ?? ""].contains { $0.hasPrefix(text) }
    }
}

extension Array where Element == Recorder {
    /// Returns the IDs of the recorders that a text matches.
    ///
    /// - Parameter archive: the archive's name, for the error message.
    /// - Throws: `DeviceError` with `missing` if no recorder matches.
    func matching(_ text: String, in archive: String) throws(DeviceError) -> [Int] {
        let matches = filter { $0.matches(text) }.map(\.id)
        guard !matches.isEmpty else {
            let remedy = isEmpty ? "it has no recorders" : "it has \(map(\.folder).joined(separator: ", "))"
            throw DeviceError(
                .missing, "--recorder", cause: .unknownRecorder, on: archive, "has no recorder \(text)", remedy: remedy)
        }
        return matches
    }

    /// Returns the recorder with this identity.
    ///
    /// The key has precedence over the machine ID, because a copied SD card has the same machine ID. If the identity
    /// has neither, only a recorder with the same name and without a key or machine ID matches.
    func first(matching identity: RecorderIdentity) -> Recorder? {
        if let key = identity.key {
            if let recorder = first(where: { $0.key == key }) { return recorder }
            // The archive may have a copy made before the recorder had a key.
            return identity.machine.flatMap { machine in first { $0.machine == machine && $0.key == nil } }
        }
        if let machine = identity.machine { return first { $0.machine == machine } }
        return first { $0.key == nil && $0.machine == nil && $0.name == identity.name }
    }
}
