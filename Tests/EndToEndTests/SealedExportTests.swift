import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Core

/// Encrypted copies made by the executable.
@Suite("Encrypted export", .serialized) struct SealedExportTests {
    private let folder = TemporaryFolder()
    private let storage: String
    private let stick: String

    init() throws {
        storage = folder.file("storage")
        stick = folder.file("stick")
        try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
        let outcome = try Fieldscribe.run(
            "record", "--microphone", "file+fast:\(Speech.all[0])", "--directory", storage, in: folder)
        #expect(outcome.status == 0, "\(outcome.errors)")
        for name in ["key", "other"] {
            try Fieldscribe.tool("age-keygen", "-o", folder.file("\(name).txt"), in: folder)
            try Fieldscribe.tool(
                "bash", "-c", "age-keygen -y '\(folder.file("\(name).txt"))' > '\(folder.file("\(name).pub"))'",
                in: folder)
        }
        try configure(folder.file("key.pub"))
    }

    private func configure(_ recipients: String) throws {
        try Data("[export]\nrecipients = \(recipients)\n".utf8).write(to: URL(filePath: folder.file("a.conf")))
    }

    private func run(_ arguments: String..., path: String? = nil) throws -> Fieldscribe.Outcome {
        let arguments = arguments + ["--config", folder.file("a.conf")]
        guard let path, let program = Fieldscribe.path else { return try Fieldscribe(arguments, in: folder).wait() }
        return try Fieldscribe(program: "/usr/bin/env", ["PATH=\(path)", program] + arguments, in: folder).wait()
    }

    private func copy(path: String? = nil) throws -> Fieldscribe.Outcome {
        try run("export", "--to", stick, "--directory", storage, path: path)
    }

    private var files: [String] { get throws { try FileManager.default.subpathsOfDirectory(atPath: stick) } }

