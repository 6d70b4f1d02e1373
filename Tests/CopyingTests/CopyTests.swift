import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Audio
@testable import Copying
@testable import Core

@Suite("Copying to a folder") struct CopyTests {
    @Test("a copy has every file and the same samples", arguments: AudioFormat.allCases)
    func completeCopy(format: AudioFormat) async throws {
        var setup = try await Setup(recordings: 2, seconds: 3.3)
        setup.audio = format
        let report = try await setup.copy()
        #expect(report.error == nil && report.copied.map(\.recording) == [1, 2] && report.keptCopies.isEmpty)
        #expect(report.copied[0].folder == "recorder/\(Setup.name(1))")
        #expect(setup.copies == [Setup.name(1), Setup.name(2)])
        #expect(setup.hasIntactCopies())
        let expected = [
            "SHA256SUMS", "audio.\(format.rawValue)", "history.json", "index.html", "labels.txt", "transcript.TextGrid",
            "transcript.csv",
            "transcript.eaf", "transcript.json", "transcript.srt", "transcript.txt", "transcript.vtt",
        ]
        #expect(Set(names("\(setup.exportFolder)/\(Setup.name(1))")) == Set(expected))
        #expect(
            names("\(setup.stick)/Fieldscribe") == ["index.html", "recorder", "RESULT.txt"].sorted()
                || Set(names("\(setup.stick)/Fieldscribe")) == ["index.html", "recorder", "RESULT.txt"])
        #expect(names(setup.exportFolder).count == 2, "no temporary folder remains")
        let entries = await setup.ledger.entries
        #expect(entries.map(\.folder) == report.copied.map(\.folder) && entries.allSatisfy { $0.volume == "ABCD-1234" })
        #expect(entries.allSatisfy { $0.pass == 3 * $0.recording }, "the pass whose transcript was copied")
        let sum = shell("sha256sum < '\(setup.exportFolder)/\(Setup.name(1))/SHA256SUMS'").output.prefix(64)
        #expect(entries[0].manifest == sum)
        let size = shell("cat '\(setup.exportFolder)/\(Setup.name(1))'/* | wc -c").output.filter { $0 != "\n" }
        #expect(String(report.copied[0].bytes) == size)
    }

    @Test("both channels are copied, verified, and recognized again", arguments: AudioFormat.allCases)
    func bothChannels(format: AudioFormat) async throws {
        var setup = try await Setup(recordings: 1, seconds: 3.3)
        setup.audio = format
        let path = setup.audioPath(1)
        #expect(
            shell("sox -R -n -r 16000 -b 16 -c 2 '\(path)' synth 3.3 pinknoise sine 440 gain -6")
                .status == 0)
        let report = try await setup.copy()
        #expect(report.error == nil && report.copied.map(\.recording) == [1])
        let copy = "\(setup.exportFolder)/\(Setup.name(1))/audio.\(format.rawValue)"
        #expect(shell("soxi -c '\(copy)'").output.hasPrefix("2"))
        let raw = { (file: String) in shell("sox '\(file)' -t raw - | sha256sum").output }
        #expect(raw(copy) == raw(path))
        #expect(
            shell("sox '\(copy)' -t raw - remix 1 | sha256sum").output
                != shell("sox '\(copy)' -t raw - remix 2 | sha256sum").output)
        #expect(try await setup.copy().copied.isEmpty)
        // A newer transcript keeps the waveform.
        func waveform() throws -> Substring? {
            try text("\(setup.exportFolder)/\(Setup.name(1))/index.html").firstRange(of: #/"peaks":"[0-9a-f]*"/#).map {
                try text("\(setup.exportFolder)/\(Setup.name(1))/index.html")[$0]
            }
        }
        let before = try #require(try waveform())
        await setup.put(1, seconds: 3.3, text: "one two three")
        #expect(try await setup.copy().copied.map(\.recording) == [1])
        #expect(try waveform() == before && before.count > 1_000)
        #expect(setup.hasIntactCopies())
    }

    @Test("the ledger lists exactly the passes whose complete transcript was copied")
    func listedPasses() async throws {
        try await Setup().expectCompletePasses()
    }

    @Test("a FLAC file passes flac's own test, and its tags describe the recording")
    func flacFile() async throws {
        let setup = try await Setup(seconds: 20)
        try await setup.copy()
        let path = "\(setup.exportFolder)/\(Setup.name(1))/audio.flac"
        #expect(shell("flac -t '\(path)'").status == 0)
        let tags = shell("metaflac --export-tags-to=- '\(path)'").output.lowercased()
        for tag in [
            "title=recording 1", "artist=recorder", "tracknumber=1", "date=2026-11-", "clock unverified",
            "stopped: button",
        ] {
            #expect(tags.contains(tag), "\(tags)")
        }
    }

    @Test("the page has the waveform, and the list has the transcript")
    func pages() async throws {
        let setup = try await Setup(recordings: 2)
        await setup.put(2, text: "a very particular </script> sentence")
        try await setup.copy()
        let page = try text("\(setup.exportFolder)/\(Setup.name(1))/index.html")
        let afterPeaks = try #require(page.split(separator: "\"peaks\":\"").last)
        let peaks = afterPeaks.prefix { $0 != "\"" }
        #expect(peaks.count == 2 * 1_200 && Set(peaks).count > 8)
        #expect(page.contains("src=\"./audio.flac\"") && page.contains("href=\"../../index.html\""))
        let index = try text("\(setup.stick)/Fieldscribe/index.html")
        #expect(index.contains("recorder/\(Setup.name(1))/index.html"))
        #expect(index.contains("particular \\u003c/script\\u003e sentence"))
        #expect(!index.contains("</script> sentence"))
    }

    @Test("the list can have more than 5,000 recordings")
    func longList() async throws {
        let setup = try await Setup()
        let created = shell(
            "cd '\(setup.stick)' && mkdir -p Fieldscribe/other && cd Fieldscribe/other && "
                + "mkdir $(seq -f '%06g_clock-unverified' 1 5200) && touch $(seq -f '%06g_clock-unverified/index.html' 1 5200)"
        )
        #expect(created.status == 0, "\(created.output)")
        try await setup.copy()
        let index = try text("\(setup.stick)/Fieldscribe/index.html")
        #expect(
            index.contains("<dd>5201 recordings</dd>") && index.contains("other/000001_clock-unverified/index.html"))
    }

    @Test("the list has the date of a recording with a title, if the clock was set")
    func titleAndDate() async throws {
        let setup = try await Setup()
        guard case (var summary, let timeline)? = await setup.archive.transcript(of: 1) else {
            Issue.record("recording 1 is missing")
            return
        }
        summary.clock = .synchronized
        await setup.archive.put(summary, timeline)
        var annotations = Annotations()
        annotations.title = "At the ford"
        await setup.annotate(1, annotations, pass: 2)
        try await setup.copy()
        let list = try text("\(setup.stick)/Fieldscribe/index.html")
        let date = CopyName(summary).title
        #expect(
            list.contains(">At the ford</a>\n<p class=\"about\"><span dir=\"auto\">\(date)</span>"), "\(date): \(list)")
    }

    @Test("another recording's copy with the same name is not mistaken for this recording's")
    func sameNameInOtherArchive() async throws {
        let setup = try await Setup()
        try await setup.copy()
        let other = try await Setup(recordings: 0, stick: setup.stick)
        try await other.record(1, seconds: 0.6)
        let report = try await other.copy()
        #expect(report.copied.map(\.folder) == ["recorder/\(Setup.name(1))_2"])
        // A recording with the same length and text, but different sound.
        let third = try await Setup(recordings: 0, stick: setup.stick)
        _ = shell("sox -n -r 16000 -b 16 -c 1 '\(third.audioPath(1))' synth 0.5 sine 440")
        await third.put(1, text: "one two")
        #expect(try await third.copy().copied.map(\.folder) == ["recorder/\(Setup.name(1))_3"])
    }

    @Test("if one recording fails, the others are copied")
    func failingRecording() async throws {
        let setup = try await Setup(recordings: 3)
        unlink(setup.audioPath(2))
        let report = try await setup.copy()
        #expect(report.copied.map(\.recording) == [1, 3])
        #expect(report.failures.map(\.recording) == [2] && report.error?.code == .missing)
        #expect(setup.hasIntactCopies() && setup.copies.count == 2)
        #expect(try text("\(setup.stick)/Fieldscribe/RESULT.txt").contains("NOT EVERYTHING WAS COPIED"))
        let error = await thrown { try await setup.copy([9]) }
        #expect(error?.code == .missing)
    }

    @Test("the list includes other recorders' copies, but no other folders")
    func otherRecorders() async throws {
        let setup = try await Setup()
        let top = "\(setup.stick)/Fieldscribe"
        for folder in [
            "other/000003_2026-01-02_03-04-05", "other/000004_x\\\"><script>", "Evil/000001_clock-unverified", "bad<b>",
        ] {
            #expect(shell("mkdir -p '\(top)/\(folder)' && touch '\(top)/\(folder)/index.html'").status == 0)
        }
        try await setup.copy()
        let index = try text("\(top)/index.html")
        #expect(
            index.contains("other/000003_2026-01-02_03-04-05/index.html") && index.contains("2 January 2026, 03:04"))
        #expect(!index.contains("000004") && !index.contains("Evil") && !index.contains("bad"))
    }

    @Test("a recording without words and one with unusual characters are copied")
    func unusualText() async throws {
        let setup = try await Setup(recordings: 2)
        await setup.put(1, text: "")
        await setup.put(2, text: "\u{202E}\"<&>' 👩‍🚀 \u{2028} שלום ;|$(x)`")
        #expect(try await setup.copy().error == nil)
        #expect(setup.hasIntactCopies() && setup.copies.count == 2)
    }
}

func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
}
