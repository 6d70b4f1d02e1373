import Core
import Recognition

/// The constants that Moonshine transcribes with. The defaults are the constants for recordings.
struct Tuning: Hashable, Sendable {
    var profile = MoonshineProfile.live
    var speech = SpeechSettings()
    var groups = GroupSettings(maximumSeconds: MoonshineModel.maximumGroupSeconds)
    /// Whether the vocabulary is the list of `NamesBenchmark`.
    var hasNames = false
    /// Whether groups are recognized without stitching, and the features for confidence are returned with each word.
    var hasFeatures = false

    fileprivate static let names: Tuning = {
        var tuning = Tuning()
        tuning.hasNames = true
        return tuning
    }()
}

/// A constant, with the values that `benchmark folds` compares.
struct TunedConstant: Sendable {
    enum Sound: String { case speech, quiet, unpaused, withSoundless, withForeign }

    let name: String
    /// The values to compare, the simplest first.
    let values: [Double]
    /// The tuning to measure for each value.
    let tunings: [Tuning]
    /// The index of the value that is used today.
    let today: Int
    let sound: Sound

    /// The name of the constant for the number of confidence features, whose weights are fitted on the other folds.
    static let confidence = "confidence"

    private init(_ name: String, _ values: [Double], _ tunings: [Tuning], today: Int, _ sound: Sound = .speech) {
        (self.name, self.values, self.tunings, self.today, self.sound) = (name, values, tunings, today, sound)
    }

    /// - Parameters:
    ///   - simplest: the value that makes the constant superfluous, such as a value that disables a limit.
    ///   - others: further values; today's value is added if it is missing.
    ///   - set: sets the constant to a value.
    private init(
        _ name: String, simplest: Double, _ others: [Double], today: Double, _ sound: Sound = .speech,
        base: Tuning = Tuning(), set: (inout Tuning, Double) -> Void
    ) {
        let values = [simplest] + Set(others + [today]).subtracting([simplest]).sorted()
        let tunings = values.map { value in
            var tuning = base
            set(&tuning, value)
            return tuning
        }
        self.init(name, values, tunings, today: values.firstIndex(of: today) ?? 0, sound)
    }

    private init(
        _ name: String, _ path: WritableKeyPath<Tuning, Int>, simplest: Double, _ others: [Double],
        _ sound: Sound = .speech
    ) {
        self.init(name, simplest: simplest, others, today: Double(Tuning()[keyPath: path]), sound) {
            $0[keyPath: path] = Int($1)
        }
    }

    private init(
        _ name: String, _ path: WritableKeyPath<Tuning, Double>, simplest: Double, _ others: [Double],
        _ sound: Sound = .speech, base: Tuning = Tuning()
    ) {
        self.init(name, simplest: simplest, others, today: base[keyPath: path], sound, base: base) {
            $0[keyPath: path] = $1
        }
    }

    static let all: [TunedConstant] = {
        let defaultGate = SpeechGate()
        var withFeatures = Tuning()
        withFeatures.hasFeatures = true
        let features: [Double] = [1, 2, 3, 5]
        return [
            TunedConstant("group", \.groups.maximumSeconds, simplest: 0, [8, 10, 14, 16, 20]),
            // Disables the limit: a group is at most 12 s long, so it cannot contain a pause of 12 s.
            TunedConstant("gap", \.groups.maximumGapSeconds, simplest: 12, [1, 2, 5]),
            TunedConstant("padding", \.speech.paddingMilliseconds, simplest: 0, [100, 200, 300, 400, 500]),
            TunedConstant(
                "overlap", \.speech.overlapMilliseconds, simplest: 250, [750, 1_000, 1_500, 2_000, 3_000], .unpaused),
            TunedConstant("quiet-peak", \.profile.quietPeak, simplest: 0, [0.05, 0.2, 1], .quiet),
            TunedConstant("beam", \.profile.width, simplest: 1, [2, 3, 6, 8]),
            TunedConstant("vocabulary", \.profile.phraseWeight, simplest: 0, [1, 1.5, 2.5, 3], base: .names),
            TunedConstant("gate", simplest: 0, [], today: 1, .withSoundless) { if $1 == 0 { $0.profile.gate = .open } },
            TunedConstant("gate-usual", \.profile.gate.minEndOfUsual, simplest: 0, [-14, -10], .withSoundless),
            TunedConstant(
                "gate-tokens", \.profile.gate.minTokensPerSecond, simplest: 0, [0.5, 1], .withSoundless),
            TunedConstant("gate-repeats", \.profile.gate.maxRepeats, simplest: 1, [0.3, 0.5], .withSoundless),
            TunedConstant("gate-loop", \.profile.gate.maxShareOfLimit, simplest: 0, [0.5, 0.8], .withSoundless),
            TunedConstant("gate-entropy", \.profile.gate.entropyWeight, simplest: 0, [1, 2], .withSoundless),
            TunedConstant(
                "gate-end", \.profile.gate.maxEnd, simplest: .infinity, [-8.2, -6.2], .withSoundless),
            // The simplest value is the limit that applies to other texts.
            TunedConstant(
                "gate-short", \.profile.gate.maxEndOfShort, simplest: defaultGate.maxEnd, [-5], .withSoundless),
            TunedConstant(
                "gate-strange", \.profile.gate.maxEndOfStrange, simplest: defaultGate.maxEnd, [-10, -8],
                .withSoundless),
            TunedConstant(
                "gate-confidence", \.profile.gate.minConfidenceOfShort, simplest: 0, [0.05, 0.2],
                .withSoundless),
            TunedConstant(
                "gate-foreign", \.profile.gate.minMeanConfidence, simplest: 0, [0.4, 0.45, 0.55, 0.6, 0.65],
                .withForeign),
            TunedConstant(confidence, features, features.map { _ in withFeatures }, today: features.count - 1),
        ]
    }()
}

extension SpeechGate {
    /// A gate that rejects only texts without words.
    fileprivate static let open: SpeechGate = {
        var gate = SpeechGate()
        (gate.minEndOfUsual, gate.minTokensPerSecond, gate.maxRepeats) = (0, 0, 1)
        (gate.minConfidenceOfShort, gate.minMeanConfidence) = (0, 0)
        (gate.maxEnd, gate.maxEndOfShort, gate.maxEndOfStrange) = (.infinity, .infinity, .infinity)
        return gate
    }()
}
