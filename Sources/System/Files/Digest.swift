internal import CNettle
import FoundationEssentials

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
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: sum().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The 32 bytes; the digest then starts anew.
    private mutating func sum() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        fieldscribe_sha256_finish(&state, &bytes)
        return bytes
    }

    /// The digest of a text's UTF-8.
    package static func of(_ text: String) -> String {
        var digest = Digest(of: text)
        return digest.finish()
    }

    /// The digest of a text's UTF-8 in base64, as the policies of pages name it.
    package static func base64(of text: String) -> String {
        var digest = Digest(of: text)
        return Data(digest.sum()).base64EncodedString()
    }

    private init(of text: String) {
        self.init()
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    /// The digest of some bytes, in hexadecimal digits.
    package static func of(_ bytes: [UInt8]) -> String {
        var digest = Digest()
        bytes.withUnsafeBytes { digest.add($0) }
        return digest.finish()
    }
}
