/// Finds where to cut a long utterance by the levels of its frames.
struct RotationSearch: Sendable {
    /// The number of frames in a quiet spot: 200 ms.
    private static let window = 10
    /// The number of frames, 5 s, to search when the maximum length is reached.
    private static let lastResort = 250

    // An utterance's age is the length of its audio in frames.
    /// The minimum age at which to cut.
    private let from: Int
    /// The age up to which the quietest spot is searched for.
    private let until: Int
    /// The age at which the utterance is cut even if there is no quiet spot.
    private let latest: Int
    /// The minimum number of frames of audio after a cut.
    private let lag: Int
    /// Whether to cut at the quietest spot, however loud, so that neither side's audio gets too long.
    private let isLimited: Bool
    private var levels: [Double] = []
    private var total = 0.0
    /// The number of frames of audio before the first level.
    private var head = 0
    private var hasSearchedFirstRange = false

    init(settings: SpeechSettings) {
        isLimited = settings.maximumSeconds > 0
        if isLimited {
            let maximum = SpeechSettings.frames(seconds: settings.maximumSeconds)
            from = maximum * 3 / 4
            // The audio may begin in the middle of a frame.
            until = maximum - 1
            latest = until
        } else {
            from = SpeechSettings.frames(seconds: SpeechSettings.quietFromSeconds)
            until = SpeechSettings.frames(seconds: SpeechSettings.quietUntilSeconds)
            latest = SpeechSettings.frames(seconds: settings.rotateSeconds)
        }
        // There must be enough audio after the cut for half of the overlap and half of the window.
        lag = max(SpeechSettings.frames(milliseconds: settings.overlapMilliseconds / 2 + 19), Self.window / 2)
        levels.reserveCapacity(latest + 1)
    }

    /// Starts an utterance that already has `age` frames of audio.
    mutating func restart(age: Int) {
        levels.removeAll(keepingCapacity: true)
        total = 0
        head = age
        hasSearchedFirstRange = false
    }

    mutating func append(_ level: Double) {
        levels.append(level)
        total += level
    }

    /// The lowest age at which the cut may be.
    var earliest: Int {
        if isLimited {
            let frame = quietest(from: from - head, through: min(levels.count - lag, until - lag - head))?.frame ?? 0
            return min(max(from, head + frame), until - lag)
        }
        let newest = levels.count - lag
        // Before the first range has been searched, the cut will be at the quietest spot so far or at a quieter, later
        // one.
        let frame = hasSearchedFirstRange ? newest : quietest(from: from - head, through: newest)?.frame ?? 0
        return min(max(from, head + frame), latest - Self.lastResort)
    }

    /// Returns where to cut, in frames before the end of the last frame; nil if the utterance continues.
    mutating func cut() -> Int? {
        let age = head + levels.count
        guard age >= until, !levels.isEmpty else { return nil }
        if isLimited {
            let last = until - lag - head
            return levels.count - (quietest(from: from - head, through: last)?.frame ?? max(0, min(levels.count, last)))
        }
        let quiet = total / Double(levels.count) - SpeechSettings.quietDecibels
        // Frames after `latest` do not move the cut, so that the audio does not get longer.
        let newest = min(levels.count - lag, latest - lag - head)
        let oldest = hasSearchedFirstRange ? newest : from - head
        hasSearchedFirstRange = true
        if let spot = quietest(from: oldest, through: newest), spot.level <= quiet {
            return levels.count - spot.frame
        }
        guard age >= latest else { return nil }
        return quietest(from: newest - Self.lastResort + lag, through: newest).map { levels.count - $0.frame }
    }

    /// Returns the middle frame of the quietest window whose middle is in the range.
    private func quietest(from first: Int, through last: Int) -> (frame: Int, level: Double)? {
        let half = Self.window / 2
        let range = max(half, first)...max(half, first, min(last, levels.count - half))
        guard last >= half, last >= first, range.upperBound + half <= levels.count else { return nil }
        var best: (frame: Int, level: Double)?
        for middle in range {
            let level = levels[(middle - half)..<(middle + half)].reduce(0, +) / Double(Self.window)
            if level < best?.level ?? .infinity { best = (middle, level) }
        }
        return best
    }
}
