import FoundationEssentials
import Glibc
import Testing
import TestKit

/// Two people with one microphone each; no voice model is installed.
@Suite("Commands that identify speakers") struct SpeakersTests {
    private let folder = TemporaryFolder()
    private var storage: String { folder.file("store") }

    /// Creates a stereo file in which a phrase alternates between the channels, each with a tenth of the other's sound.
    private func conversation() throws -> String {
        let voice = try Data(contentsOf: URL(filePath: "/usr/share/pocketsphinx/test/data/goforward.raw"))
            .withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        var samples: [Int16] = []
        for turn in 0..<4 {
            for sample in voice + [Int16](repeating: 3, count: 8_000) {
                samples += turn % 2 == 0 ? [sample, sample / 10] : [sample / 10, sample]
            }
        }
        let size = UInt32(samples.count * 2)
        func littleEndian(_ value: UInt32, _ bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
        }
        var file = Array("RIFF".utf8) + littleEndian(size + 36, 4) + Array("WAVEfmt ".utf8) + littleEndian(16, 4)
        file += littleEndian(1, 2) + littleEndian(2, 2) + littleEndian(16_000, 4) + littleEndian(64_000, 4)
        file += littleEndian(4, 2) + littleEndian(16, 2)
        file += Array("data".utf8) + littleEndian(size, 4)
        file += samples.flatMap { (sample: Int16) -> [UInt8] in
            [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
        }
        try Data(file).write(to: URL(filePath: folder.file("two.wav")))
        return folder.file("two.wav")
    }

    private func configuration(_ lines: String = "") throws -> String {
        let path = folder.file("fieldscribe.conf")
        let text = """
            [capture]
            channels = 2
            [recognizer]
            engine = pocketsphinx
            [storage]
            directory = \(storage)
            \(lines)
            """
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    @Test("two microphones need no model; one channel does")
    func file() throws {
        let sound = try conversation()
        func run(_ arguments: String..., settings: String? = nil) throws -> Fieldscribe.Outcome {
            let common = ["--engine", "pocketsphinx"] + (settings.map { ["--config", $0] } ?? [])
            return try Fieldscribe(["transcribe", sound] + arguments + common, in: folder).wait()
        }
        func names(_ text: String) -> String {
            String(text.split(separator: "\n").compactMap { $0.wholeMatch(of: /([AB]): .*/)?.1.first })
        }
        let byChannel = try run("--channels", "2")
        #expect(byChannel.status == 0 && names(byChannel.output) == "ABAB" && byChannel.errors.isEmpty, "\(byChannel)")
        let fromMix = try run()
        #expect(fromMix.status == 0 && names(fromMix.output).isEmpty, "\(fromMix)")
        let words = { (text: String) in
            text.split(whereSeparator: \.isWhitespace).map(String.init).filter { !["A:", "B:"].contains($0) }
        }
        #expect(words(byChannel.output) == words(fromMix.output), "the text must be that of the mix")
        // The recorder's setting has the same effect, and --speakers no overrides it.
        let configured = try run("--speakers", "auto", settings: configuration())
        #expect(configured.status == 0 && configured.output == byChannel.output, "\(configured)")
        #expect(try run("--channels", "2", "--speakers", "no").output == fromMix.output)
        // A film with one track for each person yields the same.
        let film = folder.file("two.mkv")
        try Fieldscribe.tool(
            "ffmpeg", "-nostdin", "-loglevel", "error", "-i", sound, "-filter_complex", "channelsplit[a][b]", "-map",
            "[a]", "-map", "[b]", "-c:a", "pcm_s16le", film, in: folder)
        let byTrack = try Fieldscribe(
            ["transcribe", film, "--track", "all", "--engine", "pocketsphinx"], in: folder
        ).wait()
        #expect(byTrack.status == 0 && names(byTrack.output) == "ABAB" && byTrack.errors.isEmpty, "\(byTrack)")
        // Two microphones cannot distinguish three people, and one channel cannot distinguish anyone.
        for arguments in [["--speakers", "3", "--channels", "2"], ["--speakers", "auto", "--channels", "1"]] {
            let outcome = try Fieldscribe(
                ["transcribe", sound, "--engine", "pocketsphinx"] + arguments, in: folder
            ).wait()
            #expect(outcome.errors.last?.contains("campplus.ort") == true, "\(arguments): \(outcome)")
        }
        #expect(try run("--channels", "3").status == 2)
    }

    @Test("two microphones are recorded, distinguished, shown, exported as a document, and processed again")
    func twoMicrophones() throws {
        let (settings, sound) = (try configuration(), try conversation())
        func run(_ arguments: String...) throws -> Fieldscribe.Outcome {
            try Fieldscribe(arguments + ["--config", settings], in: folder).wait()
        }
        #expect(try run("record", "--microphone", "file+fast:\(sound)").status == 0)
        #expect(
            try run("search", "speaker:A").errors.last?.contains("no speakers have been identified yet") == true
        )
        let identification = try run("speakers", "1")
        #expect(
            identification.status == 0 && identification.output.wholeMatch(of: /1  A 00:0[567]  B 00:0[567]\n/) != nil,
            "\(identification)")
        let text = try run("show", "1").output
        let names = text.split(separator: "\n").compactMap { $0.first }.filter { "AB".contains($0) }
        #expect(names == ["A", "B", "A", "B"], "\(text)")
        if access("/usr/bin/script", X_OK) == 0 {
            let program = try Fieldscribe.executable()
            for (variable, bold) in [("NO_COLOR=1", "A:"), ("TERM=xterm", "\u{1B}[1mA:\u{1B}[0m")] {
                let command = "env -u NO_COLOR \(variable) '\(program)' show 1 --config '\(settings)'"
                let screen = try Fieldscribe(program: "script", ["-qec", command, "/dev/null"], in: folder).wait()
                #expect(screen.output.contains("Recording 1") && screen.output.contains("  \(bold) "), "\(screen)")
            }
        }
        try expectVerified(run("verify", "1"))
        let found = try run("search", "speaker:B").output.split(separator: "\n")
        #expect(found.count { $0.hasPrefix("   00:") } == 2 && found.count == 3, "\(found)")
        let first = try run("search", "speaker:B", "--limit", "1")
        #expect(first.status == 0 && first.errors == ["stopped at 1 result; --limit N shows more"], "\(first)")
        #expect(try run("search", "speaker:B", "--limit", "2").errors.isEmpty)
        #expect(try run("search", "speaker:Zoe Q", "go").status == 1)
        let noMatch = try run("search", "speaker:Zoe Q", "go", "--json")
        #expect(noMatch.status == 0 && noMatch.output == "[]\n" && noMatch.errors.isEmpty, "\(noMatch)")
        #expect(try run("search", "speaker:Zoe Q", "go").errors.last?.contains("no speaker is named Zoe Q") == true)
        let forgotten = try run("speakers", "forget", "Zoe")
        #expect(forgotten.status == 1 && forgotten.errors.last?.contains("no voice is saved as Zoe") == true)
        #expect(access("\(storage)/voices.json", F_OK) != 0)
        for format in ["docx", "odt"] {
            let document = try run("show", "1", "--format", format)
            #expect(document.status == 0 && document.output.hasPrefix("PK\u{3}\u{4}"))
            #expect(document.output.contains("Recording 1<"))
        }
        // Three people need the model, which is missing.
        let threePeople = try run("speakers", "1", "--speakers", "3")
        #expect(threePeople.status == 3 && threePeople.errors.last?.contains("campplus.ort") == true, "\(threePeople)")
        #expect(try run("show", "1").output == text, "the previous result must stay")
        for (arguments, status) in [
            (["speakers"], 2), (["speakers", "1", "--speakers", "no"], 2), (["speakers", "7"], 3),
            (["speakers", "x"], 2),
        ] {
            let outcome = try Fieldscribe(arguments + ["--config", settings], in: folder).wait()
            #expect(outcome.status == Int32(status) && !outcome.errors.isEmpty, "\(arguments): \(outcome)")
        }
    }

