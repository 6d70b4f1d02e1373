import Testing

@testable import Settings

@Suite("Syntax") struct SyntaxTests {
    @Test(
        "formatting makes no difference",
        arguments: [
            "\u{FEFF}[capture]\nrate = 44100\n",
            "[capture]\r\nrate = 44100\r\n",
            "[capture]\nrate = 44100",
            "  [capture]\n\trate = 44100\n\tchannels = 1\n",
            "[capture]\nrate=44100\n",
            "[capture]\nrate: 44100\n",
            "[capture] # sound\n; one\n  # two\n\nrate = 44100 ; three\n",
            "[capture]\n[panel]\n[capture]\nrate = 44100\n",
            "# g\u{fc}nstig\n[capture]\nrate = 44100\n",
            "# " + String(repeating: "long ", count: 200) + "\n[capture]\nrate = 44100\n",
        ])
    func formatting(_ text: String) throws {
        var configuration = try parse(text).get()
        #expect(configuration.capture.rate == 44_100)
        configuration.capture.rate = 16_000
        configuration.file = nil
        #expect(configuration == Configuration())
    }

    @Test(
        "a file that is empty or has no settings gives the defaults",
        arguments: ["", "\n", "\u{FEFF}", "#", "\r\n\r\n", "   "])
    func empty(_ text: String) throws {
        #expect(try parse(text).get().capture.rate == 16_000)
    }

    @Test(
        "invalid input is refused with its line",
        arguments: [
            ("[capture]\nrate\n", ["2 this line is not a [section], a key = value or a # comment"]),
            ("[capture]\n\nrate", ["3 this line is not a [section], a key = value or a # comment"]),
            ("[capture]\n= 16000\n", ["2 this line has no key before its ="]),
            ("[capture\nrate = 1\n", ["1 this line has no ] after the section's name"]),
            ("[capture] rate = 1\n", ["1 this line has text after [capture]; put it on its own line"]),
            ("rate = 16000\n", ["1 is before the first section; put a line like [capture] above it"]),
            (
                "[capture]\nrate = 16000 # Hz\n",
                [
                    "2 has a comment after its value; begin it with ; or put it on its own line"
                ]
            ),
            (
                "[capture]\nrate = 16000\rchannels = 1\n",
                [
                    "2 this line ends with only a carriage return; end lines with a newline"
                ]
            ),
            (
                "#\n[capture]\nrate = 16\u{0}000\n",
                ["3 this line contains a NUL byte; save the file as plain text in UTF-8"]
            ),
            ("[capture]\nrate = \u{1B}[1m\n", ["2 this line contains a control character; remove it"]),
            (
                "[capture]\nrate = 1\nrate = 16000\n",
                [
                    "2 1 is out of range; allowed: 8000 to 192000",
                    "3 is set twice, here and on line 2; remove one of them",
                ]
            ),
            (
                "[capture]\nrate = 44100\n[panel]\n[capture]\nrate = 48000\n",
                [
                    "5 is set twice, here and on line 2; remove one of them"
                ]
            ),
        ])
    func refused(_ text: String, _ reasons: [String]) throws {
        #expect(try parse(text).reasons == reasons)
    }

    @Test("Latin-1 and UTF-16 are refused")
    func encodings() throws {
        let latin1 = Array("[control]\ngroup = gr".utf8) + [0xFC] + Array("n\n".utf8)
        #expect(
            try parse(latin1).reasons == ["2 this line is not UTF-8; save the file as plain text in UTF-8"])
        let utf16: [UInt8] = [0xFF, 0xFE] + "[panel]\n".utf8.flatMap { [$0, 0] as [UInt8] }
        #expect(
            try parse(utf16).reasons.first == "1 this line contains a NUL byte; save the file as plain text in UTF-8")
    }

    @Test("an unknown name is refused, and the most similar name is suggested")
    func suggestions() throws {
        #expect(
            try parse("[captrue]\nrate = 1\n").reasons == [
                "1 [captrue] is not a section; did you mean capture?"
            ])
        #expect(try parse("[Panel]\n").reasons == ["1 [Panel] is not a section; did you mean panel?"])
        #expect(
            try parse("[wifi]\nname = x\n").reasons == [
                "1 [wifi] is not a section; allowed: capture, speech, recognizer, speakers, vocabulary, panel, "
                    + "storage, export, usb, control"
            ])
        #expect(
            try parse("[capture]\nsample-rate = 16000\nRate = 16000\n").reasons == [
                "2 is not a key of [capture]; allowed: device, rate, channels, preroll-seconds, sync-seconds",
                "3 is not a key of [capture]; did you mean rate?",
            ])
        #expect(
            try parse("[capture]\nlamp = none\n").reasons == ["2 is not a key of [capture]; it belongs in [panel]"])
        #expect(
            try parse("[capture]\ndevice alsa:default\n").reasons == [
                "2 is not a key of [capture]; did you mean device?"
            ])
    }

    @Test("a line may have libinih's maximum length; a longer line is refused with its number")
    func lineLimit() throws {
        func line(length bytes: Int) -> String { "model = /" + String(repeating: "m", count: bytes - 9) }
        let longest = try parse("[recognizer]\n\(line(length: 198))\nworkers = 3\n").get()
        #expect(longest.recognizer.model.utf8.count == 190 && longest.recognizer.workers == 3)
        #expect(
            try parse("[recognizer]\n\(line(length: 199))\nworkers = 99\n").reasons == [
                "2 this line is longer than 198 bytes; shorten it", "3 99 is out of range; allowed: 0 to 64",
            ])
    }

    @Test("all problems are listed in line order and summarized in one line")
    func allProblems() throws {
        guard
            case .failure(let error) = try parse(
                "[capture]\nrate = abc\n[speech]\npadding-milliseconds = 900\n[nowhere]\na = b\n[panel]\nstyle = x\n")
        else {
            Issue.record("the file was accepted")
            return
        }
        #expect(error.problems.map(\.line) == [2, 4, 5, 8])
        let file = try #require(error.problems.first).file
        #expect(
            error.description == "\(file):2: capture.rate: \"abc\" is not a whole number; allowed: 8000 to 192000 "
                + "(and 3 more; see fieldscribe doctor)")
    }
}
