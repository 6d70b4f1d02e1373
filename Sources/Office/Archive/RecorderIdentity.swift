import Core
import System

/// By what a copy tells which recorder it comes from. Two recorders of one name stay two as long as something else differs.
package struct RecorderIdentity: Hashable, Sendable {
    /// The name of the folder with its copies: what its host is called, and nothing that tells it from others.
    var name: String
    /// The public key that signs its copies; nil where it has none.
    var key: String?
    /// 32 hexadecimal digits that stand for its machine; nil where nothing tells them.
    var machine: String?
}

extension RecorderIdentity {
    /// The name of its folder in an archive, which none of these is: `pi-1a2b3c4d`, and where nothing but the name is known `pi`.
    func folder(besides taken: Set<String>) -> String {
        // Letters of the key or of the machine; on file systems that do not tell capitals from small letters, too.
        let mark = key.map { Digest.of($0).prefix(8) } ?? machine?.prefix(8)
        var plain = ""
        for character in name.lowercased() where plain.count < 32 {
            let isPlain = character.isASCII && (character.isLetter || character.isNumber || character == "-")
            plain.append(isPlain ? character : "-")
        }
        let base = (plain.isEmpty ? "recorder" : plain) + (mark.map { "-\($0)" } ?? "")
        return ([base] + (2...9_999).map { "\(base)-\($0)" }).first { !taken.contains($0) } ?? base
    }
}

/// A recorder that an archive knows.
package struct Recorder: Hashable, Sendable {
    /// The database in a recorder's own archive, by which that is told from an office's.
    static let databaseName = "archive.sqlite"

    /// Its number in the archive.
    var id: Int
    /// As it called itself when its first copy came.
    package var name: String
    /// The name of its folder in the archive, which no other has: `pi-1a2b3c4d`.
    package var folder: String
    /// The public key that signs its copies; nil where it has none yet.
    package var key: String?
    /// What stands for its machine; nil where nothing has told that.
    var machine: String?

    /// Whether a person means this one: by its folder's name, its name, its key or the beginning of any of the three.
    func isMeant(by text: String) -> Bool {
        if name == text || folder == text { return true }
        return text.count >= 4 && [folder, key ?? "", machine ?? ""].contains { $0.hasPrefix(text) }
    }
}

extension Array where Element == Recorder {
    /// The numbers of those that a person means.
    ///
    /// - Parameter archive: what the error names.
    /// - Throws: `DeviceError` with `missing` where none is meant.
    func meant(by text: String, in archive: String) throws(DeviceError) -> [Int] {
        let meant = filter { $0.isMeant(by: text) }.map(\.id)
        guard !meant.isEmpty else {
            let known = isEmpty ? "it knows none" : "it knows \(map(\.folder).joined(separator: ", "))"
            throw DeviceError(.missing, "--recorder", on: archive, "has no recorder \(text)", remedy: known)
        }
        return meant
    }

    /// The recorder that a copy comes from; nil where it comes from none of these.
    ///
    /// A key counts for more than a machine, since a card that was copied has its machine's number on both; and only where a copy tells
    /// neither does its name count, among recorders of which nothing else is known.
    func known(_ identity: RecorderIdentity) -> Recorder? {
        if let key = identity.key {
            if let known = first(where: { $0.key == key }) { return known }
            // It may have been known before it had a key.
            return identity.machine.flatMap { machine in first { $0.machine == machine && $0.key == nil } }
        }
        if let machine = identity.machine { return first { $0.machine == machine } }
        return first { $0.key == nil && $0.machine == nil && $0.name == identity.name }
    }
}
