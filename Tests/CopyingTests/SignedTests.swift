import Glibc
import Testing
import TestKit

@testable import Copying
@testable import Core
@testable import System
@testable import Transcripts

/// Whether minisign is installed. If not, copies are not signed, and these tests are skipped.
let hasMinisign = shell("command -v minisign").status == 0

@Suite("Signed copies", .enabled(if: hasMinisign)) struct SignedTests {
    // Like the program, ignores this signal, because minisign may exit before it has read all its input.
    init() { signal(SIGPIPE, SIG_IGN) }

    private struct SignedCopies {
        var setup: Setup
        var key: RecorderKey
        var firstCopy: String { "\(setup.exportFolder)/\(Setup.name(1))" }

        /// Verifies the first copy, or another file or folder.
        func findings(key: String? = nil, _ path: String? = nil) throws -> [CopyVerification.Finding] {
            let findings = try CopyVerification(key: key).run(path ?? firstCopy)
            for finding in findings { #expect(!finding.line.contains("\n")) }
            return findings
        }

        /// Returns the findings that report faults in the first copy, such as `altered: audio.flac`.
        func faults(key: String? = nil) throws -> [String] {
            try findings(key: key).filter { [.altered, .missing, .unchecked].contains($0.outcome) }.map {
                "\($0.outcome.rawValue): \($0.file.split(separator: "/").last ?? "")"
            }
        }
    }

    /// Makes signed copies of recordings whose sound is signed.
    private func signedCopies(_ recordings: Int = 1) async throws -> SignedCopies {
        var setup = try await Setup(recordings: recordings)
        let storage = setup.folder.file("storage")
        try makeFolder(storage)
        let key = try RecorderKey(in: storage)
        setup.signer = key
        for id in 1...recordings {
            let digest = shell("sox '\(setup.audioPath(id))' -t raw - | sha256sum").output.prefix(64)
            var entry = HistoryEntry(
                number: id, recording: id, act: .signed, time: "2026-11-25T15:00:00Z", clock: .synchronized, boot: nil,
                sinceBoot: 1, before: HistoryEntry.initialDigest, own: nil)
            entry.length = 0.5
            entry.sound = String(digest)
            let statement = try #require(entry.statement)
            let text = try #require(key.sign(Array(statement.utf8), comment: HistoryEntry.signedComment))
            let lines = text.split(separator: "\n")
            entry.signature = "\(lines[1]) \(lines[3])"
            await setup.archive.addToHistory(HistoryLine(text: try json(entry), entry: entry))
        }
        #expect(try await setup.copy().error == nil && key.error == nil)
        return SignedCopies(setup: setup, key: key)
    }

    private func json(_ entry: HistoryEntry) throws -> String {
        let members = [
            "\"act\":\"\(entry.act.rawValue)\"", "\"before\":\"\(entry.before)\"", "\"clock\":\"synchronized\"",
            "\"length\":0.5", "\"number\":\(entry.number)", "\"recording\":\(entry.recording ?? 0)",
            "\"signature\":\"\(entry.signature ?? "")\"", "\"sinceBoot\":1", "\"sound\":\"\(entry.sound ?? "")\"",
            "\"time\":\"\(entry.time)\"",
        ]
        return "{\(members.joined(separator: ","))}"
    }

    @Test("fieldscribe, minisign and sha256sum verify every file of a copy")
    func unalteredCopy() async throws {
        let signed = try await signedCopies(2)
        let findings = try signed.findings(key: signed.key.publicKey)
        #expect(findings.allSatisfy { $0.outcome == .unaltered }, "\(findings.map(\.line))")
        // SHA256SUMS, the twelve files that it lists, and the sound's samples.
        #expect(findings.count == 14 && findings.last?.detail.contains("its sound matches the signature") == true)
        #expect(try signed.faults() == [])
        let both = try signed.findings(key: signed.key.publicKey, signed.setup.exportFolder)
        #expect(both.filter { $0.outcome == .unaltered }.count == 28)
        let summary = CopyVerification(key: nil).summary(both)
        #expect(
            summary.hasPrefix("26 files of 2 recordings unaltered, signed by \(signed.key.publicKey); compare this"),
            "\(summary)")
        let verified = shell(
            "cd '\(signed.firstCopy)' && minisign -V -p recorder.pub -m SHA256SUMS && sha256sum --strict -c SHA256SUMS")
        #expect(verified.status == 0 && verified.output.contains("fieldscribe copy of recording 1"))
        #expect(shell("stat -c %a '\(signed.setup.folder.file("storage"))'/signing.*").output == "600\n644\n")
    }

    @Test(
        "every alteration is detected and named",
        arguments: [
            ("printf x >> transcript.txt", ["altered: transcript.txt"]),
            ("rm transcript.srt", ["missing: transcript.srt"]),
            ("rm audio.flac", ["missing: audio.flac", "altered: audio.flac"]),
            ("truncate -s -9 audio.flac", ["altered: audio.flac", "altered: audio.flac"]),
            ("rm SHA256SUMS.minisig", ["missing: SHA256SUMS.minisig"]),
            ("rm SHA256SUMS", ["missing: SHA256SUMS"]),
            ("echo junk > SHA256SUMS", ["altered: SHA256SUMS"]),
            ("rm SHA256SUMS; mkfifo SHA256SUMS", ["altered: SHA256SUMS"]),
            ("rm SHA256SUMS.minisig; mkfifo SHA256SUMS.minisig", ["altered: SHA256SUMS.minisig"]),
            ("echo junk > SHA256SUMS.minisig", ["altered: SHA256SUMS.minisig"]),
            ("truncate -s 20M SHA256SUMS", ["altered: SHA256SUMS"]),
            ("mv transcript.txt ..; ln -s ../transcript.txt transcript.txt", ["altered: transcript.txt"]),
            ("rm transcript.txt; mkfifo transcript.txt", ["altered: transcript.txt"]),
            ("rm transcript.txt; mkdir transcript.txt", ["altered: transcript.txt"]),
            (
                "printf x >> transcript.txt; sha256sum $(ls | grep -v SHA256) > SHA256SUMS",
                ["altered: SHA256SUMS.minisig"]
            ),
            (
                "sed -i s/15:00:00/15:00:01/ history.json; sed -i \"s/.*history.json/$(sha256sum history.json)/\" SHA256SUMS",
                ["altered: SHA256SUMS.minisig"]
            ),
            ("echo mine > corrections.json", []),
        ])
    func alterations(command: String, expected: [String]) async throws {
        let signed = try await signedCopies()
        #expect(shell("cd '\(signed.firstCopy)' && { \(command); }").status == 0)
        #expect(try signed.faults(key: signed.key.publicKey) == expected)
    }

    @Test("another recorder's key and a copy signed by a forger are reported")
    func otherKey() async throws {
        let signed = try await signedCopies()
        let storage = signed.setup.folder.file("other")
        try makeFolder(storage)
        let otherKey = try RecorderKey(in: storage)
        #expect(otherKey.publicKey != signed.key.publicKey)
        let findings = try signed.findings(key: otherKey.publicKey)
        #expect(
            findings.contains {
                $0.outcome == .altered && $0.detail.contains("another recorder, whose key is \(signed.key.publicKey)")
            })
        // The forger can sign everything except the sound, which needs the recorder's key.
        shell(
            "cd '\(signed.firstCopy)' && cp '\(storage)/signing.pub' recorder.pub && sha256sum $(ls | grep -v SHA256) > SHA256SUMS && "
                + "minisign -S -s '\(storage)/signing.key' -m SHA256SUMS")
        #expect(try signed.faults() == ["altered: history.json"])
        #expect(try signed.faults(key: signed.key.publicKey).contains("altered: SHA256SUMS.minisig"))
    }

    @Test("a broken history is reported even if the copy is signed")
    func history() async throws {
        let signed = try await signedCopies()
        let line = try #require(await signed.setup.archive.history(of: 1).first)
        var next = line
        next.entry.number = 2
        for (own, isWhole) in [(Digest.of(line.text), true), (HistoryEntry.initialDigest, false)] {
            next.text = line.text.replacing("\"number\":1", with: "\"number\":2,\"own\":\"\(own)\"")
            let document = historyDocument([line, next])
            shell(
                "cd '\(signed.firstCopy)' && cat > history.json <<'END'\n\(document)END\n"
                    + "sha256sum $(ls | grep -v SHA256) > SHA256SUMS && "
                    + "minisign -S -s '\(signed.setup.folder.file("storage"))/signing.key' -m SHA256SUMS")
            #expect(try signed.faults() == (isWhole ? [] : ["altered: history.json"]))
        }
    }

    @Test("incomplete copies and empty or missing folders are reported")
    func incompleteCopies() async throws {
        let signed = try await signedCopies()
        shell("cd '\(signed.firstCopy)' && rm SHA256SUMS*")
        #expect(try signed.faults() == ["missing: SHA256SUMS"])
        #expect(try signed.findings(signed.setup.exportFolder).map(\.outcome) == [.missing])
        #expect(try signed.findings(signed.setup.folder.file("storage")).map(\.outcome) == [.missing])
        #expect(throws: DeviceError.self) { try signed.findings("/nowhere") }
        #expect(throws: DeviceError.self) { try signed.findings("\(signed.firstCopy)/transcript.txt") }
    }

    @Test("a whole stick can be verified from its root or from the folder Fieldscribe")
    func wholeStick() async throws {
        let signed = try await signedCopies()
        let expected = try signed.findings(signed.setup.exportFolder)
        #expect(expected.count > 5 && expected.allSatisfy { $0.outcome == .unaltered || $0.outcome == .note })
        for path in [signed.setup.stick, "\(signed.setup.stick)/", "\(signed.setup.stick)/Fieldscribe"] {
            #expect(try signed.findings(path).map(\.outcome) == expected.map(\.outcome), "\(path)")
        }
        shell("cd '\(signed.firstCopy)' && echo x >> transcript.txt")
        #expect(try signed.findings(signed.setup.stick).contains { $0.outcome == .altered })
        // A link in place of a recorder's folder is not followed.
        shell(
            "cd '\(signed.setup.stick)/Fieldscribe' && mv '\(signed.setup.exportFolder)' '\(signed.setup.folder.path)/away'"
        )
        shell("cd '\(signed.setup.stick)/Fieldscribe' && ln -s '\(signed.setup.folder.path)/away' linked")
        #expect(try signed.findings(signed.setup.stick).map(\.outcome) == [.missing])
    }

    @Test(
        "renamed and moved copies are found by their content",
        arguments: [
            "Interview with Anna", "../../Interviews/2026/Anna", "photos/000007", "000002_junk",
            "-x",
        ])
    func renamedCopies(name: String) async throws {
        let signed = try await signedCopies(2)
        let before = try signed.findings(signed.setup.stick).map(\.outcome)
        #expect(
            shell(
                "cd '\(signed.setup.exportFolder)' && mkdir -p -- '\(folder(of: name))' && mv -- '\(Setup.name(1))' '\(name)'"
            ).status == 0)
        let moved = try signed.findings(signed.setup.stick)
        #expect(moved.filter { $0.outcome == .unaltered }.count == before.count, "\(moved.map(\.line))")
        #expect(!moved.contains { [.altered, .missing].contains($0.outcome) }, "\(moved.map(\.line))")
        // An altered copy is found beside an intact one.
        for command in ["echo x >>transcript.txt", "rm SHA256SUMS", "rm SHA256SUMS.minisig history.json"] {
            #expect(shell("cd -- '\(signed.setup.exportFolder)/\(name)' && \(command)").status == 0)
            let findings = try signed.findings(signed.setup.stick)
            #expect(
                findings.contains { [.altered, .missing].contains($0.outcome) }, "\(command): \(findings.map(\.line))")
        }
    }

    @Test("other files are not treated as copies; unreadable names are reported")
    func otherFiles() async throws {
        let signed = try await signedCopies()
        let before = try signed.findings(signed.setup.stick)
        shell(
            "cd '\(signed.setup.stick)' && mkdir -p .Trash-1000/000001_clock-unverified lost+found photos/2026 partial && "
                + "cp '\(signed.firstCopy)'/* .Trash-1000/000001_clock-unverified && echo >>.Trash-1000/000001_clock-unverified/audio.flac && "
                + "echo 1 >photos/2026/audio.flac && cp '\(signed.firstCopy)/recorder.pub' . && ln -s '\(signed.firstCopy)' linked"
        )
        let after = try signed.findings(signed.setup.stick)
        #expect(after.filter { $0.outcome != .note } == before.filter { $0.outcome != .note }, "\(after.map(\.line))")
        #expect(after.last?.detail.contains("an incomplete copy") == true)
        shell("cd '\(signed.setup.stick)' && mkdir \"$(printf 'caf\\351')\"")
        #expect(try signed.findings(signed.setup.stick).contains { $0.outcome == .unchecked })
    }

    @Test("encrypted copies are compared only with their checksums, and a finding says so")
    func encryptedFolder() async throws {
        let signed = try await signedCopies()
        let sealed = "\(signed.setup.stick)/Fieldscribe/sealed"
        shell("mkdir '\(sealed)' && cd '\(sealed)' && echo a > 000001.fieldscribe.age && sha256sum *.age > SHA256SUMS")
        #expect(try signed.findings(sealed).map(\.outcome) == [.unchecked, .unaltered])
        shell("cd '\(sealed)' && echo b > 000001.fieldscribe.age")
        #expect(try signed.findings(sealed).map(\.outcome) == [.unchecked, .altered])
    }

    @Test("a copy is signed again when its text is replaced; if that is interrupted, the copy is unsigned")
    func newerText() async throws {
        let signed = try await signedCopies()
        await signed.setup.put(1, text: "other words")
        #expect(try await signed.setup.copy().copied.count == 1)
        #expect(try signed.faults(key: signed.key.publicKey) == [])
        #expect(signed.setup.copies.count == 1, "\(signed.setup.copies)")
        await signed.setup.put(1, text: "more other words")
        let failingExport = signed.setup.export { operation, path throws(DeviceError) in
            if operation == "rename", path.hasSuffix("/SHA256SUMS") || path.hasSuffix("/SHA256SUMS.new") {
                throw DeviceError(.failed, "rename", status: EIO, "the stick was pulled out")
            }
        }
        #expect(try await failingExport.copy(nil, to: signed.setup.stick).error != nil)
        #expect(try signed.faults().contains("missing: SHA256SUMS.minisig"))
    }

    @Test("an encrypted copy contains its signature and can be verified once opened")
    func encryptedCopy() async throws {
        let keys = try KeyPair()
        var signed = try await signedCopies()
        signed.setup.recipients = .success([keys.recipient])
        #expect(try await signed.setup.copy().error == nil)
        let opened = signed.setup.folder.file("opened")
        #expect(keys.open("\(signed.setup.sealedFolder)/\(Setup.sealedName(1))", into: opened) == "")
        let findings = try CopyVerification(key: signed.key.publicKey).run("\(opened)/\(Setup.name(1))")
        #expect(findings.count == 14 && findings.allSatisfy { $0.outcome == .unaltered }, "\(findings.map(\.line))")
    }

    @Test("the key is created once; anything else in its place is refused")
    func recorderKey() throws {
        let folder = TemporaryFolder()
        let first = try RecorderKey(in: folder.path)
        #expect(try RecorderKey(in: folder.path).publicKey == first.publicKey)
        #expect(RecorderKey.publicKey(in: folder.path) == first.publicKey)
        unlink(folder.file("signing.pub"))
        #expect(try RecorderKey(in: folder.path).publicKey == first.publicKey)
        #expect(RecorderKey.publicKey(in: folder.path) == first.publicKey)
        for command in [
            "mkfifo signing.key", "ln -s other signing.key", "mkdir signing.key",
            "echo junk > signing.key; rm signing.pub",
        ] {
            shell("cd '\(folder.path)' && rm -rf signing.key && \(command)")
            #expect(throws: DeviceError.self) { try RecorderKey(in: folder.path) }
        }
    }

    @Test("after one failure, minisign is not run again, and the reason is kept")
    func failingMinisign() throws {
        let folder = TemporaryFolder()
        let key = try RecorderKey(in: folder.path)
        #expect(key.sign([1], comment: "x") != nil)
        shell("cd '\(folder.path)' && mv signing.key kept && echo junk > signing.key")
        #expect(key.sign([1], comment: "x") == nil)
        let error = try #require(key.error)
        shell("cd '\(folder.path)' && mv kept signing.key")
        #expect(key.sign([1], comment: "x") == nil && key.error == error)
        #expect(try RecorderKey(in: folder.path).sign([1], comment: "x") != nil)
    }
}
