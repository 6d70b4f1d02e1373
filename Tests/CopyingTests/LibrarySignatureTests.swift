import Glibc
import Testing
import TestKit

@testable import Copying
@testable import System

@Suite("Signatures verified without a process", .enabled(if: hasMinisign && Sodium.installed != nil))
struct LibrarySignatureTests {
    init() { signal(SIGPIPE, SIG_IGN) }

    /// Signs a file with minisign. Returns the file's bytes, the signature and the public key.
    private func signFile(_ options: String = "") throws -> (
        minisign: Minisign, bytes: [UInt8], signature: [UInt8], key: String
    ) {
        let folder = TemporaryFolder()
        let result = shell(
            "cd '\(folder.path)' && printf 'some\nlines\n' > m && minisign -G -W -f -s s -p p -c x >/dev/null "
                + "&& minisign -S \(options) -s s -m m >/dev/null && tail -n 1 p")
        #expect(result.status == 0)
        return (
            try Minisign(), Array("some\nlines\n".utf8), try content(ofFile: folder.file("m.minisig"), limit: 4_096),
            result.output.split(separator: "\n").map(String.init).last ?? ""
        )
    }

    @Test("a signature from minisign is valid with any comment", arguments: ["", "-t 'a comment: with marks'"])
    func validSignature(_ options: String) throws {
        let (minisign, bytes, signature, key) = try signFile(options)
        #expect(minisign.verifies(bytes, signature: signature, key: key))
        #expect(try minisign.comment(of: bytes, signature: signature, key: key) != nil)
    }

    @Test("a change of any byte in the signed file, the signature or the key makes the signature invalid")
    func changedBytes() throws {
        let (minisign, bytes, signature, key) = try signFile()
        // The signature does not cover the first line.
        let start = try #require(signature.firstIndex(of: 0x0A)) + 1
        for index in start..<signature.count {
            for bit: UInt8 in [1, 4, 32] {
                var changed = signature
                changed[index] ^= bit
                #expect(!minisign.verifies(bytes, signature: changed, key: key), "byte \(index), bit \(bit)")
            }
        }
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(!minisign.verifies(changed, signature: signature, key: key))
        }
        for index in key.utf8.indices {
            var changed = Array(key.utf8)
            changed[key.utf8.distance(from: key.utf8.startIndex, to: index)] ^= 1
            #expect(!minisign.verifies(bytes, signature: signature, key: String(decoding: changed, as: UTF8.self)))
        }
        for count in signature.indices {
            #expect(!minisign.verifies(bytes, signature: Array(signature[..<count]), key: key))
        }
        let second = try signFile()
        #expect(!minisign.verifies(bytes, signature: signature, key: second.key))
        #expect(!minisign.verifies(bytes, signature: second.signature, key: key))
    }

    @Test("signatures in the old format are invalid, as they are for minisign when it reads from a pipe")
    func oldFormat() throws {
        let (minisign, bytes, signature, key) = try signFile("-l")
        #expect(!minisign.verifies(bytes, signature: signature, key: key))
        #expect(try minisign.comment(of: bytes, signature: signature, key: key) == nil)
    }
}
