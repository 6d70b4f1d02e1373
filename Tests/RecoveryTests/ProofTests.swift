import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Audio
@testable import Core
@testable import Maintenance
@testable import System

private let hasMinisign = access("/usr/bin/minisign", X_OK) == 0

/// Signed recordings are compared with their signatures, and are never extended or signed again.
@Suite("Signed sound", .enabled(if: hasMinisign)) struct ProofTests {
    private let storage = Storage()
    private var sumsPath: String { storage.folder.file("recordings/000001/audio.sums") }

    /// Makes a recording of three seconds. If `isClosed` is false, it was cut short and recovered.
    private func record(isClosed: Bool = true, isSigned: Bool = true) async throws {
        func write() async throws {
            let archive = try storage.archive()
            try await storage.record([.samples(numbered(48_000))], isClosed: isClosed, in: archive)
        }
        try await write()
        if !isClosed { try await storage.recover(.start) }
        if isSigned { try await sign() }
    }

    private func sign() async throws {
        _ = try await SigningJob(storage: storage.folder.path, archive: storage.archive()).run()
    }

    private func verify(isQuick: Bool = false) async throws -> [StorageFinding] {
        try await Verification(storage: storage.folder.path, archive: storage.archive()).run([], isQuick: isQuick)
    }

    private func signatureCount() async throws -> Int {
        try await storage.archive().history(of: 1).count { $0.entry.act == .signed }
    }

    private func surplusFiles() throws -> [String] {
        try names(inFolder: storage.folder.file("recordings/000001")).filter { $0.contains("surplus") }
    }

    @Test("verify reports what it compared the audio with: a signature, or if there is none, the checksums")
    func evidence() async throws {
        try await record()
        let archive = try storage.archive()
        try await storage.record([.samples(numbered(16_000))], in: archive)
        try await storage.record([.samples(numbered(16_000))], in: archive)
        unlink(storage.folder.file("recordings/000003/audio.sums"))
        let findings = try await Verification(storage: storage.folder.path, archive: archive).run([])
        #expect(findings.map(\.outcome) == [.note, .note, .note])
        #expect(findings.map(\.recording) == [1, 2, 3])
        for (finding, evidence) in zip(
            findings, ["the recorder's signature (SHA-256)", "checksums made for each second", "no checksum"])
        {
            #expect(finding.message.contains(evidence), "\(finding)")
        }
        #expect(try await Verification(storage: storage.folder.path, archive: archive).run([], isQuick: true) == [])
    }

    @Test(
        "the signature reveals changed audio, whether its checksums exist, are missing or were replaced",
        arguments: [0, 1, 2])
    func altered(kind: Int) async throws {
        try await record()
        if kind == 1 { unlink(sumsPath) }
        try change(storage.audio(1)) { $0[512 + 2 * 20_000] ^= 1 }
        if kind == 2 {
            unlink(sumsPath)
            _ = try RecordingSums.complete(path: storage.audio(1))
        }
        let findings = try await verify()
        #expect(findings.allSatisfy { $0.outcome == .damaged && $0.recording == 1 })
        #expect(findings.count == (kind == 0 ? 2 : 1))
        #expect(findings.last?.message.contains("differs from the signed sound") == true, "\(findings)")
        // No repair accepts the changed audio, and it is not signed again.
        let recovered = try await storage.recover()
        #expect(recovered.map(\.outcome) == (kind == 1 ? [.damaged] : []), "\(recovered)")
        #expect(pathExists(sumsPath) == (kind != 1))
        try await sign()
        #expect(try await signatureCount() == 1)
        #expect(try await verify().contains { $0.message.contains("differs from the signed sound") })
    }

    @Test("if the audio matches its signature, wrong checksums are reported as damaged")
    func otherSums() async throws {
        try await record()
        try change(storage.audio(1)) { $0[512 + 2 * 20_000] ^= 1 }
        unlink(sumsPath)
        _ = try RecordingSums.complete(path: storage.audio(1))
        try change(storage.audio(1)) { $0[512 + 2 * 20_000] ^= 1 }
        let findings = try await verify()
        #expect(findings.map(\.file) == [sumsPath] && findings[0].outcome == .damaged, "\(findings)")
    }

    @Test("a missing public key is reported; a signature with an earlier key is not checked")
    func otherSignature() async throws {
        try await record()
        unlink(storage.folder.file("signing.key"))
        unlink(storage.folder.file("signing.pub"))
        #expect(try await verify().map(\.message).contains { $0.contains("the public key, signing.pub, is missing") })
        try await sign()
        _ = try await storage.record([.samples(numbered(900))], in: storage.archive())
        try await sign()
        let findings = try await verify()
        #expect(
            findings.map(\.outcome) == [.note, .note]
                && findings.contains { $0.message.contains("with an earlier key") },
            "\(findings)")
    }

    enum Appended: CaseIterable { case bytes, odd, header, zeros, silentHeader, stereoSize }

    private func append(_ kind: Appended) throws {
        try change(storage.audio(1)) { bytes in
            switch kind {
            case .bytes, .header, .stereoSize: bytes += [UInt8](repeating: 7, count: 32_000)
            case .odd: bytes += [UInt8](repeating: 7, count: 4_097)
            case .zeros, .silentHeader: bytes += [UInt8](repeating: 0, count: 3_000)
            }
            guard [.header, .silentHeader].contains(kind) else { return }
            let data = UInt32(bytes.count - 512)
            withUnsafeBytes(of: (data + 504).littleEndian) { bytes.replaceSubrange(4..<8, with: $0) }
            withUnsafeBytes(of: data.littleEndian) { bytes.replaceSubrange(508..<512, with: $0) }
        }
    }

    @Test(
        "audio appended by another program is moved to another file and reported, and nothing is signed again",
        arguments: Appended.allCases,
        [true, false])
    func appended(kind: Appended, isClosed: Bool) async throws {
        try await record(isClosed: isClosed)
        let before = try bytes(storage.audio(1))
        try append(kind)
        let addedBytes = Array(try bytes(storage.audio(1)).dropFirst(before.count))
        #expect(try await verify().contains { $0.outcome == .damaged && $0.file == storage.audio(1) })
        let findings = try await storage.recover(.start)
        #expect(findings.map(\.outcome) == [.repaired], "\(findings)")
        let surplus = "\(storage.audio(1)).surplus-1"
        #expect(findings.first?.message.contains("set aside as \(surplus)") == true, "\(findings)")
        #expect(try bytes(storage.audio(1)) == before)
        #expect(try bytes(surplus) == addedBytes)
        #expect(try await storage.recover() == [])
        try await sign()
        #expect(try await signatureCount() == 1)
        #expect(try await storage.archive().recording(1)?.length.samples == 48_000)
        #expect(try await verify().allSatisfy { $0.outcome == .note })
    }

    @Test("audio appended to an unsigned recording is moved to another file, too", arguments: [true, false])
    func unsigned(isClosed: Bool) async throws {
        try await record(isClosed: isClosed, isSigned: false)
        let before = try bytes(storage.audio(1))
        try append(.bytes)
        // The recording is not signed before the next start has removed the appended audio.
        try await sign()
        #expect(try await signatureCount() == 0)
        #expect(try await storage.recover(.start).map(\.outcome) == [.repaired])
        #expect(try bytes(storage.audio(1)) == before)
        if isClosed {
            try append(.silentHeader)
            #expect(try await storage.recover(.start).map(\.outcome) == [.repaired])
            #expect(try bytes(storage.audio(1)) == before)
            #expect(try surplusFiles() == ["audio.wav.surplus-1", "audio.wav.surplus-2"])
        }
        try await sign()
        #expect(try await signatureCount() == 1)
    }

    @Test(
        "moving appended audio continues after a kill at any step, and keeps one intact copy of that audio",
        arguments: 0...3)
    func killed(step: Int) async throws {
        try await record()
        let before = try bytes(storage.audio(1))
        try append(.header)
        let extended = try bytes(storage.audio(1))
        let addedBytes = Data(extended.dropFirst(before.count))
        let (audio, surplus) = (storage.audio(1), "\(storage.audio(1)).surplus-1")
        // Step 0: part of the copy exists. Step 1: the copy is complete. Step 2: the header is restored, too.
        if step == 0 { try addedBytes.prefix(9).write(to: URL(filePath: "\(audio).surplus.new")) }
        if step >= 1 { try addedBytes.write(to: URL(filePath: surplus)) }
        if step == 2 { try change(audio) { $0.replaceSubrange(..<512, with: before[..<512]) } }
        // Step 3: the copy has the right length but other contents.
        if step == 3 { try change(surplus) { $0[5] ^= 1 } }
        #expect(try await storage.recover(.start).map(\.outcome) == [.repaired])
        #expect(try bytes(audio) == before)
        #expect(try surplusFiles() == ["audio.wav.surplus-1"] + (step == 3 ? ["audio.wav.surplus-2"] : []))
    }

    @Test(
        "a longer file is not changed if its beginning or its header differs", arguments: [0, 1, 2])
    func longer(kind: Int) async throws {
        try await record()
        try append(.bytes)
        try change(storage.audio(1)) { bytes in
            switch kind {
            case 0: bytes[512 + 2 * 100] ^= 1
            case 1:
                // A standard header of 44 bytes.
                var plain = Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WAVEfmt ".utf8) + [16, 0, 0, 0, 1, 0, 1, 0]
                for value: UInt32 in [16_000, 32_000] { withUnsafeBytes(of: value.littleEndian) { plain += Array($0) } }
                plain += [2, 0, 16, 0] + Array("data".utf8)
                withUnsafeBytes(of: UInt32(bytes.count - 512).littleEndian) { plain += Array($0) }
                bytes.replaceSubrange(..<512, with: plain)
            default:
                bytes[512 + 2 * 100] ^= 1
                for index in 0..<512 { bytes[index] = UInt8(truncatingIfNeeded: index &* 151 + 3) }
            }
        }
        let before = try bytes(storage.audio(1))
        for _ in 1...2 {
            let findings = try await storage.recover(.start)
            #expect(findings.map(\.outcome) == [.damaged] && findings[0].message.contains("longer"), "\(findings)")
        }
        #expect(try bytes(storage.audio(1)) == before)
        #expect(try await storage.archive().recording(1)?.length.samples == 48_000)
        try await sign()
        #expect(try await signatureCount() == 1)
        #expect(try await verify().contains { $0.outcome == .damaged })
    }

    @Test("a damaged header does not hide appended audio, and is kept in a separate file")
    func damagedHeader() async throws {
        try await record()
        let before = try bytes(storage.audio(1))
        try append(.bytes)
        try change(storage.audio(1)) { bytes in for index in 0..<60 { bytes[index] = 9 } }
        _ = try await storage.recover(.start)
        #expect(try bytes(storage.audio(1)).dropFirst(512) == before.dropFirst(512))
        #expect(try surplusFiles() == ["audio.wav.surplus-1"])
        #expect(pathExists("\(storage.audio(1)).damaged-header-1"))
    }

    @Test(
        "parts next to a signed recording are joined if they belong to it, otherwise moved aside",
        arguments: [true, false])
    func parts(isOwn: Bool) async throws {
        func write() async throws {
            let archive = try storage.archive()
            let id = try await storage.record([.samples(numbered(48_000))], isClosed: !isOwn, in: archive)
            let part = RecordingPart(beside: storage.audio(1), start: SamplePosition(40_000), ordinal: 1)
            func add() throws {
                let file = try WaveFile(new: part.path)
                let samples = isOwn ? numbered(from: 40_000, 20_000) : numbered(from: 7, 20_000)
                try samples.withUnsafeBufferPointer { try file.append($0) }
                try file.close(reason: .button)
            }
            if isOwn {
                try add()
                try await archive.endRecording(id, length: SamplePosition(60_000), reason: .button)
            }
            _ = try await SigningJob(storage: storage.folder.path, archive: archive).run()
            if !isOwn { try add() }
        }
        try await write()
        #expect(try await signatureCount() == 1)
        let findings = try await storage.recover(.start)
        #expect(isOwn || findings.count == 1, "\(findings)")
        #expect(findings.allSatisfy { $0.outcome == .repaired }, "\(findings)")
        #expect(try surplusFiles().count == (isOwn ? 0 : 1))
        #expect(try samples(of: storage.audio(1)) == numbered(isOwn ? 60_000 : 48_000))
        #expect(try await storage.archive().recording(1)?.length.samples == (isOwn ? 60_000 : 48_000))
    }

    @Test("a signed recording that loses its end keeps its signature, which shows the loss")
    func cut() async throws {
        try await record()
        try change(storage.audio(1)) { $0.removeLast(9_000) }
        #expect(try await storage.recover(.start).contains { $0.outcome == .damaged })
        try await sign()
        #expect(try await signatureCount() == 1)
        #expect(try await verify().contains { $0.message.contains("differs from the signed sound") })
        #expect(try await storage.archive().recording(1)?.length.samples == 43_500)
    }
}
