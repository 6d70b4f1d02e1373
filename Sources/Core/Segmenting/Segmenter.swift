/// Frame levels in, utterances out. Pure: its only clock is the number of frames.
///
/// An utterance ends at silence. One that goes on is rotated at a quiet place: the quietest between
/// `quietFromSeconds` and `quietUntilSeconds` if that is quiet, else the next quiet one, and where none comes, the
/// quietest of the last five seconds before `rotateSeconds`. Both sides of a rotation hear the overlap around the cut.
/// Where `longestSeconds` says how long an utterance may be, it is rotated in the last quarter of that.
package struct Segmenter: Sendable {
    /// What the segmenter tells, in the order of time.
    package enum Effect: Hashable, Sendable {
        /// An utterance has begun; the recognizer should hear it from here on.
        case began(utterance: Int, at: SamplePosition)
        /// An utterance is complete.
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
    /// No utterance's audio is longer.
    private let longest: Int64
    private var activity: VoiceActivity
    private var rotation: RotationSearch
    private var open: Open?
    private var nextID: Int
    /// Audio before this belongs to the past: the last utterance's speech, or a gap.
    private var floor: SamplePosition

    /// Where the next frame starts.
    private(set) var position: SamplePosition

    /// - Parameters:
    ///   - start: where the first frame starts.
    ///   - firstID: the number of the first utterance.
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

    /// Audio before this position will not be asked for any more.
    package var neededFrom: SamplePosition {
        if let open { return open.audioStart }
        let lookBack = padding + SpeechSettings.samples(milliseconds: settings.startMilliseconds + 20)
        return max(floor, position - lookBack)
    }

    /// Where the audio ends that belongs to the open utterance, wherever that will be cut; nil while there is none.
    package var certainWatermark: SamplePosition? {
        guard let open else { return nil }
        let quiet = activity.quietFrames
        let bySilence = quiet == 0 ? position : min(position, before(frames: quiet) + padding)
        let byRotation = open.audioStart + Int64(rotation.earliest * SpeechSettings.frameSamples) + halfOverlap
        return max(open.audioStart, min(bySilence, byRotation))
    }

    /// Everything before this position lies in utterances that have ended, or is silence.
    package var settledWatermark: SamplePosition { open?.speechStart ?? neededFrom }

    /// Where the speech begins of the open utterance; while there is none, before which place that of the next one cannot.
    package var earliestSpeech: SamplePosition {
        open?.speechStart ?? max(floor, position - SpeechSettings.samples(milliseconds: settings.startMilliseconds))
    }

    /// Takes the level of the next frame in dBFS.
    package mutating func handle(level: Double) -> [Effect] {
        position = position + Int64(SpeechSettings.frameSamples)
        let change = activity.handle(level)
        if open != nil { rotation.take(level) }
        switch change {
        case .began(let framesAgo): return begin(framesAgo: framesAgo)
        case .ended(let framesAgo): return end(at: before(frames: framesAgo), by: .silence)
        case nil: return rotateIfDue()
        }
    }

    /// Says that the audio of `range` is missing; frames go on at its end.
    package mutating func handle(gap range: SampleRange) -> [Effect] {
        let effects = interrupt(at: range.start, by: .gap)
        position = range.end
        floor = range.end
        return effects
    }

    /// Says that the audio has ended, here or within the next frame.
    package mutating func finish(at end: SamplePosition) -> [Effect] { interrupt(at: end, by: .stop) }

    private mutating func interrupt(at end: SamplePosition, by reason: EndReason) -> [Effect] {
        let quiet = activity.quietFrames
        activity.interrupt()
        // Speech that was still going on reaches to the end itself, which may lie within a frame.
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
