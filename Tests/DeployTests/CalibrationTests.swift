import Testing
import TestKit

@testable import Appliance
@testable import Core
@testable import Settings

@Suite("Calibration") struct CalibrationTests {
    private func steadyLevels(_ level: Double, frames: Int = 500, spread: Double = 1) -> [Double] {
        (0..<frames).map { level + spread * Double($0 % 11 - 5) / 5 }
    }

    @Test("the threshold is 9 dB above the noise of a quiet room, and never below the converter's noise")
    func threshold() throws {
        let calibration = try Calibration(levels: steadyLevels(-50), microphone: "tone:1")
        #expect(abs(calibration.floor + 51) < 1)
        #expect(abs(calibration.threshold + 42) < 1)
        #expect(try Calibration(levels: steadyLevels(-90), microphone: "tone:1").threshold == -80)
    }

    @Test("the threshold is above the peaks of fluctuating noise")
    func peaks() throws {
        var levels = steadyLevels(-50)
        for index in stride(from: 0, to: 500, by: 20) { levels[index] = -35 }
        #expect(try Calibration(levels: levels, microphone: "tone:1").threshold == -32)
    }

    // A constant, because Swift 6.0.3 rejects a closure among the macro's arguments.
    private static let refusedLevels: [(levels: [Double], reason: String)] = [
        ([], "less than 2 s"), (Array(repeating: -100, count: 500), "digital silence"),
        ((0..<500).map { $0 % 50 < 25 ? -60 : -30 }, "as if somebody were speaking"),
        (Array(repeating: -18, count: 500), "too loud"),
    ]

    @Test("levels that do not represent the background noise are refused", arguments: refusedLevels)
    func refusals(levels: [Double], reason: String) {
        let error = thrown { _ = try Calibration(levels: levels, microphone: "alsa:x") }
        #expect(error?.code == .unsupported)
        #expect(error?.message.hasPrefix("alsa:x: ") ?? false)
        #expect(error?.message.contains(reason) ?? false, "\(String(describing: error))")
    }

    @Test(
        "saving changes a single value and no other byte",
        arguments: [
            ("", "[speech]\nk = 7\n"),
            ("[capture]\nrate = 8000", "[capture]\nrate = 8000\n\n[speech]\nk = 7\n"),
            ("[speech]\n", "[speech]\nk = 7\n"),
            ("[speech]\nk = auto\n", "[speech]\nk = 7\n"),
            ("# a\n[speech]\n  k=auto ; why\nother = 1\n", "# a\n[speech]\n  k=7 ; why\nother = 1\n"),
            ("[speech]\nk : -4;0\t; why\n", "[speech]\nk : 7\t; why\n"),
            ("[speech]\n#k = auto\n\nother = 1\n", "[speech]\n#k = auto\nk = 7\n\nother = 1\n"),
            ("[speech]\n# k is good\nkk = 1\n", "[speech]\nk = 7\n# k is good\nkk = 1\n"),
            (
                "[capture]\nk = 1\n[speech]\n#k = 2\n[panel]\nk = 3\n",
                "[capture]\nk = 1\n[speech]\n#k = 2\nk = 7\n[panel]\nk = 3\n"
            ),
            ("[speech]\n#k = a\nk = b\n", "[speech]\n#k = a\nk = 7\n"),
            ("[speech]\r\nk = auto\r\nz = 1\r\n", "[speech]\r\nk = 7\r\nz = 1\r\n"),
            ("[a]\r\nb = 1\r\n", "[a]\r\nb = 1\r\n\r\n[speech]\r\nk = 7\r\n"),
            ("\u{FEFF}[speech]\nk = auto", "\u{FEFF}[speech]\nk = 7"),
            ("[speech] ; said\nk = a\n", "[speech] ; said\nk = 7\n"),
        ])
    func edits(before: String, after: String) {
        #expect(Array(configurationText(before, setting: "k", in: "speech", to: "7").utf8) == Array(after.utf8))
    }

    @Test("saving to any variant of the sample file changes only the threshold, and the file stays valid")
    func sample() throws {
        var generator = SeededGenerator(seed: 20_261_121)
        let lines = try text(of: Repository.file("deploy/fieldscribe.conf")).split(
            separator: "\n", omittingEmptySubsequences: false)
        for _ in 0..<50 {
            let folder = TemporaryFolder()
            let path = folder.file("fieldscribe.conf")
            let before = lines.map { line in
                line.hasPrefix("#") && !line.hasPrefix("# ") && Bool.random(using: &generator) ? line.dropFirst() : line
            }.joined(separator: "\n")
            try write(before, to: path)
            var expected = try Configuration.load(explicitPath: path, environment: [:])
            #expect(try expected.save(thresholdDecibels: -43.5) == path)
            expected.speech.threshold = .fixed(decibels: -43.5)
            #expect(try Configuration.load(explicitPath: path, environment: [:]) == expected)
        }
    }

    @Test("the file keeps its mode, and a link to it remains a link")
    func modeAndLink() throws {
        let folder = TemporaryFolder()
        let (path, link) = (folder.file("real.conf"), folder.file("link.conf"))
        try write("[speech]\n", to: path)
        #expect(try Tool("chmod", "604", path).status == 0)
        #expect(try Tool("ln", "-s", path, link).status == 0)
        let configuration = try Configuration.load(explicitPath: link, environment: [:])
        _ = try configuration.save(thresholdDecibels: -40)
        #expect(try Tool("stat", "--format=%a %F", path).output == "604 regular file\n")
        #expect(try Tool("stat", "--format=%F", link).output == "symbolic link\n")
        #expect(try text(of: path) == "[speech]\nthreshold-decibels = -40\n")
    }

    @Test("the command saves a threshold for noise, but not for speech")
    func command() throws {
        let folder = TemporaryFolder()
        let (conf, noise) = (folder.file("fieldscribe.conf"), folder.file("noise.wav"))
        try write("[panel]\nstyle = mark\n", to: conf)
        let sox = try Tool(
            "sox", "-R", "-n", "-r", "16000", "-b", "16", noise, "synth", "4", "whitenoise", "vol", "0.01")
        #expect(sox.status == 0)
        let program = try Repository.executable()
        let speech =
            "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0880.wav"
        let speechRun = try Tool(
            program, "calibrate", "--seconds", "3", "--config", conf, "--microphone", "file+fast:\(speech)")
        #expect(speechRun.status == 1)
        #expect(speechRun.errors.contains("as if somebody were speaking"))
        #expect(try text(of: conf) == "[panel]\nstyle = mark\n")
        let noiseRun = try Tool(
            program, "calibrate", "--seconds", "3", "--config", conf, "--microphone", "file+fast:\(noise)")
        #expect(noiseRun.status == 0, "\(noiseRun.errors)")
        let configuration = try Configuration.load(explicitPath: conf, environment: [:])
        guard case .fixed(let decibels) = configuration.speech.threshold else {
            Issue.record("no threshold was saved")
            return
        }
        #expect(noiseRun.output.contains("threshold \(decibels) dBFS"))
        #expect(abs(decibels + 36) < 6)
    }
}
