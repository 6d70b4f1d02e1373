import Core

/// The text recognized so far.
public struct SFSpeechRecognitionResult: Hashable, Sendable {
    /// The most probable transcription.
    public let bestTranscription: SFTranscription
    /// All transcriptions, best first.
    public let transcriptions: [SFTranscription]
    /// Whether this is the task's last result.
    public let isFinal: Bool
    /// The speaking rate and other metadata; nil in partial results and if there are no words.
    public let speechRecognitionMetadata: SFSpeechRecognitionMetadata?
}

/// Combines a task's results into cumulative ones.
struct RecognizedSpeech {
    private var segments: [Segment] = []
    /// The best transcription of `segments`.
    private var best = Transcription()
    private var volatile: (text: String, range: AudioTimeRange)?

    mutating func add(_ result: SpeechTranscriber.Result) {
        guard let segment = result.segment else {
            let text = String(result.text.characters)
            volatile = text.isEmpty ? nil : (text, result.range)
            return
        }
        volatile = nil
        segments.append(segment)
        best.append(segment.words.map { TranscribedWord($0, segment) }, alternatives: Self.alternatives(of: segment))
    }

    func result(isFinal: Bool) -> SFSpeechRecognitionResult {
        let metadata = volatile == nil ? SFSpeechRecognitionMetadata(segments) : nil
        var best = best
        if let volatile { best.append(TranscribedWord.words(of: volatile.text, start: volatile.range.start.seconds)) }
        let transcription = best.transcription(metadata)
        let count = volatile == nil ? segments.map(\.alternatives.count).max() ?? 0 : 0
        let ranks = 0..<(isFinal || segments.count == 1 ? count : 0)
        let others = ranks.map { alternativeTranscription(rank: $0, metadata) }
        return SFSpeechRecognitionResult(
            bestTranscription: transcription, transcriptions: [transcription] + others, isFinal: isFinal,
            speechRecognitionMetadata: isFinal ? metadata : nil)
    }

    /// Joins the alternatives that have the given rank. Utterances without such an alternative keep their best text.
    private func alternativeTranscription(rank: Int, _ metadata: SFSpeechRecognitionMetadata?) -> SFTranscription {
        var transcription = Transcription()
        for segment in segments {
            transcription.append(
                rank < segment.alternatives.count
                    ? TranscribedWord.words(of: segment.alternatives[rank].text, start: segment.range.start.seconds)
                    : segment.words.map { TranscribedWord($0, segment) })
        }
        return transcription.transcription(metadata)
    }

    private struct TranscribedWord {
        var text: String
        var start: Double
        var duration = 0.0
        var confidence = 0.0
        var voice: SFVoiceAnalytics?

        init(text: String, start: Double) {
            self.text = text
            self.start = start
        }

        init(_ word: Word, _ segment: Segment) {
            self.init(text: word.text, start: word.range.start.seconds)
            duration = word.range.seconds
            confidence = word.confidence
            voice = segment.voice.map { SFVoiceAnalytics($0, seconds: segment.range.seconds) }
        }

        /// Splits a text without word times. All words get the same start.
        static func words(of text: String, start: Double) -> [TranscribedWord] {
            text.split(separator: " ").map { TranscribedWord(text: String($0), start: start) }
        }
    }

    /// A transcription that grows word by word.
    private struct Transcription {
        private var words: [SFTranscriptionSegment] = []
        private var text = ""
        /// The length of `text` in UTF-16 code units.
        private var length = 0

        mutating func append(_ newWords: [TranscribedWord], alternatives: [[String]] = []) {
            for (index, word) in newWords.enumerated() {
                if !text.isEmpty {
                    text += " "
                    length += 1
                }
                let count = word.text.utf16.count
                words.append(
                    SFTranscriptionSegment(
                        substring: word.text, substringRange: .init(location: length, length: count),
                        timestamp: word.start, duration: word.duration, confidence: Float(word.confidence),
                        alternativeSubstrings: index < alternatives.count ? alternatives[index] : [],
                        voiceAnalytics: word.voice))
                text += word.text
                length += count
            }
        }

        func transcription(_ metadata: SFSpeechRecognitionMetadata?) -> SFTranscription {
            SFTranscription(
                formattedString: text, segments: words, speakingRate: metadata?.speakingRate ?? 0,
                averagePauseDuration: metadata?.averagePauseDuration ?? 0)
        }
    }

    /// Returns, for each word, the words that replace it in the segment's alternatives.
    private static func alternatives(of segment: Segment) -> [[String]] {
        let best = segment.words.map(\.text)
        var substitutes = best.map { _ in [String]() }
        for alternative in segment.alternatives {
            let other = alternative.text.split(separator: " ").map(String.init)
            for case .substituted(let index, let otherIndex) in WordErrors.align(best, other)
            where !substitutes[index].contains(other[otherIndex]) {
                substitutes[index].append(other[otherIndex])
            }
        }
        return substitutes
    }
}
