import Core
import Glibc
import System

/// A file of public keys, one per line; `#` starts a comment line.
package enum RecipientsFile {
    package static let maximumBytes = 1 << 18

    /// Reads the public keys in a file. Rejects links, FIFOs and everything else that could block.
    ///
    /// - Throws: `DeviceError` with the file's name, and the line number if possible. The error never quotes the file.
    package static func recipients(in path: String) throws(DeviceError) -> [Recipient] {
        let bytes: [UInt8]
        do throws(DeviceError) {
            let (folder, name) = try Folder.parent(of: path, crossesMounts: true)
            bytes = try folder.content(ofFile: name, limit: maximumBytes)
        } catch {
            var error = error
            if error.status == ENOENT { error.remedy = "correct export.recipients, or put the file there" }
            throw error
        }
        return try recipients(bytes, path)
    }

    /// Parses the content of such a file.
    ///
    /// - Parameter path: the file's path, for error messages.
    package static func recipients(_ bytes: [UInt8], _ path: String) throws(DeviceError) -> [Recipient] {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw invalid(path, "is not text", "save it as plain text in UTF-8")
        }
        var found: [Recipient] = []
        for (index, rawLine) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = rawLine.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
            if PrivateKey.isIn(String(line)) { throw invalid("\(path):\(index + 1)", PrivateKey.refusal, nil) }
            guard !line.isEmpty, line.first != "#" else { continue }
            guard let recipient = Recipient(String(line)) else {
                throw invalid(
                    "\(path):\(index + 1)", "is not a public key",
                    "write one per line: age1..., ssh-ed25519 ... or ssh-rsa ...")
            }
            if !found.contains(recipient) { found.append(recipient) }
        }
        guard !found.isEmpty else {
            throw invalid(
                path, "contains no public key", "write one per line, as printed by age-keygen -y key.txt: age1...")
        }
        return found
    }

    private static func invalid(_ subject: String, _ reason: String, _ remedy: String?) -> DeviceError {
        DeviceError(.unsupported, "read", on: subject, reason, remedy: remedy)
    }
}
