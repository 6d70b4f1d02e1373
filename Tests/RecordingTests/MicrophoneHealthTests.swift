import Testing
import TestKit

@testable import Audio
@testable import Core

/// Marble tests: each character of the input is half a second of audio, and each character of the output is a report.
@Suite struct MicrophoneHealthTests {
    /// `0`: zeros; `7`: the value 7; `-`: zeros with an occasional 1; `r`: a quiet room; `s`: speech;
    /// `C`: one sample in 50 at full scale; `c`: one in 500.
    private func samples(for letter: Character, _ random: inout SeededGenerator) -> [Int16] {
        (0..<8_000).map { index in
            switch letter {
            case "0": 0
            case "7": 7
            case "-": index % 16 == 0 ? 1 : 0
            case "r": .random(in: -20...20, using: &random)
            case "C": index % 50 == 0 ? .max : .random(in: -9_000...9_000, using: &random)
            case "c": index % 500 == 0 ? .min : .random(in: -9_000...9_000, using: &random)
            default: .random(in: -9_000...9_000, using: &random)
            }
        }
    }

    /// Returns the last report in each half second: `.` none, Z zeros, K stuck, F faint, C clipping; lowercase when the
    /// fault ends.
    private func reports(_ sounds: String, block: Int) -> String {
        var health = MicrophoneHealth()
        var random = SeededGenerator(seed: 7)
        let samplesByLetter = Dictionary(uniqueKeysWithValues: Set(sounds).map { ($0, samples(for: $0, &random)) })
        var output = ""
        for letter in sounds {
            var report: Character = "."
            let samples = samplesByLetter[letter, default: []]
            samples.withUnsafeBufferPointer { samples in
                for start in stride(from: 0, to: samples.count, by: block) {
                    let part = samples[start..<min(samples.count, start + block)]
                    health.append(UnsafeBufferPointer(rebasing: part)) { fault, isPresent in
                        let letter: Character =
                            switch fault {
                            case .silent: "Z"
                            case .stuck: "K"
                            case .cancelling: "X"
                            case .faint: "F"
                            case .clipping: "C"
                            case .rate: "R"
                            case .channels: "2"
                            }
                        report = isPresent ? letter : Character(letter.lowercased())
                    }
                }
            }
            output.append(report)
        }
        return output
    }

    @Test(
        "each fault is reported once it has lasted long enough, and again when it ends",
        arguments: [
            ("ssssssss", "........"),
            ("rrrrrrrrrrrrrrrrrrrrrrrr", "........................"),
            ("s00000s00000s", "............."),
            ("s0000000000ss", "......Z.....z"),
            ("000000ss000000ss", ".....Z.z.....Z.z"),
            ("s7777777777ss", "......K.....k"),
            ("7770000000ss", "........Z..z"),
            ("--------------------", "...................F"),
            ("-----------------------ss-", "...................F....f."),
            ("----------s---------s", "....................."),
            ("CCssssss", ".C.....c"),
            ("CcCcCcCc", ".C......"),
            ("cccccccc", "........"),
            ("CCccccccccss", ".C.........."),
            ("CCsCsssssss", ".C.......c."),
        ])
    func marbles(sounds: String, expected: String) {
        #expect(reports(sounds, block: 1_600) == expected, "\(sounds)")
    }

    @Test("the reports do not depend on the block size")
    func blockSizes() {
        let sounds = "ssCCssssss0000000000sss--------------------rrr7777777ss"
        let expected = reports(sounds, block: 1_600)
        #expect(expected.filter { $0 != "." } == "CcZzFfKk")
        for block in [7, 160, 1_601, 8_000] { #expect(reports(sounds, block: block) == expected, "\(block)") }
    }

    @Test("each message names the microphone and a remedy", arguments: MicrophoneHealth.Fault.allCases)
    func messages(fault: MicrophoneHealth.Fault) {
        let message = fault.message(microphone: "alsa:plughw:CARD=Mic")
        #expect(message.hasPrefix("microphone alsa:plughw:CARD=Mic: "))
        #expect(message.contains("; "))
    }

    @Test(
        "a rate is reported once it deviates by more than half a percent plus what late blocks can explain",
        arguments: [
            (1.0, nil), (1.004, nil), (0.996, nil), (3.0, 26), (0.5, 26), (1.02, 26), (0.98, 26), (1.01, 56),
        ] as [(Double, Int?)])
    func rates(factor: Double, second: Int?) {
        var monitor = RateMonitor()
        var reports: [(second: Int, deviation: Double)] = []
        for block in 0..<6_000 {
            // Blocks are up to 90 ms late, as on a busy machine.
            let now = Int64(block) * 100_000_000 + Int64(block % 10) * 10_000_000
            if let deviation = monitor.append(Int(1_600 * factor), at: now) { reports.append((block / 10, deviation)) }
        }
        #expect(reports.isEmpty == (second == nil))
        guard let second, let first = reports.first else { return }
        #expect(abs(first.second - second) <= 2)
        #expect(abs(first.deviation - (factor - 1)) < 0.006)
        #expect(reports.count == 1)
    }

    @Test("a rate's recovery is reported; the first samples are not measured")
    func rateRecovers() {
        var monitor = RateMonitor()
        var deviations: [Double] = []
        // Thirty seconds of preroll in one block.
        #expect(monitor.append(480_000, at: 0) == nil)
        for block in 1..<20_000 {
            let samples = (3_000..<5_000).contains(block) ? 1_760 : 1_600
            if let deviation = monitor.append(samples, at: Int64(block) * 100_000_000) { deviations.append(deviation) }
        }
        #expect(deviations.count == 2)
        #expect(deviations.first ?? 0 > 0)
        #expect(deviations.last == 0)
    }

    @Test("a session reports a muted microphone and its recovery")
    func session() async throws {
        let folder = TemporaryFolder()
        let log = RecordingLog()
        let zeros = [Int16](repeating: 0, count: 16_000)
        let session = ScriptedRecording(
            microphone: ScriptedMicrophone(
                isMonitored: true,
                [.samples(numbered(1_600)), .samples(zeros), .lost(900_000), .samples(zeros), .samples(zeros)]
                    + [.samples(numbered(20_000))]), path: folder.file("audio.wav"), sink: log)
        _ = try await session.run()
        let faults = log.entries.filter { if case .fault = $0 { true } else { $0 == .recovered("microphone-silent") } }
        #expect(faults == [.fault("microphone-silent"), .recovered("microphone-silent")])
        #expect(log.messages.first?.hasPrefix("microphone scripted:: delivers only zeros") == true)
    }
}
