internal import CNettle
import Core
import FoundationEssentials

/// Computes SHA-256 incrementally.
package struct Digest {
    private var state = sha256_ctx()

    /// Creates a digest of no bytes.
    package init() { fieldscribe_sha256_start(&state) }

    /// Appends bytes.
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        fieldscribe_sha256_add(&state, bytes.baseAddress, bytes.count)
    }

    /// Returns the digest in hexadecimal, in the same format as sha256sum, and resets the state.
    package mutating func finish() -> String {
        sum().map { $0.padded(to: 2, radix: 16) }.joined()
    }

    private mutating func sum() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        fieldscribe_sha256_finish(&state, &bytes)
        return bytes
    }

    /// Returns the digest of an open file's content, in hexadecimal.
    package static func of(_ file: borrowing FileDescriptor) throws(DeviceError) -> String {
        var digest = Digest()
        try file.forEachBlock { bytes throws(DeviceError) in digest.add(bytes) }
        return digest.finish()
    }

    /// Returns the digest of text in UTF-8, in hexadecimal.
    package static func of(_ text: String) -> String {
        of(Array(text.utf8))
    }

    /// Returns the digest of text in UTF-8, in base64 for content security policies.
    package static func base64(of text: String) -> String {
        var digest = Digest()
        Array(text.utf8).withUnsafeBytes { digest.add($0) }
        return Data(digest.sum()).base64EncodedString()
    }

    /// Returns the digest of bytes, in hexadecimal.
    package static func of(_ bytes: [UInt8]) -> String {
        var digest = Digest()
        bytes.withUnsafeBytes { digest.add($0) }
        return digest.finish()
    }
}
