import FoundationEssentials
import Glibc

/// Checks signatures with libsodium, which minisign uses. Starting a process for each of thousands of signatures would
/// take too long. May be used from any thread.
struct Sodium: Sendable {
    private typealias Hash =
        @convention(c) (
            UnsafeMutablePointer<UInt8>?, Int, UnsafePointer<UInt8>?, UInt64, UnsafePointer<UInt8>?, Int
        ) -> Int32
    private typealias Verify =
        @convention(c) (UnsafePointer<UInt8>?, UnsafePointer<UInt8>?, UInt64, UnsafePointer<UInt8>?) -> Int32

    /// Debian's library, whose interface has been stable since 2017. Nil if it is not installed. Never closed.
    static let installed = Sodium("libsodium.so.23")

    private let hash: Hash
    private let verify: Verify

    init?(_ name: String) {
        guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL), let initialize = dlsym(library, "sodium_init"),
            let hash = dlsym(library, "crypto_generichash"),
            let verify = dlsym(library, "crypto_sign_verify_detached")
        else { return nil }
        // Safety: these are the types of the functions in sodium.h. They are the same in all versions with this file
        // name.
        guard unsafeBitCast(initialize, to: (@convention(c) () -> Int32).self)() >= 0 else { return nil }
        self.hash = unsafeBitCast(hash, to: Hash.self)
        self.verify = unsafeBitCast(verify, to: Verify.self)
    }

    /// Returns whether a signature is in minisign's default format and valid for the data and its comment. Valid
    /// signatures in other formats also give false.
    ///
    /// - Parameters:
    ///   - signature: the content of a `.minisig` file.
    ///   - key: a public key in base64.
    func verifies(_ bytes: [UInt8], signature: [UInt8], key: String) -> Bool {
        guard let text = String(validating: signature, as: UTF8.self) else { return false }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let (untrusted, trusted) = ("untrusted comment: ", "trusted comment: ")
        // Leaves signatures with other characters to minisign, which may reject them.
        guard lines.count == 5, lines[4].isEmpty, lines[0].hasPrefix(untrusted), lines[2].hasPrefix(trusted),
            text.utf8.allSatisfy({ $0 == 0x09 || $0 == 0x0A || 0x20...0x7E ~= $0 }),
            // The signature: "ED", the key's ID, 64 bytes. The key: "Ed", its ID, 32 bytes.
            let signatureField = Self.bytes(lines[1], count: 74),
            let commentSignature = Self.bytes(lines[3], count: 64),
            let keyField = Self.bytes(key[...], count: 42), signatureField.starts(with: "ED".utf8),
            keyField.starts(with: "Ed".utf8), signatureField[2..<10] == keyField[2..<10]
        else { return false }
        let (dataSignature, publicKey) = (Array(signatureField[10...]), Array(keyField[10...]))
        var digest = [UInt8](repeating: 0, count: 64)
        guard hash(&digest, digest.count, bytes, UInt64(bytes.count), nil, 0) == 0,
            verify(dataSignature, digest, UInt64(digest.count), publicKey) == 0
        else { return false }
        let signedComment = dataSignature + lines[2].utf8.dropFirst(trusted.utf8.count)
        return verify(commentSignature, signedComment, UInt64(signedComment.count), publicKey) == 0
    }

    /// Decodes canonical base64 of a given number of bytes; nil for anything else.
    private static func bytes(_ text: Substring, count: Int) -> [UInt8]? {
        guard let data = Data(base64Encoded: String(text)), data.count == count, data.base64EncodedString() == text
        else { return nil }
        return Array(data)
    }
}

extension Minisign {
    /// Checks a signature with libsodium, without starting a process.
    ///
    /// - Returns: false if the signature is not valid, or if only minisign can decide.
    package func verifies(_ bytes: [UInt8], signature: [UInt8], key: String) -> Bool {
        signature.count <= Self.maximumFileBytes
            && Sodium.installed?.verifies(bytes, signature: signature, key: key) == true
    }
}
