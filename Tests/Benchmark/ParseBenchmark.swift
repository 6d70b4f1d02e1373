import Core
import Glibc
import System
import TestKit
import Transcripts

/// Measures the CPU time and memory for parsing corrections: 1 and 10 MB of each format, and of hostile input.
struct ParseBenchmark {
    private static let sizes = [1, 10]

    /// Measures each kind and size of text in its own process, so that none can reuse memory that another freed.
    func run() throws {
        var table = Table(["parse"] + Self.sizes.flatMap { ["\($0) MB, s of CPU", "memory, MB", "result"] })
        let answer = "/tmp/fieldscribe-parse-\(getpid())"
        defer { unlink(answer) }
        for kind in ParsedText.allCases {
            var cells = [kind.rawValue]
            for size in Self.sizes {
                let cost = try MeasuredProcess(
                    ["/proc/self/exe", "parse-case", kind.rawValue, "\(size)"], output: answer)
                guard cost.status == 0 else {
                    throw DeviceError(
                        .failed, "benchmark", "\(kind.rawValue), \(size) MB: failed with status \(cost.status)")
                }
                let results = MeasuredProcess.text(answer).split(separator: "\t", maxSplits: 2).map(String.init)
                cells += results + [String](repeating: "", count: max(0, 3 - results.count))
            }
            table.add(cells)
        }
        print(table.markdown)
    }

    /// Parses one text in the child process, and prints the CPU seconds, the additional megabytes and the result.
    static func runCase(_ arguments: ArraySlice<String>) {
        guard let kind = arguments.first.flatMap(ParsedText.init(rawValue:)),
            let size = arguments.last.flatMap({ Int($0) })
        else {
            exit(2)
        }
        let timeline = kind.timeline(megabytes: size)
        let bytes = kind.bytes(megabytes: size, of: timeline)
        let before = MeasuredProcess.megabytes("VmRSS", in: "/proc/self/status")
        // Resets the peak memory, VmHWM (see clear_refs in proc(5)).
        let file = open("/proc/self/clear_refs", O_WRONLY)
        _ = write(file, "5", 1)
        close(file)
        let start = MonotonicClock.processSeconds
        let outcome = parse(bytes, kind, over: timeline)
        let seconds = MonotonicClock.processSeconds - start
        let megabytes = MeasuredProcess.megabytes("VmHWM", in: "/proc/self/status") - before
        print("\(formatted(seconds, 2))\t\(formatted(max(0, megabytes), 0))\t\(outcome)", terminator: "")
    }

    /// Parses a text like an import; returns a short description of the result.
    private static func parse(_ bytes: [UInt8], _ kind: ParsedText, over timeline: Timeline) -> String {
        do throws(DeviceError) {
            let text = try incomingText(bytes, name: "file")
            let capacity = RecordingCapacity(timeline.length)
            guard kind.fileExtension != "json" else {
                let file = try CorrectionsFile(text, name: "file")
                return capacity.excess(of: file) ?? "\(file.edits.count) lines"
            }
            if let excess = capacity.excess(bytes: bytes.count, fileExtension: kind.fileExtension) { return excess }
            let edited = try EditedTranscript(text, fileExtension: kind.fileExtension, name: "file")
            if let excess = capacity.excess(of: edited) { return excess }
            let corrected = CorrectedText(edited, over: timeline)
            return corrected.wordCount == 0 ? "has no words" : "\(corrected.changedLineCount) lines corrected"
        } catch { return error.reason }
    }
}

/// A kind of input; the raw value is its label in the table.
private enum ParsedText: String, CaseIterable {
    case txt, srt, vtt, csv, textgrid, eaf, corrections
    case brackets = "txt of ["
    case combining = "txt of combining marks"
    case nul = "txt of NUL"
    case words = "txt of one word"
    case everyWord = "srt, every word changed"
    case tags = "srt of <"
    case quotes = "csv of quotes"
    case elements = "eaf of elements"
    case array = "json with an unexpected array"
    case quotations = "json of quotations"
    case numbers = "json of extreme numbers"
    case escapes = "json of escapes"

    private static let audioDigest = String(repeating: "0123456789abcdef", count: 4)
    private static let vocabulary = (0..<4_000).map { "word\($0)" }

    var fileExtension: String {
        switch self {
        case .txt, .brackets, .combining, .nul, .words: "txt"
        case .srt, .everyWord, .tags: "srt"
        case .vtt: "vtt"
        case .csv, .quotes: "csv"
        case .textgrid: "textgrid"
        case .eaf, .elements: "eaf"
        case .corrections, .array, .quotations, .numbers, .escapes: "json"
        }
    }

