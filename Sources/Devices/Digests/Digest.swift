internal import CNettle

/// SHA-256 of bytes that come one after the other.
package struct Digest {
    private var state = sha256_ctx()

    /// The digest of no bytes.
    package init() { fieldscribe_sha256_start(&state) }

    /// Takes the next bytes.
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        fieldscribe_sha256_add(&state, bytes.baseAddress, bytes.count)
    }

    /// In hexadecimal digits, as sha256sum prints it; the digest then starts anew.
    package mutating func finish() -> String {
        var bytes = [UInt8](repeating: 0, count: 32)
        fieldscribe_sha256_finish(&state, &bytes)
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The digest of a text's UTF-8.
    package static func of(_ text: String) -> String {
        var digest = Digest()
        var text = text
        text.withUTF8 { digest.add(UnsafeRawBufferPointer($0)) }
        return digest.finish()
    }

    /// The digest of some bytes, in hexadecimal digits.
    package static func of(_ bytes: [UInt8]) -> String {
        var digest = Digest()
        bytes.withUnsafeBytes { digest.add($0) }
        return digest.finish()
    }
}
