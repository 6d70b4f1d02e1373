/// How speech is told from silence and cut into utterances. Values were measured on continuous read speech; see
/// Sources/README.md.
package struct SpeechSettings: Hashable, Sendable {
    /// When a frame counts as speech.
    package enum Threshold: Hashable, Sendable {
        /// So many decibels above the measured noise floor.
        case aboveFloor(decibels: Double)
        /// A fixed level in dBFS, for rooms where the floor cannot be measured.
        case fixed(decibels: Double)
    }

    /// How readily sound counts as speech: `low` asks for 4 dB more than the threshold, `high` for 3 dB less.
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

    /// How far below the threshold speech may fall without ending, in decibels. The default is 3.
    var hysteresisDecibels = 3.0

    /// Speech begins when it lasts this long. The default is 60.
    package var startMilliseconds = 60

    /// Speech ends when silence lasts this long. The default is 300.
    package var hangoverMilliseconds = 300

    /// Audio before and after the speech that the recognizer gets to hear. The default is 250.
    package var paddingMilliseconds = 250

    /// An utterance is rotated at the latest after this time, 45 to 55. The default is 50.
    package var rotateSeconds = 50

    /// From this age on an utterance that goes on is rotated where it is quiet. The default is 8.
    var quietFromSeconds = 8

    /// Until this age the quietest place is awaited; after it, the first quiet one is taken. The default is 12.
    var quietUntilSeconds = 12

    /// A place is quiet when it is this far below the utterance's mean level. The default is 6.
    var quietDecibels = 6.0

    /// Audio that both sides of a rotation get to hear, 250 to 750. The default is 500.
    package var overlapMilliseconds = 500

    /// No utterance's audio is longer, in seconds, 4 or more: one that goes on is rotated at the quietest place of the last
    /// quarter, however quiet that is; the ages and the level above do not count then. The default is 0: they do.
    var longestSeconds = 0

    package init() {}
}

extension SpeechSettings {
    /// Length of a frame: 20 ms, 320 samples.
    static let frameSamples = 320

    /// These settings for a recognizer that reads no more than so much at once; 0 for one that reads anything.
    package func limited(toSeconds seconds: Int) -> SpeechSettings {
        var settings = self
        settings.longestSeconds = seconds > 0 ? max(4, seconds) : 0
        return settings
    }

    /// Where to read on after a break, so that what follows is cut as it would have been without.
    ///
    /// - Parameters:
    ///   - committed: where the last segment ends.
    ///   - settled: where the speech may begin that follows; it is heard from a little earlier on.
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
