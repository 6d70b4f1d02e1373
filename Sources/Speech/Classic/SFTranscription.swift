import Core
import Foundation

/// A reading of all speech so far.
public struct SFTranscription: Hashable, Sendable {
    /// The text, with spaces between the segments.
    public let formattedString: String
    /// The words, in chronological order.
    public let segments: [SFTranscriptionSegment]

    /// Words per minute from the first word to the last of each utterance; 0 in partial results.
    public let speakingRate: Double
    /// The mean pause between words of an utterance, in seconds; 0 in partial results.
    public let averagePauseDuration: TimeInterval
}

/// A word.
public struct SFTranscriptionSegment: Hashable, Sendable {
    /// The word as the engine writes it, with its punctuation.
    public let substring: String
    /// Its range in `formattedString`, in UTF-16 code units.
    public let substringRange: NSRange
    /// When it begins, in seconds from the first sample. In partial results, when its utterance begins.
    public let timestamp: TimeInterval
    /// How long it lasts, in seconds; 0 in partial results.
    public let duration: TimeInterval
    /// From 0 to 1: how probably it is right; 0 in partial results.
    public let confidence: Float
    /// Its counterparts in other readings of the utterance.
    public let alternativeSubstrings: [String]
    /// How the voice sounded in the word's utterance; nil in partial results, and if nothing was voiced.
    public let voiceAnalytics: SFVoiceAnalytics?
}

/// How a voice sounded.
///
/// Apple has a value for each frame. Here, each feature has one value, for the whole utterance.
public struct SFVoiceAnalytics: Hashable, Sendable {
    /// The variation of the pitch period, relative to it.
    public let jitter: SFAcousticFeature
    /// The variation of the amplitude, relative to it.
    public let shimmer: SFAcousticFeature
    /// The pitch in Hz. Apple's is the logarithm of its ratio to a norm.
    public let pitch: SFAcousticFeature
    /// The share of frames that are voiced.
    public let voicing: SFAcousticFeature
}

/// A feature of a voice over time.
public struct SFAcousticFeature: Hashable, Sendable {
    /// The values.
    public let acousticFeatureValuePerFrame: [Double]
    /// The seconds for which a value holds.
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

/// How fast and how long somebody spoke.
public struct SFSpeechRecognitionMetadata: Hashable, Sendable {
    /// Words per minute.
    public let speakingRate: Double
    /// The mean pause between words, in seconds.
    public let averagePauseDuration: TimeInterval
    /// When the first word begins, in seconds.
    public let speechStartTimestamp: TimeInterval
    /// The seconds from the first word to the last.
    public let speechDuration: TimeInterval
    /// How the voice sounded; nil if nothing was voiced.
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
