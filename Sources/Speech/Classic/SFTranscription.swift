import Core
import Foundation

/// A transcription of all speech so far.
public struct SFTranscription: Hashable, Sendable {
    /// The text, with spaces between the segments.
    public let formattedString: String
    /// The words, in chronological order.
    public let segments: [SFTranscriptionSegment]

    /// The speaking rate in words per minute, from the first to the last word of each utterance; 0 if the text of an
    /// utterance is not final.
    public let speakingRate: Double
    /// The mean pause between the words of an utterance, in seconds; 0 if the text of an utterance is not final.
    public let averagePauseDuration: TimeInterval
}

/// A word. If its utterance is not final, or if it is part of an alternative transcription, only its text is known.
public struct SFTranscriptionSegment: Hashable, Sendable {
    /// The word as the engine writes it, with its punctuation.
    public let substring: String
    /// The word's range in `formattedString`, in UTF-16 code units.
    public let substringRange: NSRange
    /// The word's start in seconds from the first sample; the start of its utterance if only the text is known.
    public let timestamp: TimeInterval
    /// The word's duration in seconds; 0 if only the text is known.
    public let duration: TimeInterval
    /// The probability, from 0 to 1, that the word is correct; 0 if only the text is known.
    public let confidence: Float
    /// The words that replace this word in alternative transcriptions of the utterance.
    public let alternativeSubstrings: [String]
    /// The voice in the word's utterance; nil if only the text is known or if nothing was voiced.
    public let voiceAnalytics: SFVoiceAnalytics?
}

/// Acoustic features of a voice.
///
/// Apple's features have a value for each frame; these have one value for a whole utterance or, in
/// ``SFSpeechRecognitionMetadata``, for all utterances.
public struct SFVoiceAnalytics: Hashable, Sendable {
    /// The variation in the pitch period, relative to the period.
    public let jitter: SFAcousticFeature
    /// The variation in the amplitude, relative to the amplitude.
    public let shimmer: SFAcousticFeature
    /// The pitch in Hz. Apple's value is the logarithm of the pitch relative to a reference.
    public let pitch: SFAcousticFeature
    /// The share of voiced frames, from 0 to 1.
    public let voicing: SFAcousticFeature
}

/// An acoustic feature. Its only frame is a whole utterance or, in ``SFSpeechRecognitionMetadata``, all utterances.
public struct SFAcousticFeature: Hashable, Sendable {
    /// The feature's value, as the only element.
    public let acousticFeatureValuePerFrame: [Double]
    /// The duration of a frame in seconds.
    public let frameDuration: TimeInterval
}

extension SFVoiceAnalytics {
    init(_ voice: VoiceAnalytics, seconds: Double) {
        func feature(_ value: Double) -> SFAcousticFeature {
            SFAcousticFeature(acousticFeatureValuePerFrame: [value], frameDuration: seconds)
        }
        jitter = feature(voice.jitter)
        shimmer = feature(voice.shimmer)
        pitch = feature(voice.pitch)
        voicing = feature(voice.voicing)
    }
}

/// The speaking rate, pauses and duration of speech.
public struct SFSpeechRecognitionMetadata: Hashable, Sendable {
    /// The speaking rate in words per minute, from the first to the last word of each utterance.
    public let speakingRate: Double
    /// The mean pause between the words of an utterance, in seconds.
    public let averagePauseDuration: TimeInterval
    /// The start of the first word, in seconds.
    public let speechStartTimestamp: TimeInterval
    /// The sum of the utterances' durations, each from its first to its last word, in seconds.
    public let speechDuration: TimeInterval
    /// The voice; nil if nothing was voiced.
    public let voiceAnalytics: SFVoiceAnalytics?
}

extension SFSpeechRecognitionMetadata {
    init?(_ segments: [Segment]) {
        guard let metadata = SpeechMetadata(of: segments) else { return nil }
        speakingRate = metadata.speakingRate
        averagePauseDuration = metadata.averagePause
        speechStartTimestamp = metadata.speechStart.seconds
        speechDuration = metadata.speechDuration
        voiceAnalytics = VoiceAnalytics(of: segments).map { SFVoiceAnalytics($0, seconds: metadata.speechDuration) }
    }
}
