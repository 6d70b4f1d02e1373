import Core

/// The text recognized so far.
public struct SFSpeechRecognitionResult: Hashable, Sendable {
    /// The most probable reading.
    public let bestTranscription: SFTranscription
    /// All readings, best first.
    public let transcriptions: [SFTranscription]
    /// Whether this is the last result of the task.
    public let isFinal: Bool
    /// How fast and how long somebody spoke; nil without words, and in partial results.
    public let speechRecognitionMetadata: SFSpeechRecognitionMetadata?
}

/// Collects the results of a task into cumulative ones.
struct RecognizedSpeech {
    private var segments: [Segment] = []
    /// The best reading of `segments`.
    private var best = Reading()
    private var volatile: (text: String, range: AudioTimeRange)?

    mutating func add(_ result: SpeechTranscriber.Result) {
        guard let segment = result.segment else {
            let text = String(result.text.characters)
            volatile = text.isEmpty ? nil : (text, result.range)
            return
        }
        volatile = nil
        segments.append(segment)
        best.append(segment.words.map { Spoken($0, segment) }, alternatives: Self.alternatives(of: segment))
    }

    func result(isFinal: Bool) -> SFSpeechRecognitionResult {
        let metadata = volatile == nil ? SFSpeechRecognitionMetadata(segments) : nil
        var best = best
        if let volatile { best.append(Spoken.words(of: volatile.text, start: volatile.range.start.seconds)) }
        let transcription = best.transcription(metadata)
        let count = volatile == nil ? segments.map(\.alternatives.count).max() ?? 0 : 0
        let others = (0..<(isFinal || segments.count == 1 ? count : 0)).map { other($0, metadata) }
        return SFSpeechRecognitionResult(
            bestTranscription: transcription, transcriptions: [transcription] + others, isFinal: isFinal,
            speechRecognitionMetadata: isFinal ? metadata : nil)
    }

    /// The reading with the alternatives of this rank, where an utterance has one.
    private func other(_ rank: Int, _ metadata: SFSpeechRecognitionMetadata?) -> SFTranscription {
        var reading = Reading()
        for segment in segments {
            reading.append(
                rank < segment.alternatives.count
                    ? Spoken.words(of: segment.alternatives[rank].text, start: segment.range.start.seconds)
                    : segment.words.map { Spoken($0, segment) })
        }
        return reading.transcription(metadata)
    }

    private struct Spoken {
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

        /// The words of a text without times.
        static func words(of text: String, start: Double) -> [Spoken] {
            text.split(separator: " ").map { Spoken(text: String($0), start: start) }
        }
    }

    /// A reading of the speech, word for word.
    private struct Reading {
        private var words: [SFTranscriptionSegment] = []
        private var text = ""
        /// The UTF-16 code units of `text`.
        private var length = 0

        mutating func append(_ spoken: [Spoken], alternatives: [[String]] = []) {
            for (index, word) in spoken.enumerated() {
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

    /// The other readings' counterparts of each word.
    private static func alternatives(of segment: Segment) -> [[String]] {
        let best = segment.words.map(\.text)
        var found = best.map { _ in [String]() }
        for alternative in segment.alternatives {
            let other = alternative.text.split(separator: " ").map(String.init)
            for case .substituted(let index, let replaced) in WordErrors.align(best, other)
            where !found[index].contains(other[replaced]) {
                found[index].append(other[replaced])
            }
        }
        return found
    }
}
