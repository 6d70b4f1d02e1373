/// Frame levels in, speech or silence out: a threshold with hysteresis, a start time and a hangover.
package struct VoiceActivity: Sendable {
    /// What a frame changed.
    enum Change: Hashable, Sendable {
        /// Speech is going on; it began so many frames ago, this frame included.
        case began(framesAgo: Int)
        /// Speech has ended; its last frame was so many frames ago.
        case ended(framesAgo: Int)
    }

    /// No speech below this level: under it lies the noise of the converter itself.
    package static let lowestThreshold = -80.0

    private let settings: SpeechSettings
    private let startFrames: Int
    private let hangoverFrames: Int
    private var floor = NoiseFloor()
    private var loudFrames = 0

    /// Whether speech is going on.
    private(set) var isSpeech = false

    /// Frames since the last one above the threshold; 0 while speaking.
    private(set) var quietFrames = 0

    /// Silence, before the first frame.
    init(settings: SpeechSettings) {
        self.settings = settings
        startFrames = SpeechSettings.frames(milliseconds: settings.startMilliseconds)
        hangoverFrames = SpeechSettings.frames(milliseconds: settings.hangoverMilliseconds)
    }

    /// The measured noise floor in dBFS.
    var noiseFloor: Double { floor.decibels }

    /// The level in dBFS from which a frame counts as speech now.
    var threshold: Double {
        switch settings.threshold {
        case .aboveFloor(let decibels):
            max(floor.decibels + decibels + settings.sensitivity.decibels, Self.lowestThreshold)
        case .fixed(let decibels): decibels + settings.sensitivity.decibels
        }
    }

    /// Takes the level of the next frame in dBFS.
    mutating func handle(_ level: Double) -> Change? {
        floor.take(level)
        return isSpeech ? continueSpeech(level) : awaitSpeech(level)
    }

    /// Ends speech at once, as if silence had been heard; what was learnt of the room stays.
    mutating func interrupt() {
        isSpeech = false
        loudFrames = 0
        quietFrames = 0
    }

    private mutating func awaitSpeech(_ level: Double) -> Change? {
        loudFrames = level > threshold ? loudFrames + 1 : 0
        guard loudFrames >= startFrames else { return nil }
        let began = loudFrames
        isSpeech = true
        loudFrames = 0
        quietFrames = 0
        return .began(framesAgo: began)
    }

    private mutating func continueSpeech(_ level: Double) -> Change? {
        guard level <= threshold - settings.hysteresisDecibels else {
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
