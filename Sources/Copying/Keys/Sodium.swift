import FoundationEssentials
import Glibc

/// Checks signatures with libsodium, which minisign uses, if it is installed: a process for each of thousands of signatures would take
/// too long. May be used from any thread.
struct Sodium: Sendable {
    private typealias Hash =
        @convention(c) (
            UnsafeMutablePointer<UInt8>?, Int, UnsafePointer<UInt8>?, UInt64, UnsafePointer<UInt8>?, Int
        ) -> Int32
    private typealias Verify =
        @convention(c) (UnsafePointer<UInt8>?, UnsafePointer<UInt8>?, UInt64, UnsafePointer<UInt8>?) -> Int32

    /// Debian's library, whose interface has been stable since 2017; nil if it is not installed. Never closed.
    static let installed = Sodium("libsodium.so.23")

    private let hash: Hash
    private let verify: Verify

    /// - Parameter name: of the library.
    init?(_ name: String) {
        guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL), let start = dlsym(library, "sodium_init"),
            let hash = dlsym(library, "crypto_generichash"),
            let verify = dlsym(library, "crypto_sign_verify_detached")
        else { return nil }
        // Safety: these are the functions' types in sodium.h, which are the same in all versions of this name.
        guard unsafeBitCast(start, to: (@convention(c) () -> Int32).self)() >= 0 else { return nil }
        self.hash = unsafeBitCast(hash, to: Hash.self)
        self.verify = unsafeBitCast(verify, to: Verify.self)
    }

    /// Returns whether a signature has minisign's default format and is valid, like that of its comment. False means
    /// only that it is not of this format: minisign has others.
    ///
    /// - Parameters:
    ///   - signature: the content of a `.minisig`.
    ///   - key: a public key in base64.
    func fits(_ bytes: [UInt8], signature: [UInt8], key: String) -> Bool {
        guard let text = String(validating: signature, as: UTF8.self) else { return false }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let (untrusted, trusted) = ("untrusted comment: ", "trusted comment: ")
        // minisign may refuse other characters.
        guard lines.count == 5, lines[4].isEmpty, lines[0].hasPrefix(untrusted), lines[2].hasPrefix(trusted),
            text.utf8.allSatisfy({ $0 == 0x09 || $0 == 0x0A || 0x20...0x7E ~= $0 }),
            // "ED" and the key's number before 64 bytes; "Ed" and the number before 32 bytes of the key.
            let own = Self.bytes(lines[1], count: 74), let whole = Self.bytes(lines[3], count: 64),
            let key = Self.bytes(key[...], count: 42), own.starts(with: "ED".utf8), key.starts(with: "Ed".utf8),
            own[2..<10] == key[2..<10]
        else { return false }
        let (made, open) = (Array(own[10...]), Array(key[10...]))
        var digest = [UInt8](repeating: 0, count: 64)
        guard hash(&digest, digest.count, bytes, UInt64(bytes.count), nil, 0) == 0,
            verify(made, digest, UInt64(digest.count), open) == 0
        else { return false }
        let all = made + lines[2].utf8.dropFirst(trusted.utf8.count)
        return verify(whole, all, UInt64(all.count), open) == 0
    }

    /// Decodes canonical base64 of a given length; nil for anything else.
    private static func bytes(_ text: Substring, count: Int) -> [UInt8]? {
        guard let data = Data(base64Encoded: String(text)), data.count == count, data.base64EncodedString() == text
        else { return nil }
        return Array(data)
    }
}

extension Minisign {
    /// Checks a signature with libsodium, without a process.
    ///
    /// - Returns: false if it is not valid, and if only minisign can decide.
    package func fits(_ bytes: [UInt8], signature: [UInt8], key: String) -> Bool {
        signature.count <= Self.longest && Sodium.installed?.fits(bytes, signature: signature, key: key) == true
    }
}
