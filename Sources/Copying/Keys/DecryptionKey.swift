import Core
import Glibc
import System

/// Private keys that decrypt recordings, in a file in memory that `age` reads.
package final class DecryptionKey: Sendable {
    static let maximumBytes = 16_384

    private let file: MemoryFile

    var fileDescriptor: Int32 { file.number }

    /// Creates a key from text.
    ///
    /// - Parameters:
    ///   - text: the output of `age-keygen`, with any number of keys and comments, or a private SSH key.
    ///   - name: the file's name, for error messages.
    /// - Throws: `DeviceError` with `unsupported` for any other text; the error never quotes the text.
    package init(_ text: String, named name: String) throws(DeviceError) {
        try Self.check(text, name)
        file = try MemoryFile(Array(text.utf8), named: name, isSecret: true)
    }

    /// Reads a key file.
    ///
    /// - Throws: `DeviceError` if the file is a link, a FIFO, or too large, or contains no usable key.
    package convenience init(in folder: Folder, _ name: String) throws(DeviceError) {
        let file = try folder.openFile(name, O_RDONLY)
        try self.init(try Self.text(of: file), named: file.path)
    }

    /// Returns the text of a file that may contain private keys. Decodes UTF-8, and UTF-16 with a byte order mark,
    /// because `age-keygen > key.txt` writes UTF-16 in PowerShell.
    ///
    /// - Throws: `DeviceError` with `unsupported` if the file is too large.
    package static func text(of file: borrowing FileDescriptor) throws(DeviceError) -> String {
        let size = try file.size()
        guard size <= maximumBytes else {
            throw DeviceError(
                .unsupported, "read", on: file.path, "is too large for a private key (\(size) bytes)", remedy: remedy)
        }
        return text(of: try file.content(limit: maximumBytes))
    }

    static func text(of bytes: [UInt8]) -> String {
        func utf16(low: Int, high: Int) -> String {
            let units = stride(from: 2, to: bytes.count - 1, by: 2).map { (offset: Int) -> UInt16 in
                UInt16(bytes[offset + low]) | UInt16(bytes[offset + high]) << 8
            }
            return String(decoding: units, as: UTF16.self)
        }
        if bytes.starts(with: [0xFF, 0xFE]) { return utf16(low: 0, high: 1) }
        if bytes.starts(with: [0xFE, 0xFF]) { return utf16(low: 1, high: 0) }
        return String(decoding: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...], as: UTF8.self)
    }

    static let remedy = "use the file that age-keygen wrote"

    private static func check(_ text: String, _ name: String) throws(DeviceError) {
        func refusal(_ reason: String, _ remedy: String) -> DeviceError {
            DeviceError(.unsupported, "age", cause: .age, on: name, reason, remedy: remedy)
        }
        guard text.utf8.count <= maximumBytes else {
            throw refusal("is too large for a private key", remedy)
        }
        // Nobody could answer age's prompt for the passphrase.
        if isProtected(text) {
            throw refusal(
                "is protected by a passphrase, which cannot be entered here",
                "remove it on a laptop: age -d -o key.txt FILE; for an SSH key, copy it and run ssh-keygen -p -f COPY")
        }
        let uppercase = text.uppercased()
        // age would run the plugin, a program with that name.
        guard !uppercase.contains("AGE-PLUGIN-") else {
            throw refusal(
                "refers to an age plugin; plugins are not run", "use a private key that age-keygen made")
        }
        let isKey = text.split(whereSeparator: \.isNewline).contains { $0.uppercased().hasPrefix("AGE-SECRET-KEY-1") }
        let isSSHKey = ["OPENSSH", "RSA"].contains { uppercase.contains("-----BEGIN \($0) PRIVATE KEY") }
        guard isKey || isSSHKey else {
            let isPublic = text.split(whereSeparator: \.isWhitespace).contains { Recipient(String($0)) != nil }
            throw refusal(
                isPublic ? "contains a public key, which cannot decrypt" : "contains no private key",
                "use the file that age-keygen wrote, or a private SSH key")
        }
    }

    private static func isProtected(_ text: String) -> Bool {
        if text.hasPrefix("age-encryption.org/") || text.contains("-----BEGIN AGE ENCRYPTED FILE") { return true }
        if text.contains("Proc-Type: 4,ENCRYPTED") || text.contains("-----BEGIN ENCRYPTED PRIVATE KEY") { return true }
        guard let start = text.firstRange(of: "-----BEGIN OPENSSH PRIVATE KEY-----") else { return false }
        // The base64 of the format's name and of the cipher "none", which means that there is no passphrase.
        let digits = text[start.upperBound...].filter { !$0.isWhitespace }.prefix(30)
        return !digits.hasPrefix("b3BlbnNzaC1rZXktdjEAAAAABG5vbm")
    }
}
