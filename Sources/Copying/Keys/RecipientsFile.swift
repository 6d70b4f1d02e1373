import Core
import Glibc
import System

/// A file of public keys, one per line; `#` starts a comment line.
package enum RecipientsFile {
    /// The maximum size in bytes.
    package static let largest = 1 << 18

    /// Reads the public keys in a file. Refuses links, FIFOs and everything else that could block.
    ///
    /// - Throws: `DeviceError` that names the file, and the line if possible, but never quotes it.
    package static func recipients(in path: String) throws(DeviceError) -> [Recipient] {
        let bytes: [UInt8]
        do throws(DeviceError) {
            let (folder, name) = try Folder.holding(path, crosses: true)
            bytes = try folder.content(ofFile: name, limit: largest)
        } catch {
            var error = error
            if error.status == ENOENT { error.remedy = "correct export.recipients, or put the file there" }
            throw error
        }
        return try recipients(bytes, path)
    }

    /// Parses the content of such a file.
    ///
    /// - Parameter path: the file that errors name.
    package static func recipients(_ bytes: [UInt8], _ path: String) throws(DeviceError) -> [Recipient] {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw wrong(path, "is not text", "save it as plain text in UTF-8")
        }
        var found: [Recipient] = []
        for (index, raw) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = raw.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
            if PrivateKey.isIn(String(line)) { throw wrong("\(path):\(index + 1)", PrivateKey.refusal, nil) }
            guard !line.isEmpty, line.first != "#" else { continue }
            guard let recipient = Recipient(String(line)) else {
                throw wrong(
                    "\(path):\(index + 1)", "is not a public key",
                    "write one per line: age1..., ssh-ed25519 ... or ssh-rsa ...")
            }
            if !found.contains(recipient) { found.append(recipient) }
        }
        guard !found.isEmpty else {
            throw wrong(path, "holds no public key", "write one per line: age1..., as age-keygen -y key.txt prints it")
        }
        return found
    }

    private static func wrong(_ place: String, _ reason: String, _ remedy: String?) -> DeviceError {
        DeviceError(.unsupported, "read", on: place, reason, remedy: remedy)
    }
}
