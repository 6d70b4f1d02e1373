/// Cuts audio into utterances by the levels of its frames. Pure: its only clock is the number of frames.
///
/// An utterance ends at silence. A longer one is rotated at a quiet place: the quietest between `quietFromSeconds` and
/// `quietUntilSeconds` if that is quiet, else the next quiet one, else the quietest of the last 5 s before
/// `rotateSeconds`. Both sides of a rotation get the overlap around the cut. With `longestSeconds` set, it is rotated
/// in the last quarter of that.
package struct Segmenter: Sendable {
    /// An event, in chronological order.
    package enum Effect: Hashable, Sendable {
        /// An utterance started; the recognizer needs the audio from `at`.
        case began(utterance: Int, at: SamplePosition)
        case ended(Utterance)
    }

    private struct Open: Sendable {
        var id: Int
        var audioStart: SamplePosition
        var speechStart: SamplePosition
    }

    private let settings: SpeechSettings
    private let padding: Int64
    private let halfOverlap: Int64
    /// The longest audio of an utterance, in samples.
    private let longest: Int64
    private var activity: VoiceActivity
    private var rotation: RotationSearch
    private var open: Open?
    private var nextID: Int
    /// The end of the last utterance's speech or of a gap; no later audio starts earlier.
    private var floor: SamplePosition
    /// Where the next frame starts.
    private(set) var position: SamplePosition

    /// - Parameters:
    ///   - start: The start of the first frame.
    ///   - firstID: The number of the first utterance.
    package init(settings: SpeechSettings, start: SamplePosition = .zero, firstID: Int = 1) {
        self.settings = settings
        padding = SpeechSettings.samples(milliseconds: settings.paddingMilliseconds)
        halfOverlap = SpeechSettings.samples(milliseconds: settings.overlapMilliseconds) / 2
        longest = SpeechSettings.samples(
            milliseconds: (settings.longestSeconds > 0 ? settings.longestSeconds : settings.rotateSeconds) * 1_000)
        activity = VoiceActivity(settings: settings)
        rotation = RotationSearch(settings: settings)
        position = start
        floor = start
        nextID = firstID
    }

    /// The measured noise floor in dBFS.
    var noiseFloor: Double { activity.noiseFloor }

    /// The start of the audio that may still be needed.
    package var neededFrom: SamplePosition {
        if let open { return open.audioStart }
        return max(floor, position - (padding + longestStart + Int64(SpeechSettings.frameSamples)))
    }

    /// The earliest possible end of the open utterance's audio; nil if there is none.
    package var certainWatermark: SamplePosition? {
        guard let open else { return nil }
        let quiet = activity.quietFrames
        let bySilence = quiet == 0 ? position : min(position, before(frames: quiet) + padding)
        let byRotation = open.audioStart + Int64(rotation.earliest * SpeechSettings.frameSamples) + halfOverlap
        return max(open.audioStart, min(bySilence, byRotation))
    }

    /// Everything before this position is in ended utterances, or silence.
    package var settledWatermark: SamplePosition { open?.speechStart ?? neededFrom }

    /// The start of the open utterance's speech, or the earliest possible one of the next.
    package var earliestSpeech: SamplePosition {
        open?.speechStart ?? max(floor, position - longestStart)
    }

    /// The longest speech that has not begun yet, in samples: the start time, and a dip of a frame.
    private var longestStart: Int64 {
        SpeechSettings.samples(milliseconds: settings.startMilliseconds) + Int64(SpeechSettings.frameSamples)
    }

    /// Adds the level of the next frame in dBFS.
    package mutating func handle(level: Double) -> [Effect] {
        position = position + Int64(SpeechSettings.frameSamples)
        let change = activity.handle(level)
        if open != nil { rotation.append(level) }
        switch change {
        case .began(let framesAgo): return begin(framesAgo: framesAgo)
        case .ended(let framesAgo): return end(at: before(frames: framesAgo), by: .silence)
        case nil: return rotateIfDue()
        }
    }

    /// Reports that `range` is missing; frames continue at its end.
    package mutating func handle(gap range: SampleRange) -> [Effect] {
        let effects = interrupt(at: range.start, by: .gap)
        position = range.end
        floor = range.end
        return effects
    }

    /// Reports the end of the audio, here or within the next frame.
    package mutating func finish(at end: SamplePosition) -> [Effect] { interrupt(at: end, by: .stop) }

    private mutating func interrupt(at end: SamplePosition, by reason: EndReason) -> [Effect] {
        let quiet = activity.quietFrames
        activity.interrupt()
        // Running speech extends to `end` itself, which may lie within a frame.
        return self.end(at: quiet == 0 ? end : before(frames: quiet), by: reason, limit: end)
    }

    private func before(frames: Int) -> SamplePosition { position - Int64(frames * SpeechSettings.frameSamples) }

    private mutating func begin(framesAgo: Int) -> [Effect] {
        let speechStart = max(floor, before(frames: framesAgo))
        return [start(speechStart: speechStart, audioStart: max(floor, speechStart - padding))]
    }

    private mutating func start(speechStart: SamplePosition, audioStart: SamplePosition) -> Effect {
        rotation.restart(age: Int(position - audioStart) / SpeechSettings.frameSamples)
        open = Open(id: nextID, audioStart: audioStart, speechStart: speechStart)
        nextID += 1
        return .began(utterance: nextID - 1, at: audioStart)
    }

    private mutating func end(
        at speechEnd: SamplePosition, by reason: EndReason, limit: SamplePosition? = nil
    ) -> [Effect] {
        guard let utterance = open else { return [] }
        open = nil
        floor = speechEnd
        let audioEnd = min(limit ?? position, speechEnd + padding, max(speechEnd, utterance.audioStart + longest))
        return [
            .ended(
                Utterance(
                    id: utterance.id, audio: SampleRange(utterance.audioStart, audioEnd),
                    speech: SampleRange(utterance.speechStart, speechEnd), endedBy: reason))
        ]
    }

    private mutating func rotateIfDue() -> [Effect] {
        guard let utterance = open, activity.isSpeech, activity.quietFrames == 0,
            let framesAgo = rotation.cut()
        else { return [] }
        let cut = before(frames: framesAgo)
        open = nil
        floor = cut - halfOverlap
        let ended = Utterance(
            id: utterance.id, audio: SampleRange(utterance.audioStart, min(position, cut + halfOverlap)),
            speech: SampleRange(utterance.speechStart, cut), endedBy: .rotation)
        return [.ended(ended), start(speechStart: cut, audioStart: cut - halfOverlap)]
    }
}
