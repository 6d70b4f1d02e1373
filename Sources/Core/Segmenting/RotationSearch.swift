/// Finds where a long utterance can be cut.
///
/// Stores the levels of the utterance's frames, at most as many as the longest utterance has.
struct RotationSearch: Sendable {
    /// Frames of a quiet place: 200 ms.
    private static let window = 10
    /// When the time is up, it cuts at the quietest place of the last 5 s.
    private static let lastResort = 250

    private let from: Int
    private let until: Int
    private let latest: Int
    private let lag: Int
    /// Whether to cut at the quietest place, however loud, so that neither side's audio gets too long.
    private let isLimited: Bool
    private var levels: [Double] = []
    private var total = 0.0
    /// Frames of audio before the first level.
    private var head = 0
    private var hasSwept = false

    init(settings: SpeechSettings) {
        isLimited = settings.longestSeconds > 0
        if isLimited {
            let longest = SpeechSettings.frames(seconds: settings.longestSeconds)
            from = longest * 3 / 4
            // The audio may begin within a frame.
            until = longest - 1
            latest = until
        } else {
            from = SpeechSettings.frames(seconds: SpeechSettings.quietFromSeconds)
            until = SpeechSettings.frames(seconds: SpeechSettings.quietUntilSeconds)
            latest = SpeechSettings.frames(seconds: settings.rotateSeconds)
        }
        // Both sides of the cut must be known: half of the overlap, and half of the window.
        lag = max(SpeechSettings.frames(milliseconds: settings.overlapMilliseconds / 2 + 19), Self.window / 2)
        levels.reserveCapacity(latest + 1)
    }

    /// Starts an utterance that has `age` frames of audio already.
    mutating func restart(age: Int) {
        levels.removeAll(keepingCapacity: true)
        total = 0
        head = age
        hasSwept = false
    }

    mutating func append(_ level: Double) {
        levels.append(level)
        total += level
    }

    /// The age in frames before which the utterance will not be cut.
    var earliest: Int {
        if isLimited {
            let place = quietest(from: from - head, through: min(levels.count - lag, until - lag - head))?.frame ?? 0
            return min(max(from, head + place), until - lag)
        }
        let newest = levels.count - lag
        // Before the sweep: the quietest place so far, or a quieter one to come.
        let place = hasSwept ? newest : quietest(from: from - head, through: newest)?.frame ?? 0
        return min(max(from, head + place), latest - Self.lastResort)
    }

    /// Returns where to cut, in frames before the last one's end; nil if the utterance continues.
    mutating func cut() -> Int? {
        let age = head + levels.count
        guard age >= until, !levels.isEmpty else { return nil }
        if isLimited {
            let last = until - lag - head
            return levels.count - (quietest(from: from - head, through: last)?.frame ?? max(0, min(levels.count, last)))
        }
        let quiet = total / Double(levels.count) - SpeechSettings.quietDecibels
        // If the quiet place was known when the time was up, more frames have come since, which do not make the
        // audio longer.
        let newest = min(levels.count - lag, latest - lag - head)
        let oldest = hasSwept ? newest : from - head
        hasSwept = true
        if let place = quietest(from: oldest, through: newest), place.level <= quiet {
            return levels.count - place.frame
        }
        guard age >= latest else { return nil }
        return quietest(from: newest - Self.lastResort + lag, through: newest).map { levels.count - $0.frame }
    }

    /// Returns the middle frame of the quietest window whose middle lies in the range.
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
