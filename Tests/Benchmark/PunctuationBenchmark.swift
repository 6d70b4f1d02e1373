import Core
import Recognition
import TestKit
import Transcripts

/// Measures whether full stops match the ends of a reader's sentences. Only the reference texts of group `lj` have full
/// stops.
///
/// The files of that group were cut at the reader's pauses, which are lost. So this benchmark adds 0.5 s of silence
/// after each file, whether or not a sentence ends there.
struct PunctuationBenchmark {
    private static let group = "lj_LJ001"
    /// The baseline: a full stop after each pause of at least this many seconds.
    private static let pause = 0.5

    let harness: Harness
    let corpus: Corpus

    func run() throws {
        let items = corpus.items.filter { $0.name.hasPrefix(Self.group) }.sorted { $0.name < $1.name }
        let (path, silence) = ("\(harness.folder)/reader.wav", "\(harness.folder)/silence.wav")
        try writeSilence(seconds: Self.pause, to: silence)
        try sox(items.flatMap { [$0.path, silence] } + [path])
        var table = Table(
            "pass", "candidates", "sentence ends", "found", "wrong", "without pitch: found", "wrong",
            "from pauses alone: found", "wrong")
        let sentences = try SentenceModel(path: PocketSphinxModel(folder: PocketSphinxModel.debian).languageModel)
        for profile in ["live", "final"] {
            let transcripts = try harness.transcribe([path], profile: profile, into: "sentences-\(profile)").transcripts
            guard let timeline = transcripts["reader"].map(Self.timeline) else { continue }
            let ends = Self.ends(items.map(\.text), in: timeline)
            let boundaries = Punctuator.boundaries(of: timeline) { sentences.logOdds(before: $0, after: $1) }
            let predicted = boundaries.filter { $0.score > 0 }.map(\.word)
            let withoutPitch = boundaries.filter {
                Punctuator.Boundary(word: $0.word, pauseSeconds: $0.pauseSeconds, logOdds: $0.logOdds).score > 0
            }.map(\.word)
            let afterPauses = boundaries.filter { $0.pauseSeconds >= Self.pause }.map(\.word)
            table.add(
                [profile, "\(boundaries.count)", "\(ends.count)"]
                    + [predicted, withoutPitch, afterPauses].flatMap { words in
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

    /// Returns the indices of the recognized words at the ends of the texts' sentences, except the last recognized
    /// word. Omits sentences whose last word is missing from the transcript.
    private static func ends(_ texts: [String], in timeline: Timeline) -> Swift.Set<Int> {
        var reference: [String] = []
        var stops: Swift.Set<Int> = []
        for token in texts.joined(separator: " ").split(separator: " ") {
            reference += WordErrorRate.normalized(String(token))
            if let last = token.last(where: { $0 != "\"" }), ".?!".contains(last) { stops.insert(reference.count - 1) }
        }
        let recognizedWords = timeline.segments.flatMap(\.words).enumerated().flatMap { index, word in
            WordErrorRate.normalized(word.text).map { (text: $0, word: index) }
        }
        var ends: Swift.Set<Int> = []
        for step in WordErrorRate.align(reference, recognizedWords.map(\.text)) {
            switch step {
            case .same(let word, let index), .substituted(let word, let index):
                if stops.contains(word) { ends.insert(recognizedWords[index].word) }
            case .deleted, .inserted: break
            }
        }
        return ends.filter { $0 < (recognizedWords.last?.word ?? 0) }
    }
}
