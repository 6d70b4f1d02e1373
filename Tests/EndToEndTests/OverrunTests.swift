import FoundationEssentials
import Glibc
import Testing
import TestKit

/// Runs the real executable and libasound with a preloaded library that simulates the sound card's clock and overruns.
@Suite("An overrun") struct OverrunTests {
    struct Case: Sendable, CustomTestStringConvertible {
        /// Which read fails, counted from 1.
        var read: Int
        var stallMilliseconds: Int
        /// Whether the card reports a suspend instead.
        var isSuspended = false

        var testDescription: String {
            "at read \(read), a stall of \(stallMilliseconds) ms\(isSuspended ? ", after a suspend" : "")"
        }
    }

    private static let rate = 16_000
    /// The number of samples in a block of the sound card, which is also the tolerance for a gap's length.
    private static let period = 1_600
    private static let seconds = 3

    @Test(
        "an overrun becomes a gap of the right length in the events, the archive and the file",
        arguments: [
            Case(read: 1, stallMilliseconds: 400), Case(read: 2, stallMilliseconds: 250),
            Case(read: 11, stallMilliseconds: 700), Case(read: 12, stallMilliseconds: 0),
            Case(read: 7, stallMilliseconds: 600, isSuspended: true),
        ])
    func becomesGap(_ overrun: Case) throws {
        let folder = TemporaryFolder()
        let storage = folder.file("storage")
        let source = (0..<Self.rate * Self.seconds).map { Int16(1 + $0 % 20_000) }
        let recording = try record(overrun, source, to: storage, in: folder)
        #expect(recording.outcome.status == 0, "\(recording.outcome.errors)")
        let card = recording.card

        // The samples that the card lost, by its own clock.
        let expectedFrames = Double(card.restarted - card.started) * Double(Self.rate) / 1e9
        let lostFrames = expectedFrames - Double(card.framesBefore)
        let reportedGaps = try recording.outcome.output.split(separator: "\n").filter {
            $0.contains("\"event\":\"gap\"")
        }
        .map { try JSONDecoder().decode(Gap.self, from: Data($0.utf8)) }
        #expect(reportedGaps.count == 1)
        let gap = try #require(reportedGaps.first)
        #expect(gap.cause == "overrun")
        // After a suspend the read is retried until the card is awake; otherwise the card is prepared again.
        #expect(card.resumes == (overrun.isSuspended ? 3 : 0))
        #expect(gap.first == card.framesBefore)
        #expect(
            abs(Double(gap.count) - lostFrames) <= Double(Self.period),
            "\(gap.count) samples, \(lostFrames) by the clock")

        let shown = try JSONDecoder().decode(
            Shown.self,
            from: Data(
                try Fieldscribe.run("show", "1", "--format", "json", "--directory", storage, in: folder).output.utf8))
        #expect(shown.gaps == reportedGaps)

        // The file has exactly the samples before the gap, silence, and the samples after it.
        let samples = try self.samples("\(storage)/recordings/000001/audio.wav")
        let samplesRead = samples.count - gap.count
        #expect(samples.count == Self.rate * Self.seconds)
        let silence = [Int16](repeating: 0, count: gap.count)
        #expect(Array(samples[..<gap.first]) == Array(source[..<gap.first]))
        #expect(Array(samples[gap.first..<gap.first + gap.count]) == silence)
        #expect(Array(samples[(gap.first + gap.count)...]) == Array(source[gap.first..<samplesRead]))
        // The last block was read completely.
        #expect(
            (samplesRead..<samplesRead + Self.period).contains(card.frames),
            "\(card.frames) were read, \(samplesRead) are in the file")
    }

    private struct Gap: Decodable, Equatable {
        var start: Double
        var end: Double
        var cause: String

        var first: Int { Int((start * 16_000).rounded()) }
        var count: Int { Int((end * 16_000).rounded()) - first }
    }

    private struct Shown: Decodable {
        var gaps: [Gap]
    }

    /// The counters of the preloaded library, in the layout of `struct fault_state`.
    private struct Card {
        var frames: Int
        var started: UInt64
        var restarted: UInt64
        var framesBefore: Int
        var resumes: Int

        init(_ bytes: Data) {
            let fields = bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
            frames = Int(fields[18])
            (started, restarted) = (fields[21], fields[22])
            framesBefore = Int(fields[23])
            resumes = Int(fields[24])
        }
    }

    private func record(
        _ overrun: Case, _ source: [Int16], to storage: String, in folder: TemporaryFolder
    ) throws -> (outcome: Fieldscribe.Outcome, card: Card) {
        try source.withUnsafeBytes { try Data($0).write(to: URL(filePath: folder.file("source.raw"))) }
        try Data(
            """
            </usr/share/alsa/alsa.conf>
            pcm.card { type file slave.pcm null file /dev/null infile "\(folder.file("source.raw"))" format raw }

            """.utf8
        ).write(to: URL(filePath: folder.file("asound.conf")))
        let executable = try Fieldscribe.executable()
        let library = executable.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/libFaultShim.so"
        try #require(access(library, R_OK) == 0, "\(library) is built by swift build")
        let outcome = try Fieldscribe(
            program: "env",
            [
                "LD_PRELOAD=\(library)", "ALSA_CONFIG_PATH=\(folder.file("asound.conf"))", "FAULT_CLOCK=1",
                "FAULT_\(overrun.isSuspended ? "SUSPEND" : "OVERRUN")=\(overrun.read)",
                "FAULT_STALL=\(overrun.stallMilliseconds)",
                "FAULT_STATE=\(folder.file("card"))", executable, "record", "--audio-only", "--json", "--seconds",
                "\(Self.seconds)", "--microphone", "alsa:card", "--directory", storage,
            ], in: folder
        ).wait()
        return (outcome, Card(try Data(contentsOf: URL(filePath: folder.file("card")))))
    }

    private func samples(_ path: String) throws -> [Int16] {
        let bytes = try Data(contentsOf: URL(filePath: path))
        let start = try #require(bytes.firstRange(of: Data("data".utf8))).upperBound + 4
        return Data(bytes[start...]).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }
}
