import Glibc
import Testing
import TestKit

@testable import Copying
@testable import Core
@testable import System

/// Public keys, recipients files, tar archives, and encryption with age.
@Suite("Keys, names and tar archives of encrypted copies") struct SealingTests {
    private let secret = "AGE-SECRET-KEY-1FPZUAA303EPDUW6H5GGKJSLT86WEN5L8HP6H4HJ64WRL3EE063MSULL5QQ"
    private let key = "age1gsys585vm88twneeqx8q3qzt670h5sesuytqjgg638l0mcnwevqqj8cygd"

    init() { signal(SIGPIPE, SIG_IGN) }

    @Test(
        "anything without a public key's format is refused",
        arguments: [
            "", "age1", "age", "AGE1GSYS585VM88TWNEEQX8Q3", "age1 with blanks in it, and long", "ssh-ed25519",
            "ssh-dss AAAA", "-r", "--output=/etc/passwd", "age1gsys585vm88twneeqx8q3/../etc", "ssh-rsa AA;reboot",
        ])
    func invalidRecipient(text: String) { #expect(Recipient(text) == nil) }

    @Test("a file of public keys may have comments, blank lines, CRLF and repeated keys")
    func recipientsFile() throws {
        let folder = TemporaryFolder()
        let path = folder.file("recipients.txt")
        try durableReplace(path: path, with: "\u{FEFF}# ours\r\n\r\n  \(key)\r\n\(key)\nssh-ed25519 AAAAC3 awa@home\n")
        #expect(try RecipientsFile.recipients(in: path).map(\.text) == [key, "ssh-ed25519 AAAAC3"])
    }

    @Test(
        "any other file is refused in one line that names it, without blocking",
        arguments: [
            ("true", "no such file"), ("touch F", "no public key"), ("echo '# nothing' > F", "no public key"),
            ("mkfifo F", "not a regular file"), ("mkdir F", "not a regular file"), ("echo KEY > G; ln -s G F", "link"),
            ("printf '\\377\\376' > F", "not text"), ("echo age1 > F", "F:1: is not a public key"),
            ("ln -s /dev/zero F", "link"), ("printf 'KEY\\nSECRET\\n' > F", "F:2: is a private key"),
            ("printf '# SECRET\\nKEY\\n' > F", "F:1: is a private key"),
            ("printf -- '-----BEGIN OPENSSH PRIVATE KEY-----\\n' > F", "F:1: is a private key"),
            ("head -c 1M /dev/zero > F", "longer than"),
        ])
    func invalidRecipientsFile(command: String, reason: String) throws {
        let folder = TemporaryFolder()
        // SECRET comes last, because its value contains KEY.
        let script = command.replacing("KEY", with: key).replacing("SECRET", with: secret)
        shell("cd '\(folder.path)' && \(script)")
        let error = thrown { _ = try RecipientsFile.recipients(in: folder.file("F")) }
        let message = try #require(error?.message)
        #expect(message.contains(reason) && message.contains("/F"), "\(message)")
        #expect(!message.contains("\n") && !message.contains("FPZUAA303"))
    }

    @Test("a private key in upper or lower case is hidden")
    func hiddenPrivateKey() {
        for text in [secret, secret.lowercased(), "x \(secret)", "AGE-PLUGIN-YUBIKEY-1QQ"] {
            #expect(PrivateKey.hidden(in: text) == "(a private key)")
        }
        #expect(PrivateKey.hidden(in: key) == key && Recipient(secret) == nil && Recipient(secret.lowercased()) == nil)
    }

    @Test("the ledger's manifest of an encrypted copy is parsed; anything else is refused")
    func manifest() {
        let digests = (0..<5).map { String(repeating: "\($0)", count: 64) }
        let manifest = SealedManifest(
            file: digests[0], bytes: 1 << 40, head: digests[1], plain: digests[2], content: digests[3],
            recipients: digests[4])
        #expect(SealedManifest(manifest.text) == manifest)
        let invalid = [
            "", "sealed", digests[0], manifest.text + " ", manifest.text + " 1", String(manifest.text.dropLast()),
            manifest.text.replacing("sealed", with: "open"), manifest.text.replacing("1099511627776", with: "-1"),
            manifest.text.replacing("4", with: "x"),
        ]
        for text in invalid { #expect(SealedManifest(text) == nil, "\(text)") }
    }

    @Test("names of encrypted copies contain only the number; other names are refused")
    func sealedNames() {
        #expect(
            SealedName(7).text == "000007.fieldscribe.age"
                && SealedName(1_234_567).next.text == "1234567_2.fieldscribe.age")
        for name in ["000007.fieldscribe.age", "000007_2.fieldscribe.age", "1234567.fieldscribe.age"] {
            #expect(SealedName(name)?.text == name)
        }
        let foreign = [
            "7.fieldscribe.age", "000007_1.fieldscribe.age", "000007_02.fieldscribe.age", "000007.age",
            "000000.fieldscribe.age",
            "00000a.fieldscribe.age", "000007_2_3.fieldscribe.age", "-00007.fieldscribe.age", "+00007.fieldscribe.age",
            ".fieldscribe.age",
        ]
        for name in foreign { #expect(SealedName(name) == nil, "\(name)") }
    }

    @Test("tar reads files of any length without a warning")
    func tar() throws {
        let folder = TemporaryFolder()
        let path = folder.file("big.tar")
        let lengths: [Int64] = [0, 1, 511, 512, 513, 8_589_934_591, 8_589_934_592, 9_999_999_999, 123_456_789_012]
        for bytes in lengths {
            let file = try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_TRUNC)
            var head = Tar.folder("000001_clock-unverified", time: 1_795_163_500)
            head += Tar.file("000001_clock-unverified/audio.wav", bytes: bytes, time: 1_795_163_500)
            try head.withUnsafeBytes { try file.write($0, at: 0) }
            let rest = Int64(head.count) + bytes + Int64(Tar.padding(after: bytes).count)
            #expect(rest == Int64(Tar.folder("", time: 0).count) + Tar.size(bytes))
            try Tar.end.withUnsafeBytes { try file.write($0, at: rest) }
            let listed = shell("tar tvf '\(path)'")
            #expect(listed.status == 0 && listed.output.contains(" \(bytes) 2026-"), "\(listed.output)")
            #expect(listed.output.split(separator: "\n").count == 2)
        }
    }

    @Test("encoding twice yields the same file, and a difference is detected")
    func encodingTwice() throws {
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        func encode(_ audio: EncodedAudio, _ changedIndex: Int? = nil) throws {
            var bytes = bytes
            if let changedIndex { bytes[changedIndex] ^= 1 }
            for start in stride(from: 0, to: bytes.count, by: 7_000) {
                try Array(bytes[start..<min(start + 7_000, bytes.count)]).withUnsafeBytes {
                    try audio.write($0, at: Int64(start))
                }
            }
            // Rewrites the header last, as encoders do.
            try [UInt8](repeating: 9, count: 40).withUnsafeBytes { try audio.write($0, at: 10) }
        }
        let measured = EncodedAudio()
        try encode(measured)
        let measurement = try measured.finish().measurement
        var output: [UInt8] = []
        let audio = EncodedAudio(expected: measurement) { output += $0 }
        try encode(audio)
        _ = try audio.finish()
        var expected = bytes
        expected.replaceSubrange(10..<50, with: repeatElement(9, count: 40))
        #expect(output == expected)
        for change in [0, 65_535, 65_536, 199_999] {
            let changedAudio = EncodedAudio(expected: measurement) { _ in }
            try encode(changedAudio, change)
            #expect(thrown { _ = try changedAudio.finish() } != nil)
        }
    }

    @Test("age decrypts what it encrypted, from 0 bytes to much more than a pipe can hold")
    func ageRoundTrip() throws {
        let keys = try KeyPair()
        let age = try Age()
        for count in [0, 1, 65_536, 3_000_001] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 17) }
            var sealed: [UInt8] = []
            let encryptor = try age.encryptor(for: [keys.recipient]) { sealed += $0 }
            try encryptor.write(bytes)
            try encryptor.finish()
            var opened: [UInt8] = []
            let (folder, name) = try Folder.parent(of: keys.key, crossesMounts: true)
            let key = try DecryptionKey(in: folder, name)
            let decryptor = try age.decryptor(with: key) { opened += $0 }
            try decryptor.write(sealed)
            try decryptor.finish()
            #expect(opened == bytes)
            sealed[sealed.count - 1] ^= 1
            let error = thrown {
                let decryptor = try age.decryptor(with: key) { _ in }
                try decryptor.write(sealed)
                try decryptor.finish()
            }
            #expect(error?.code == .failed && error?.operation == "age")
        }
    }
}
