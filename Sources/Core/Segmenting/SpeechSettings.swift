/// Settings for detecting speech and cutting it into utterances.
package struct SpeechSettings: Hashable, Sendable {
    /// The level above which a frame counts as speech.
    package enum Threshold: Hashable, Sendable {
        /// Above the measured noise floor.
        case aboveFloor(decibels: Double)
        /// A fixed level in dBFS, for rooms in which the noise floor cannot be measured.
        case fixed(decibels: Double)
    }

    /// How easily sound counts as speech: `low` adds 4 dB to the threshold, `high` subtracts 3 dB.
    package enum Sensitivity: String, Sendable, CaseIterable {
        case low, medium, high

        var decibels: Double {
            switch self {
            case .low: 4
            case .medium: 0
            case .high: -3
            }
        }
    }

    package var sensitivity = Sensitivity.medium
    /// The default is 9 dB above the noise floor.
    package var threshold = Threshold.aboveFloor(decibels: 9)
    /// Speech continues down to this many decibels below the threshold.
    static let hysteresisDecibels = 3.0
    /// How long audio must stay above the threshold to count as speech. One frame below it is allowed. The default is 100,
    /// since knocks are shorter.
    package var startMilliseconds = 100
    /// How long silence must last to end speech. The default is 300.
    package var hangoverMilliseconds = 300
    /// How much audio before and after the speech is also passed to the recognizer. The default is 250.
    package var paddingMilliseconds = 250
    /// The age, 45 to 55, at which an utterance is rotated at the latest, that is, cut although speech continues. The
    /// default is 50.
    package var rotateSeconds = 50
    /// The minimum age of an utterance at a rotation.
    static let quietFromSeconds = 8
    /// The age up to which the segmenter looks for the quietest spot. After that, it uses the first quiet spot.
    static let quietUntilSeconds = 12
    /// How far below the utterance's mean level a spot must be to be quiet.
    static let quietDecibels = 6.0
    /// The length of the audio that the utterances before and after a rotation share, 250 to 750. The default is 500.
    package var overlapMilliseconds = 500

    /// The maximum length of an utterance's audio, at least 4; or 0 (the default) for no limit. If there is a limit,
    /// each utterance is rotated at the quietest spot in the last quarter of the limit; the ages and quiet level above do
    /// not apply.
    var maximumSeconds = 0

    package init() {}
}

extension SpeechSettings {
    /// The length of a frame: 20 ms.
    static let frameSamples = 320

    /// Returns the settings for a recognizer that decodes at most this many seconds at once; 0 for no limit.
    package func limited(toSeconds seconds: Int) -> SpeechSettings {
        var settings = self
        settings.maximumSeconds = seconds > 0 ? max(4, seconds) : 0
        return settings
    }

    /// Returns where to resume after an interruption. The cuts are then the same as without the interruption.
    ///
    /// - Parameters:
    ///   - committed: The end of the last segment.
    ///   - settled: The earliest possible start of the following speech.
    package func start(after committed: SamplePosition, settled: SamplePosition) -> SamplePosition {
        let frame = Int64(Self.frameSamples)
        let earliest = (committed.samples + frame - 1) / frame * frame
        let padded = (settled.samples - Self.samples(milliseconds: paddingMilliseconds)) / frame * frame
        return SamplePosition(max(earliest, padded))
    }

    static func frames(milliseconds: Int) -> Int { max(1, milliseconds / 20) }

    static func frames(seconds: Int) -> Int { seconds * 50 }

    static func samples(milliseconds: Int) -> Int64 { Int64(milliseconds) * Int64(SamplePosition.rate) / 1000 }
}
