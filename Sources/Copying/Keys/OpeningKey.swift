import Core
import Glibc
import System

/// Private keys for encrypted recordings. They are kept only in memory, where `age` reads them.
package final class OpeningKey: Sendable {
    /// The maximum size of a key file in bytes.
    static let longest = 16_384

    private let file: MemoryFile

    /// The descriptor that `age` reads.
    var number: Int32 { file.number }

    /// - Parameters:
    ///   - text: the output of `age-keygen`, with any number of keys and comments, or a private SSH key.
    ///   - name: the file that errors name.
    /// - Throws: `DeviceError` with `unsupported` for anything else; the error never quotes it.
    package init(_ text: String, named name: String) throws(DeviceError) {
        try Self.check(text, name)
        file = try MemoryFile(Array(text.utf8), named: name, isSecret: true)
    }

    /// Reads a key file.
    ///
    /// - Throws: `DeviceError`, without reading, for a link, a FIFO, or a file that is too long.
    package convenience init(in folder: Folder, _ name: String) throws(DeviceError) {
        let file = try folder.openFile(name, O_RDONLY)
        try self.init(try Self.text(of: file), named: file.path)
    }

    /// Returns the text of a file that may hold private keys. Decodes UTF-8 and UTF-16 with a byte order mark: PowerShell's
    /// `age-keygen > key.txt` writes UTF-16.
    ///
    /// - Throws: `DeviceError` with `unsupported`, without reading, if it is too long.
    package static func text(of file: borrowing FileDescriptor) throws(DeviceError) -> String {
        let size = try file.size()
        guard size <= longest else {
            throw DeviceError(
                .unsupported, "read", on: file.path, "is too long for a private key (\(size) bytes)", remedy: remedy)
        }
        return text(of: try file.content(limit: longest))
    }

    static func text(of bytes: [UInt8]) -> String {
        func pairs(_ first: Int, _ second: Int) -> String {
            let units = stride(from: 2, to: bytes.count - 1, by: 2).map { (place: Int) -> UInt16 in
                UInt16(bytes[place + first]) | UInt16(bytes[place + second]) << 8
            }
            return String(decoding: units, as: UTF16.self)
        }
        if bytes.starts(with: [0xFF, 0xFE]) { return pairs(0, 1) }
        if bytes.starts(with: [0xFE, 0xFF]) { return pairs(1, 0) }
        return String(decoding: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...], as: UTF8.self)
    }

    static let remedy = "give the file that age-keygen made"

    private static func check(_ text: String, _ name: String) throws(DeviceError) {
        func refusal(_ reason: String, _ remedy: String) -> DeviceError {
            DeviceError(.unsupported, "age", cause: .age, on: name, reason, remedy: remedy)
        }
        guard text.utf8.count <= longest else {
            throw refusal("is too long for a private key", remedy)
        }
        // Nobody could answer age's prompt for the passphrase.
        if isProtected(text) {
            throw refusal(
                "is protected by a passphrase, which cannot be entered here",
                "remove it on a laptop: age -d -o key.txt FILE; for an SSH key: ssh-keygen -p -f FILE on a copy")
        }
        let capitals = text.uppercased()
        // age would run a program of that name.
        guard !capitals.contains("AGE-PLUGIN-") else {
            throw refusal(
                "names an age plugin, which is not run", "give a private key that age-keygen made")
        }
        let isKey = text.split(whereSeparator: \.isNewline).contains { $0.uppercased().hasPrefix("AGE-SECRET-KEY-1") }
        let isOfSSH = ["OPENSSH", "RSA"].contains { capitals.contains("-----BEGIN \($0) PRIVATE KEY") }
        guard isKey || isOfSSH else {
            let isPublic = text.split(whereSeparator: \.isWhitespace).contains { Recipient(String($0)) != nil }
            throw refusal(
                isPublic ? "holds a public key, which cannot decrypt" : "holds no private key",
                "give the file that age-keygen made, or a private SSH key")
        }
    }

    private static func isProtected(_ text: String) -> Bool {
        if text.hasPrefix("age-encryption.org/") || text.contains("-----BEGIN AGE ENCRYPTED FILE") { return true }
        if text.contains("Proc-Type: 4,ENCRYPTED") || text.contains("-----BEGIN ENCRYPTED PRIVATE KEY") { return true }
        guard let start = text.firstRange(of: "-----BEGIN OPENSSH PRIVATE KEY-----") else { return false }
        // Base64 of the format's name and the cipher "none", which means no passphrase.
        let digits = text[start.upperBound...].filter { !$0.isWhitespace }.prefix(30)
        return !digits.hasPrefix("b3BlbnNzaC1rZXktdjEAAAAABG5vbm")
    }
}
