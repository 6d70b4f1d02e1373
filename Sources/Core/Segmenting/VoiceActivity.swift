/// Detects speech by frame level, using a threshold with hysteresis, a start time and a hangover time.
package struct VoiceActivity: Sendable {
    enum Change: Hashable, Sendable {
        /// Speech began. `framesAgo` counts the frames since then, including the current one.
        case began(framesAgo: Int)
        /// Speech ended. `framesAgo` counts the quiet frames since then, including the current one.
        case ended(framesAgo: Int)
    }

    /// The minimum threshold in dBFS if it depends on the noise floor. The A/D converter's own noise is quieter.
    package static let minimumThreshold = -80.0

    private let settings: SpeechSettings
    private let startFrames: Int
    private let hangoverFrames: Int
    private var floor = NoiseFloor()
    /// The number of consecutive loud frames, with at most one dip between them.
    private var loudFrames = 0
    private var hasDipped = false

    private(set) var isSpeech = false
    /// The number of quiet frames since the last loud frame of ongoing speech; 0 if there is no speech.
    private(set) var quietFrames = 0

    init(settings: SpeechSettings) {
        self.settings = settings
        startFrames = SpeechSettings.frames(milliseconds: settings.startMilliseconds)
        hangoverFrames = SpeechSettings.frames(milliseconds: settings.hangoverMilliseconds)
    }

    /// The measured noise floor in dBFS.
    var noiseFloor: Double { floor.decibels }

    /// The level in dBFS above which a frame counts as speech.
    var threshold: Double {
        switch settings.threshold {
        case .aboveFloor(let decibels):
            max(floor.decibels + decibels + settings.sensitivity.decibels, Self.minimumThreshold)
        case .fixed(let decibels): decibels + settings.sensitivity.decibels
        }
    }

    /// Handles the level of the next frame in dBFS.
    mutating func handle(_ level: Double) -> Change? {
        floor.append(level)
        return isSpeech ? continueSpeech(level) : awaitSpeech(level)
    }

    /// Ends speech immediately, keeping the noise floor.
    mutating func interrupt() {
        isSpeech = false
        awaitLoudFrame()
        quietFrames = 0
    }

    private mutating func awaitSpeech(_ level: Double) -> Change? {
        if level > threshold {
            loudFrames += 1
        } else if loudFrames > 0, !hasDipped {
            hasDipped = true
        } else {
            awaitLoudFrame()
        }
        guard loudFrames >= startFrames else { return nil }
        let began = loudFrames + (hasDipped ? 1 : 0)
        isSpeech = true
        awaitLoudFrame()
        quietFrames = 0
        return .began(framesAgo: began)
    }

    private mutating func awaitLoudFrame() { (loudFrames, hasDipped) = (0, false) }

    private mutating func continueSpeech(_ level: Double) -> Change? {
        guard level <= threshold - SpeechSettings.hysteresisDecibels else {
            quietFrames = 0
            return nil
        }
        quietFrames += 1
        guard quietFrames >= hangoverFrames else { return nil }
        let ended = quietFrames
        interrupt()
        return .ended(framesAgo: ended)
    }
}
