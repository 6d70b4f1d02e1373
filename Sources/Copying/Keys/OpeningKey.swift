import Core
import Glibc
import System

/// Private keys that open what is sealed, held in memory and nowhere else: `age` reads them there.
package final class OpeningKey: Sendable {
    /// Bytes of the longest that are taken.
    static let longest = 16_384

    private let file: MemoryFile

    /// The number of the file that `age` reads.
    var number: Int32 { file.number }

    /// - Parameters:
    ///   - text: what `age-keygen` makes, with any number of keys and comments, or a private key of SSH.
    ///   - name: what errors name: a file.
    /// - Throws: `DeviceError` with `unsupported` for anything else, which is never named in the error.
    package init(_ text: String, named name: String) throws(DeviceError) {
        try Self.check(text, name)
        file = try MemoryFile(Array(text.utf8), named: name, isSecret: true)
    }

    /// Reads a file of them.
    ///
    /// - Throws: `DeviceError`; of a link, a pipe, or what is larger than keys are, nothing is read.
    package convenience init(in folder: Folder, _ name: String) throws(DeviceError) {
        let file = try folder.openFile(name, O_RDONLY)
        try self.init(try Self.text(of: file), named: file.path)
    }

    /// The text of a file that may hold private keys, without the mark that Windows puts before it, and also where that has made two
    /// bytes of each letter, as `age-keygen > key.txt` does there.
    ///
    /// - Throws: `DeviceError` with `unsupported` where it is longer than keys are, which is then not read.
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

    /// What is to be done where a file is no private key.
    static let remedy = "give the file that age-keygen made"

    private static func check(_ text: String, _ name: String) throws(DeviceError) {
        func refusal(_ reason: String, _ remedy: String) -> DeviceError {
            DeviceError(.unsupported, "age", on: name, reason, remedy: remedy)
        }
        guard text.utf8.count <= longest else {
            throw refusal("is too long for a private key", remedy)
        }
        // Whoever is asked for its words by age would have to sit there.
        if isProtected(text) {
            throw refusal(
                "is protected by a passphrase, which is not asked for here",
                "open it on a laptop: age -d -o key.txt FILE; or, of SSH, ssh-keygen -p -f FILE on a copy")
        }
        let capitals = text.uppercased()
        // age would run a program by the name that stands there.
        guard !capitals.contains("AGE-PLUGIN-") else {
            throw refusal(
                "names a plugin of age, and none is run for it", "give a private key that age-keygen made")
        }
        let isKey = text.split(whereSeparator: \.isNewline).contains { $0.uppercased().hasPrefix("AGE-SECRET-KEY-1") }
        let isOfSSH = ["OPENSSH", "RSA"].contains { capitals.contains("-----BEGIN \($0) PRIVATE KEY") }
        guard isKey || isOfSSH else {
            let isPublic = text.split(whereSeparator: \.isWhitespace).contains { Recipient(String($0)) != nil }
            throw refusal(
                isPublic ? "holds a public key, which opens nothing" : "holds no private key",
                "give the file that age-keygen made, or a private key of SSH")
        }
    }

    private static func isProtected(_ text: String) -> Bool {
        if text.hasPrefix("age-encryption.org/") || text.contains("-----BEGIN AGE ENCRYPTED FILE") { return true }
        if text.contains("Proc-Type: 4,ENCRYPTED") || text.contains("-----BEGIN ENCRYPTED PRIVATE KEY") { return true }
        guard let start = text.firstRange(of: "-----BEGIN OPENSSH PRIVATE KEY-----") else { return false }
        // In base64, after the format's name: the cipher, which is "none" where there are no words.
        let digits = text[start.upperBound...].filter { !$0.isWhitespace }.prefix(30)
        return !digits.hasPrefix("b3BlbnNzaC1rZXktdjEAAAAABG5vbm")
    }
}
