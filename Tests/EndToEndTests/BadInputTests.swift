import FoundationEssentials
import Glibc
import Testing
import TestKit

@Suite("Bad input") struct BadInputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var arguments: [String]
        var status: Int32
        var expectedText: String

        init(_ description: String, _ arguments: [String], _ status: Int32, names expectedText: String) {
            (testDescription, self.arguments, self.status) = (description, arguments, status)
            self.expectedText = expectedText
        }
    }

    /// `@` stands for the test's folder.
    static let cases = [
        Case("no such file", ["transcribe", "@/absent.wav"], 3, names: "absent.wav"),
        Case("a directory", ["transcribe", "@"], 1, names: "folder"),
        Case("an empty file", ["transcribe", "@/empty.wav"], 4, names: "empty.wav"),
        Case("a text file named .wav", ["transcribe", "@/text.wav"], 1, names: "text.wav"),
        Case("no file given", ["transcribe"], 2, names: "file"),
        Case("an unknown option", ["transcribe", "--loud", "x.wav"], 2, names: "--loud"),
        Case("an unknown format", ["transcribe", "--format", "doc", "x.wav"], 2, names: "doc"),
        Case("an unknown command", ["transcribble"], 2, names: "transcribble"),
        Case("a missing model", ["transcribe", "--config", "@/nomodel.conf", Speech.all[4]], 3, names: "/nowhere"),
        Case("a damaged model", ["transcribe", "--config", "@/damaged.conf", Speech.all[4]], 4, names: "damaged"),
        Case("a bad setting", ["list", "--config", "@/bad.conf"], 2, names: "bad.conf:2"),
        Case("a missing configuration", ["list", "--config", "@/no.conf"], 3, names: "no.conf"),
        Case(
            "an absent microphone",
            ["record", "--microphone", "alsa:plughw:CARD=Nowhere", "--directory", "@/a", "--audio-only"], 3,
            names: "CARD=Nowhere"),
        Case("an invalid microphone", ["record", "--microphone", "mike", "--directory", "@/a"], 2, names: "mike"),
        Case(
            "an invalid tone", ["record", "--microphone", "tone:9e9", "--directory", "@/a"], 2, names: "tone:9e9"),
        Case(
            "an invalid microphone to calibrate", ["calibrate", "--microphone", "mike"], 2, names: "--microphone mike"),
        Case(
            "an absent sound file", ["record", "--microphone", "file:/nowhere", "--directory", "@/a"], 3,
            names: "/nowhere"),
        Case(
            "an absent vocabulary", ["transcribe", "--vocabulary", "@/none.txt", Speech.all[4]], 3,
            names: "--vocabulary"),
        Case("no archive yet", ["list", "--directory", "@/nothing"], 3, names: "nothing"),
        Case("text instead of a number", ["show", "first", "--directory", "@/nothing"], 2, names: "first"),
    ]

    @Test("one line names the problem, and the exit status is as documented", arguments: cases)
    func namesProblem(_ input: Case) throws {
        let folder = try Self.folder()
        let arguments = input.arguments.map { $0 == "@" ? folder.path : $0.replacing("@/", with: "\(folder.path)/") }
        let outcome = try Fieldscribe(arguments, in: folder).wait()
        #expect(outcome.status == input.status, "\(outcome.errors)")
        #expect(outcome.errors.count == 1, "\(outcome.errors)")
        #expect(outcome.errors.first?.contains(input.expectedText) == true, "\(outcome.errors)")
        #expect(outcome.output.isEmpty)
    }

    @Test("an invalid file does not prevent the transcription of the others")
    func invalidFileAmongOthers() throws {
        let folder = try Self.folder()
        let outcome = try Fieldscribe.run("transcribe", folder.file("text.wav"), Speech.all[4], in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("amiable itself"))
        #expect(outcome.errors.count == 1)
    }

    @Test("an unknown recording is reported")
    func unknownRecording() throws {
        let folder = TemporaryFolder()
        let storage = folder.file("storage")
        let recorded = try Fieldscribe.run(
            "record", "--audio-only", "--seconds", "1", "--microphone", "tone+fast:440", "--directory", storage,
            in: folder)
        #expect(recorded.status == 0, "\(recorded.errors)")
        let outcome = try Fieldscribe.run("show", "99", "--directory", storage, in: folder)
        #expect(outcome.status == 3)
        #expect(outcome.errors.count == 1 && outcome.errors[0].contains("recording 99"), "\(outcome.errors)")
        #expect(outcome.output.isEmpty)
    }

    @Test("if a line of the configuration is invalid, doctor reports that line and checks the other settings")
    func invalidLine() throws {
        let folder = TemporaryFolder()
        let (conf, storage) = (folder.file("wrong.conf"), folder.file("storage"))
        try Self.write(
            """
            [capture]
            device = tone:440
            [storage]
            directory = \(storage)
            [panel]
            button = gpio
            lamp = none

            """, to: conf)
        let outcome = try Fieldscribe.run("doctor", "--config", conf, in: folder)
        #expect(outcome.status != 0)
        for text in [
            "\(conf):6: panel.button: ", "tone:440: level", "not checked, because panel.button is wrong", storage,
        ] { #expect(outcome.output.contains(text), "\(text): \(outcome.output)") }
        #expect(outcome.output.contains(/lamp +none\n/), "\(outcome.output)")
    }

    @Test("a full disk behind standard output is reported")
    func fullOutput() throws {
        let folder = TemporaryFolder()
        let outcome = try Fieldscribe.run("transcribe", Speech.all[4], in: folder, output: "/dev/full")
        #expect(outcome.status == 1)
        #expect(outcome.errors.count == 1 && outcome.errors[0].contains("no space left"), "\(outcome.errors)")
    }

    private static func folder() throws -> TemporaryFolder {
        let folder = TemporaryFolder()
        try write("", to: folder.file("empty.wav"))
        try write(String(repeating: "this is no sound\n", count: 40), to: folder.file("text.wav"))
        try write("[recognizer]\nmodel = /nowhere\n", to: folder.file("nomodel.conf"))
        try write("[capture]\nrate = abc\n", to: folder.file("bad.conf"))
        let model = folder.file("damaged")
        try write("[recognizer]\nmodel = \(model)\n", to: folder.file("damaged.conf"))
        let debian = "/usr/share/pocketsphinx/model/en-us"
        try FileManager.default.createDirectory(atPath: "\(model)/damaged", withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: "\(debian)/en-us") where name != "mdef" {
            symlink("\(debian)/en-us/\(name)", "\(model)/damaged/\(name)")
        }
        try write("this is no model definition\n", to: "\(model)/damaged/mdef")
        symlink("\(debian)/en-us.lm.bin", "\(model)/damaged.lm.bin")
        symlink("\(debian)/cmudict-en-us.dict", "\(model)/cmudict-damaged.dict")
        return folder
    }

    private static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }
}
