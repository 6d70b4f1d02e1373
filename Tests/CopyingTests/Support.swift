import Glibc
import Synchronization
import Testing
import TestKit

@testable import Audio
@testable import Copying
@testable import Core
@testable import System
@testable import Transcripts

/// Recordings with audio files, and a folder that stands in for a stick.
struct Setup {
    static let device = DeviceName(madeOf: "recorder")
    static let formats: [TranscriptFormat] = [.text, .json, .srt, .vtt, .csv, .textgrid, .eaf, .labels, .html]

    let folder = TemporaryFolder()
    let archive = InMemoryArchive([])
    var ledger = MemoryLedger()
    let stick: String
    var formats = Setup.formats
    var audio = AudioFormat.flac
    var identity: String?
    var recipients: Result<[Recipient], DeviceError>?
    var signer: RecorderKey?

    /// - Parameter stick: the target folder; if nil, a new folder is created.
    init(recordings: Int = 1, seconds: Double = 0.5, stick: String? = nil) async throws {
        self.stick = stick ?? folder.file("stick")
        if stick == nil { try makeFolder(self.stick) }
        for id in 1...max(1, recordings) where recordings > 0 { try await record(id, seconds: seconds) }
    }

    /// The recorder's folder on the stick.
    var exportFolder: String { "\(stick)/Fieldscribe/recorder" }

    func audioPath(_ id: Int) -> String { folder.file("\(id).wav") }

    static func name(_ id: Int) -> String { "00000\(id)_clock-unverified" }

    /// Creates a recording's audio and adds it to the archive.
    func record(_ id: Int, seconds: Double = 0.5, text: String = "one two") async throws {
        let created = shell("sox -R -n -r 16000 -b 16 -c 1 '\(audioPath(id))' synth \(seconds) pinknoise gain -6")
        #expect(created.status == 0, "\(created.output)")
        await put(id, seconds: seconds, text: text)
    }

    /// Adds a recording to the archive, or replaces it.
    func put(_ id: Int, seconds: Double = 0.5, text: String) async {
        let words = text.split(separator: " ").enumerated().map { index, text in
            Word(
                String(text),
                SampleRange(SamplePosition(Int64(index) * 1_600), SamplePosition(Int64(index + 1) * 1_600)),
                confidence: 0.8)
        }
        let length = SamplePosition(seconds: seconds)
        await archive.put(
            RecordingSummary(
                id: id, startedAt: 1_795_163_412, clock: .unverified, microphone: "tone:440", length: length,
                transcribedUpTo: length, stopReason: .button),
            Timeline(
                name: "00000\(id)", length: length,
                engine: EngineDescription(name: "test", version: "1", model: "none"),
                segments: [Segment(id: 1, range: SampleRange(.zero, length), words: words, endedBy: .stop)]))
    }

    /// Replaces a recording's annotations.
    ///
    /// - Parameter pass: the position of the pass with the annotations, from 1.
    func annotate(_ id: Int, _ annotations: Annotations, pass: Int) async {
        guard case (let summary, var timeline)? = await archive.transcript(of: id) else { return }
        timeline.annotations = annotations
        timeline.pass = pass
        timeline.marks = annotations.marks ?? timeline.marks
        await archive.put(summary, timeline)
    }

    func export(ledger: Bool = true, gate: @escaping Folder.Gate = { _, _ in }) -> FolderExport {
        var export = FolderExport(
            archive: archive, ledger: ledger ? self.ledger : nil,
            settings: CopySettings(
                formats: formats, audio: audio, device: Setup.device, volume: "ABCD-1234", now: 1_795_163_500,
                identity: identity),
            audioPath: { [folder] in folder.file("\($0).wav") })
        export.gate = gate
        export.recipients = recipients
        export.signer = signer
        return export
    }

    /// Copies all recordings, or those with the given IDs.
    @discardableResult func copy(_ ids: [Int]? = nil) async throws -> CopyReport {
        try await export().copy(ids, to: stick)
    }

    /// Stops a copy at its first call of `shouldStop`, the next copy at its second call, and so on, until a copy
    /// completes. Each copy starts with an empty stick.
    ///
    /// - Parameter check: called after each stopped copy.
    /// - Returns: the number of stopped copies.
    func stopEverywhere(_ check: () -> Void) async throws -> Int {
        var stops = 0
        for limit in 1... {
            let calls = Mutex(0)
            var export = self.export()
            export.shouldStop = {
                calls.withLock { count in
                    count += 1
                    return count >= limit
                }
            }
            let error = await thrown { _ = try await export.copy(to: stick) }
            check()
            guard let error else { break }
            #expect(error.status == ECANCELED)
            stops += 1
            shell("rm -rf '\(stick)/Fieldscribe'")
        }
        return stops
    }

    /// Expects that the ledger lists exactly the passes whose complete transcript was copied.
    func expectCompletePasses() async throws {
        func passes() async -> [Int?] { await ledger.entries.map(\.pass) }
        await archive.setLastPass(3, isComplete: false)
        try await copy()
        #expect(await passes() == [nil])
        // Only the pass changes, not the transcript.
        await archive.setLastPass(3, isComplete: true)
        #expect(try await copy().copied.isEmpty)
        #expect(await passes() == [nil, 3])
        await archive.setLastPass(4, isComplete: true)
        for _ in 1...2 { #expect(try await copy().copied.isEmpty) }
        #expect(await passes() == [nil, 3, 4])
        let entries = await ledger.entries
        #expect(Set(entries.map(\.manifest)).count == 1 && Set(entries.map(\.folder)).count == 1)
    }

    /// The names of the copies' folders, without incomplete copies, sorted.
    var copies: [String] { names(exportFolder).filter { !$0.hasPrefix("partial") } }

    /// Returns whether every copy matches its checksums, and its sound equals the recording's.
    func hasIntactCopies() -> Bool {
        copies.allSatisfy { name in
            guard let id = Int(name.prefix(6)),
                shell("cd '\(exportFolder)/\(name)' && sha256sum -c SHA256SUMS").status == 0
            else { return false }
            let audio = "\(exportFolder)/\(name)/audio.\(self.audio.rawValue)"
            return shell("cmp <(sox '\(audio)' -t raw -) <(sox '\(audioPath(id))' -t raw -)").status == 0
        }
    }
}

/// The contents of a folder, sorted; empty if it does not exist.
func names(_ path: String) -> [String] {
    shell("ls -A '\(path)' 2>/dev/null").output.split(separator: "\n").map(String.init)
}

/// Runs a command in bash. Returns its exit status, or -1 if a signal ended it, with its output and errors.
@discardableResult func shell(_ command: String) -> (status: Int32, output: String) {
    let escaped = command.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
    guard let pipe = popen("bash -c '\(escaped)' 2>&1", "r") else { return (-1, "popen failed") }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { output += buffer[..<count] }
    let status = pclose(pipe)
    return (status & 0x7F == 0 ? (status >> 8) & 0xFF : -1, String(decoding: output, as: UTF8.self))
}
