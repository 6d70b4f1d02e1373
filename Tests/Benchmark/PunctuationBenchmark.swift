import Core
import Recognition
import TestKit
import Transcripts

/// Whether full stops match the ends of a reader's sentences. Only the texts of group `lj` have any.
///
/// Its files are cut at the reader's pauses, and lack them. Here each file is followed by 0.5 s of silence, whether or
/// not a sentence ends there.
struct PunctuationBenchmark {
    private static let group = "lj_LJ001"
    /// The baseline: a full stop after each pause of this many seconds.
    private static let pause = 0.5

    let workshop: Workshop
    let corpus: Corpus

    func run() throws {
        let items = corpus.items.filter { $0.name.hasPrefix(Self.group) }.sorted { $0.name < $1.name }
        let (path, silence) = ("\(workshop.folder)/reader.wav", "\(workshop.folder)/silence.wav")
        try writeSilence(seconds: Self.pause, to: silence)
        try sox(items.flatMap { [$0.path, silence] } + [path])
        var table = Table(
            "pass", "places", "sentence ends", "found", "wrong", "without pitch: found", "wrong",
            "by pauses alone: found", "wrong")
        let sentences = try SentenceModel(path: PocketSphinxModel(folder: PocketSphinxModel.debian).languageModel)
        for profile in ["live", "final"] {
            let read = try workshop.transcribe([path], profile: profile, into: "sentences-\(profile)").transcripts
            guard let timeline = read["reader"].map(Self.timeline) else { continue }
            let ends = Self.ends(items.map(\.text), in: timeline)
            let boundaries = Punctuator.boundaries(of: timeline) { sentences.odds(before: $0, after: $1) }
            let chosen = boundaries.filter { $0.score > 0 }.map(\.word)
            let deaf = boundaries.filter {
                Punctuator.Boundary(word: $0.word, pauseSeconds: $0.pauseSeconds, odds: $0.odds).score > 0
            }.map(\.word)
            let paused = boundaries.filter { $0.pauseSeconds >= Self.pause }.map(\.word)
            table.add(
                [profile, "\(boundaries.count)", "\(ends.count)"]
                    + [chosen, deaf, paused].flatMap { words in
                        let found = words.count { ends.contains($0) }
                        return ["\(found)", "\(words.count - found)"]
                    })
        }
        print("\n\(table.markdown)")
    }

    private static func timeline(_ file: TranscriptFile) -> Timeline {
        Timeline(
            name: "reader", length: SamplePosition(seconds: file.duration),
            engine: EngineDescription(name: "", version: "", model: ""),
            segments: file.segments.enumerated().map { index, segment in
                func range(_ start: Double, _ end: Double) -> SampleRange {
                    SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end))
                }
                return Segment(
                    id: index + 1, range: range(segment.start, segment.end),
                    words: segment.words.map { Word($0.text, range($0.start, $0.end), confidence: $0.confidence) },
                    endedBy: segment.endedBy,
                    voice: segment.voice)
            })
    }

    /// Returns the indices of the recognized words that end sentences of the text, without the last one. Ends whose
    /// words were not recognized are missing.
    private static func ends(_ texts: [String], in timeline: Timeline) -> Swift.Set<Int> {
        var reference: [String] = []
        var stops: Swift.Set<Int> = []
        for token in texts.joined(separator: " ").split(separator: " ") {
            reference += WordErrorRate.normalized(String(token))
            if let last = token.last(where: { $0 != "\"" }), ".?!".contains(last) { stops.insert(reference.count - 1) }
        }
        let heard = timeline.segments.flatMap(\.words).enumerated().flatMap { index, word in
            WordErrorRate.normalized(word.text).map { (text: $0, word: index) }
        }
        var ends: Swift.Set<Int> = []
        for step in WordErrorRate.align(reference, heard.map(\.text)) {
            switch step {
            case .same(let word, let other), .substituted(let word, let other):
                if stops.contains(word) { ends.insert(heard[other].word) }
            case .deleted, .inserted: break
            }
        }
        return ends.filter { $0 < (heard.last?.word ?? 0) }
    }
}