    @Test("record and recover identify speakers if configured; if the model is missing, a line reports that")
    func automatic() throws {
        let (settings, sound) = (try configuration("[recognizer]\nspeakers = auto"), try conversation())
        func run(_ arguments: String...) throws -> Fieldscribe.Outcome {
            try Fieldscribe(arguments + ["--config", settings], in: folder).wait()
        }
        let reported = /recording (\d): A 00:0[567]  B 00:0[567]/
        let recorded = try run("record", "--microphone", "file+fast:\(sound)")
        #expect(recorded.status == 0 && recorded.errors.last?.wholeMatch(of: reported)?.1 == "1", "\(recorded)")
        #expect(try run("record", "--audio-only", "--microphone", "file+fast:\(sound)").status == 0)
        #expect(try run("recover", "--no-transcribe").errors == ["all is well in \(storage)"])
        let recovered = try run("recover")
        #expect(recovered.status == 0 && recovered.errors.last?.wholeMatch(of: reported)?.1 == "2", "\(recovered)")
        #expect(try run("show", "2").output.contains("B: "))
        let mono = try run("record", "--microphone", "file+fast:\(Speech.all[0])")
        #expect(mono.status == 0 && mono.errors.last?.contains("campplus.ort") == true, "\(mono)")
    }
}