    /// Returns a transcript whose text in this format has about this size. For hostile input, the recording is a
    /// hundred hours long, because the parser rejects input that is too large for the recording.
    func timeline(megabytes: Int) -> Timeline {
        let sizes = ["txt": 9, "srt": 13, "vtt": 13, "csv": 60, "textgrid": 230, "eaf": 450, "json": 20]
        let bytesPerWord = sizes[fileExtension] ?? 9
        let isWellFormed = isWellFormed
        let count = isWellFormed ? megabytes * 1_000_000 / bytesPerWord : 10_000
        var random = SeededGenerator(seed: 1)
        let segments = (0..<max(1, count / 10)).map { index in
            let words = (0..<10).map { position in
                let start = SamplePosition(seconds: Double(index) * 5 + Double(position) * 0.4)
                return Word(
                    Self.vocabulary[Int(random.next() % UInt64(Self.vocabulary.count))],
                    SampleRange(start, start + 6_000),
                    confidence: 0.5)
            }
            let start = SamplePosition(seconds: Double(index) * 5)
            return Segment(id: index + 1, range: SampleRange(start, start + 70_000), words: words, endedBy: .silence)
        }
        let length = isWellFormed ? Double(segments.count) * 5 : 360_000
        return Timeline(
            name: "1", length: SamplePosition(seconds: length),
            engine: EngineDescription(name: "x", version: "", model: ""), segments: segments)
    }

    private var isWellFormed: Bool {
        [.txt, .srt, .vtt, .csv, .textgrid, .eaf, .corrections, .everyWord].contains(self)
    }

    func bytes(megabytes: Int, of timeline: Timeline) -> [UInt8] {
        let size = megabytes * 1_000_000
        let repeated = { (part: String) in
            [UInt8](String(repeating: part, count: size / part.utf8.count).utf8)
        }
        switch self {
        case .txt, .srt, .vtt, .csv, .textgrid, .eaf:
            let format = TranscriptFormat(rawValue: self == .txt ? "text" : rawValue) ?? .text
            let text = (try? format.render(timeline)) ?? ""
            // Changes about one word in four hundred.
            return Array(text.utf8).replacingEnds(of: "word77")
        case .everyWord:
            return Array((try? TranscriptFormat.srt.render(timeline))?.utf8 ?? "".utf8).replacingEnds(of: "word")
        case .corrections:
            let edits = timeline.segments.map { segment in
                CorrectionsFile.Edit(
                    segment: segment.id, was: segment.words.map(\.text), words: segment.words.map { $0.text + "s" },
                    confirmed: [1])
            }
            return page(
                edits.map { edit in
                    #"{"id":\#(edit.segment),"was":"\#(edit.was.joined(separator: " "))","text":"\#(edit.words.joined(separator: " "))"}"#
                }.joined(separator: ","))
        case .brackets: return repeated("[")
        case .combining: return repeated("\u{301}")
        case .nul: return repeated("\0")
        case .words: return repeated("word ")
        case .tags: return Array("1\n00:00:01,000 --> 00:00:02,000\n".utf8) + repeated("<i ")
        case .quotes: return Array("kind,text\n".utf8) + repeated("\"\"\"\",")
        case .elements:
            return Array("<ANNOTATION_DOCUMENT>".utf8) + repeated("<a b='&lt;'/>")
                + Array("</ANNOTATION_DOCUMENT>".utf8)
        case .array: return page("", more: ",\"x\":[" + String(decoding: repeated("1,"), as: UTF8.self) + "1]")
        case .quotations:
            let item = #"{"start":1,"end":2,"text":"a","word":"b","colour":"c"}"#
            let items = String(decoding: repeated(item + ","), as: UTF8.self)
            return page("", more: ",\"quotations\":[" + items + item + "]")
        case .numbers:
            let note = #"{"time":-1.7976931348623157e308,"text":"a"}"#
            return page("", more: ",\"notes\":[" + String(decoding: repeated(note + ","), as: UTF8.self) + note + "]")
        case .escapes:
            return page(#"{"id":1,"was":"a","text":""# + String(decoding: repeated("\\u00e9"), as: UTF8.self) + "\"}")
        }
    }

    private func page(_ segments: String, more: String = "") -> [UInt8] {
        Array(
            """
            {"format":"fieldscribe-corrections","version":1,"recording":{"id":1,"sound":"\(Self.audioDigest)"},
            "editor":{"name":"a","saved":1},"segments":[\(segments)]\(more)}
            """.utf8)
    }
}

extension [UInt8] {
    /// Returns the bytes with the last byte of each occurrence of a text replaced by `x`.
    fileprivate func replacingEnds(of text: String) -> [UInt8] {
        let pattern = Array(text.utf8)
        var bytes = self
        var index = 0
        while index + pattern.count < bytes.count {
            if bytes[index] == pattern[0], bytes[index..<index + pattern.count].elementsEqual(pattern) {
                bytes[index + pattern.count - 1] = UInt8(ascii: "x")
                index += pattern.count
            }
            index += 1
        }
        return bytes
    }
}