    @Test("the private key opens a copy on any machine with age and tar, as recipients check reports")
    func opens() throws {
        let checked = try run("recipients", "check", "--key", folder.file("key.txt"))
        #expect(
            checked.status == 0 && checked.output.contains("key.txt: opens copies that are encrypted for age1"),
            "\(checked.errors)")
        let outcome = try copy()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let sealedCopy = try #require(outcome.copy)
        #expect(sealedCopy.hasSuffix("/000001.fieldscribe.age"))
        try Fieldscribe.tool(
            "bash", "-c",
            "cd '\(folder.path)' && set -o pipefail && age -d -i key.txt '\(sealedCopy)' | tar x && cd 000001_* "
                + "&& sha256sum --quiet -c SHA256SUMS && test -s index.html", in: folder)
        let secondCopy = try copy()
        #expect(
            secondCopy.status == 0 && secondCopy.output.isEmpty
                && secondCopy.errors.last?.contains("nothing was copied") == true)
        let checkedCopy = try run("recipients", "check", "--key", folder.file("key.txt"), sealedCopy)
        #expect(checkedCopy.status == 0 && checkedCopy.output.contains("opens completely"))
        // Recordings on the recorder may be encrypted for other keys than copies.
        let settings = try Data(contentsOf: URL(filePath: folder.file("a.conf")))
        for (key, status) in [("key.pub", 0), ("other.pub", 1)] as [(String, Int32)] {
            try (settings + Data("\n[storage]\nseal = \(folder.file(key))\n".utf8)).write(
                to: URL(filePath: folder.file("a.conf")))
            let check = try run("recipients", "check", "--key", folder.file("key.txt"))
            #expect(
                check.status == status
                    && check.output.contains("recordings on the recorder are encrypted for 1 public key"))
            #expect(check.output.contains("opens recordings on the recorder") == (status == 0), "\(check.output)")
            #expect(
                check.errors.filter { $0.contains("public keys in storage.seal") }.count == Int(status),
                "\(check.errors)"
            )
        }
        try settings.write(to: URL(filePath: folder.file("a.conf")))
        let wrongKey = try run("recipients", "check", "--key", folder.file("other.txt"))
        #expect(wrongKey.status == 1 && wrongKey.errors.count == 1 && wrongKey.errors[0].contains("opens nothing"))
        try Fieldscribe.tool(
            "bash", "-c", "printf xyzxyzxyz | dd of='\(sealedCopy)' bs=1 seek=20000 conv=notrunc", in: folder)
        let damagedCopy = try run("recipients", "check", "--key", folder.file("key.txt"), sealedCopy)
        #expect(
            damagedCopy.status == 4 && damagedCopy.errors.count == 1
                && damagedCopy.errors[0].contains("\(sealedCopy): age rejects it"))
    }

    @Test(
        "the next copy removes a redacted passage from a stick, even if the recording was sealed in the meantime")
    func redactedThenSealed() throws {
        func configure(_ text: String) throws {
            try Data("[recognizer]\nsecond-pass = no\n\(text)".utf8).write(to: URL(filePath: folder.file("a.conf")))
        }
        try configure("")
        #expect(try copy().status == 0)
        #expect(try files.contains { $0.hasSuffix("/audio.flac") })
        let redacted = try run("redact", "1", "0", "2", "--yes", "--directory", storage)
        #expect(
            redacted.status == 0 && redacted.errors.contains { $0.contains("the next copy to that volume replaces it") }
        )
        try configure("[storage]\nseal = \(folder.file("key.pub"))\n")
        #expect(try run("seal", "--directory", storage).output == "sealed: 1\n")
        let outcome = try copy()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let remaining = try files.filter { $0.contains("000001") }
        #expect(remaining.count == 1 && remaining[0].hasSuffix("/000001.fieldscribe.age"), "\(remaining)")
        #expect(try copy().errors.last?.contains("nothing was copied") == true)
    }

    @Test("if age is missing or another program has its name, nothing is copied")
    func noAge() throws {
        let missing = try copy(path: folder.file("nowhere"))
        #expect(missing.status == 3 && missing.errors.count == 1, "\(missing.errors)")
        #expect(missing.errors.first?.contains("apt install age") == true)
        let bin = folder.file("bin")
        for script in [
            "exec cat", "exec true", "head -c 1000; exit 1", "exec /usr/bin/age \"$@\" | head -c 3000",
            "case $1 in -r) echo nothing; exec cat ;; esac", "/usr/bin/age \"$@\"; exit 7", "kill -9 $$",
        ] {
            _ = try folder.program("bin/age", script)
            let outcome = try copy(path: "\(bin):/usr/bin:/bin")
            #expect(outcome.status != 0, "\(script): \(outcome.output)")
            #expect(try files.allSatisfy { !$0.contains("0000") && !$0.contains("partial") }, "\(script)")
        }
        #expect(try files.contains("Fieldscribe/RESULT.txt"))
        #expect(try copy().status == 0)
    }

    @Test("if age rejects the keys only together, nothing is copied, and its reason is reported once")
    func incompatibleKeys() throws {
        try Fieldscribe.tool("bash", "-c", "cd '\(folder.path)' && cat key.pub other.pub > both.pub", in: folder)
        try configure(folder.file("both.pub"))
        _ = try folder.program(
            "bin/age",
            """
            if [ $# -gt 2 ]; then echo 'age: error: incompatible recipients' >&2; exit 1; fi
            exec /usr/bin/age "$@"
            """)
        let outcome = try copy(path: "\(folder.file("bin")):/usr/bin:/bin")
        #expect(outcome.status == 1 && outcome.errors.count == 1, "\(outcome)")
        #expect(
            outcome.errors.first?.contains("2 recipients: age accepts each of them, but not all together: incompatible")
                == true, "\(outcome.errors)")
        #expect(try files.allSatisfy { !$0.contains("0000") })
        #expect(try copy().status == 0)
    }

    @Test("a private key in place of a public one is refused with its line number but never shown; nothing is copied")
    func privateKey() throws {
        let text = try String(decoding: Data(contentsOf: URL(filePath: folder.file("key.txt"))), as: UTF8.self)
        let secret = try #require(text.split(separator: "\n").last.map(String.init))
        try Fieldscribe.tool(
            "bash", "-c", "cd '\(folder.path)' && mkfifo pipe && ln -s key.pub link && touch empty", in: folder)
        for (recipients, status, message) in [
            (secret, 2, "a.conf:2: export.recipients"), (folder.file("key.txt"), 1, "key.txt:3: is a private key"),
            (folder.file("pipe"), 1, "pipe: is not a regular file"), (folder.file("link"), 1, "link"),
            (folder.path, 1, "is not a regular file"), (folder.file("none"), 3, "none: no such file"),
            (folder.file("empty"), 1, "empty: contains no public key"),
            ("age1qqqqqqqqqqqqqqqqqqqqqqqqqqq", 1, "recipient 1 of 1"),
        ] as [(String, Int32, String)] {
            try configure(recipients)
            for outcome in [try copy(), try run("recipients", "check")] {
                #expect(outcome.status == status && outcome.errors.count == 1, "\(message): \(outcome)")
                #expect(outcome.errors.first?.contains(message) == true, "\(outcome.errors)")
                #expect(!"\(outcome)".contains(secret))
            }
            #expect(try files.allSatisfy { !$0.contains("0000") })
            if try files.contains("Fieldscribe/RESULT.txt") {
                let path = "\(stick)/Fieldscribe/RESULT.txt"
                let result = try String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self)
                #expect(!result.contains(secret) && result.contains("NOTHING WAS COPIED"))
            }
        }
    }
}
