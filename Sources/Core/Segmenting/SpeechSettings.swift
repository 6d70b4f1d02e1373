/// Settings for detecting speech and cutting it into utterances. Values were measured on continuous read speech; see
/// Sources/README.md.
package struct SpeechSettings: Hashable, Sendable {
    /// The level from which a frame counts as speech.
    package enum Threshold: Hashable, Sendable {
        /// Above the measured noise floor.
        case aboveFloor(decibels: Double)
        /// A fixed level in dBFS, for rooms where the floor cannot be measured.
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

    /// The default is medium.
    package var sensitivity = Sensitivity.medium
    /// The default is 9 dB above the noise floor.
    package var threshold = Threshold.aboveFloor(decibels: 9)
    /// How far below the threshold speech continues, in decibels.
    static let hysteresisDecibels = 3.0
    /// Speech begins when it lasts this long, with at most one dip of a frame. The default is 100: knocks are shorter.
    package var startMilliseconds = 100
    /// Speech ends when silence lasts this long. The default is 300.
    package var hangoverMilliseconds = 300
    /// Audio before and after the speech that the recognizer gets. The default is 250.
    package var paddingMilliseconds = 250
    /// An utterance is rotated after this time at the latest, 45 to 55. The default is 50.
    package var rotateSeconds = 50
    /// The age from which an utterance is rotated at a quiet place.
    static let quietFromSeconds = 8
    /// The age until which the quietest place is sought; then the first quiet one is used.
    static let quietUntilSeconds = 12
    /// A place is quiet when it is this far below the utterance's mean level.
    static let quietDecibels = 6.0
    /// Audio that both sides of a rotation get, 250 to 750. The default is 500.
    package var overlapMilliseconds = 500

    /// The longest utterance's audio in seconds, 4 or more: it is rotated at the quietest place of the last quarter,
    /// and the ages and the level above do not apply. The default is 0: no limit.
    var longestSeconds = 0

    package init() {}
}

extension SpeechSettings {
    /// Length of a frame: 20 ms, 320 samples.
    static let frameSamples = 320

    /// Returns the settings for a recognizer that reads at most this many seconds at once; 0: no limit.
    package func limited(toSeconds seconds: Int) -> SpeechSettings {
        var settings = self
        settings.longestSeconds = seconds > 0 ? max(4, seconds) : 0
        return settings
    }

    /// Returns where to resume after an interruption, so that cuts stay the same.
    ///
    /// - Parameters:
    ///   - committed: The end of the last segment.
    ///   - settled: The earliest start of the following speech.
    package func start(behind committed: SamplePosition, settled: SamplePosition) -> SamplePosition {
        let frame = Int64(Self.frameSamples)
        let earliest = (committed.samples + frame - 1) / frame * frame
        let padded = (settled.samples - Self.samples(milliseconds: paddingMilliseconds)) / frame * frame
        return SamplePosition(max(earliest, padded))
    }

    static func frames(milliseconds: Int) -> Int { max(1, milliseconds / 20) }

    static func frames(seconds: Int) -> Int { seconds * 50 }

    static func samples(milliseconds: Int) -> Int64 { Int64(milliseconds) * Int64(SamplePosition.rate) / 1000 }
}
