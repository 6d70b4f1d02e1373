/// Cuts audio into utterances by frame level. The number of frames is its only clock.
///
/// An utterance ends at silence. A long utterance is rotated, which means that it is cut during speech, and both sides
/// get the audio around the cut. The cut is at the quietest spot between `quietFromSeconds` and `quietUntilSeconds` if
/// that spot is quiet enough. Otherwise it is at the next quiet spot or, if there is none, at the quietest spot in the
/// last 5 s before `rotateSeconds`. If `maximumSeconds` is set, the cut is in the last quarter of that time.
package struct Segmenter: Sendable {
    /// What the next frame or gap causes.
    package enum Effect: Hashable, Sendable {
        /// An utterance started; the recognizer needs the audio from `at`.
        case began(utterance: Int, at: SamplePosition)
        case ended(Utterance)
    }

    private struct OpenUtterance: Sendable {
        var id: Int
        var audioStart: SamplePosition
        var speechStart: SamplePosition
    }

    private let settings: SpeechSettings
    private let padding: Int64
    private let halfOverlap: Int64
    /// The maximum length of an utterance's audio, in samples.
    private let maximumSamples: Int64
    private var activity: VoiceActivity
    private var rotation: RotationSearch
    private var open: OpenUtterance?
    private var nextID: Int
    /// The end of the last utterance's speech or of the last gap. Later utterances do not start before it.
    private var floor: SamplePosition
    /// The start of the next frame.
    private(set) var position: SamplePosition

    /// - Parameters:
    ///   - start: The start of the first frame.
    ///   - firstID: The ID of the first utterance.
    package init(settings: SpeechSettings, start: SamplePosition = .zero, firstID: Int = 1) {
        self.settings = settings
        padding = SpeechSettings.samples(milliseconds: settings.paddingMilliseconds)
        halfOverlap = SpeechSettings.samples(milliseconds: settings.overlapMilliseconds) / 2
        maximumSamples = SpeechSettings.samples(
            milliseconds: (settings.maximumSeconds > 0 ? settings.maximumSeconds : settings.rotateSeconds) * 1_000)
        activity = VoiceActivity(settings: settings)
        rotation = RotationSearch(settings: settings)
        position = start
        floor = start
        nextID = firstID
    }

    var noiseFloor: Double { activity.noiseFloor }

    /// The start of the audio that may still be needed.
    package var neededFrom: SamplePosition {
        if let open { return open.audioStart }
        return max(floor, position - (padding + maximumOnset + Int64(SpeechSettings.frameSamples)))
    }

    /// The earliest possible end of the open utterance's audio; nil if no utterance is open.
    package var certainWatermark: SamplePosition? {
        guard let open else { return nil }
        let quiet = activity.quietFrames
        let bySilence = quiet == 0 ? position : min(position, before(frames: quiet) + padding)
        let byRotation = open.audioStart + Int64(rotation.earliest * SpeechSettings.frameSamples) + halfOverlap
        return max(open.audioStart, min(bySilence, byRotation))
    }

    /// The position before which all audio is either in ended utterances or silent.
    package var settledWatermark: SamplePosition { open?.speechStart ?? neededFrom }

    /// The start of the open utterance's speech, or the earliest possible start of the next utterance's speech.
    package var earliestSpeech: SamplePosition {
        open?.speechStart ?? max(floor, position - maximumOnset)
    }

    /// The maximum length of speech that is not detected yet, in samples: `startMilliseconds` plus a one-frame dip.
    private var maximumOnset: Int64 {
        SpeechSettings.samples(milliseconds: settings.startMilliseconds) + Int64(SpeechSettings.frameSamples)
    }

    /// Handles the level of the next frame in dBFS.
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

    /// Handles missing audio. Frames continue at the end of the range.
    package mutating func handle(gap range: SampleRange) -> [Effect] {
        let effects = interrupt(at: range.start, by: .gap)
        position = range.end
        floor = range.end
        return effects
    }

    /// Handles the end of the audio, which is at the current position or within the next frame.
    package mutating func finish(at end: SamplePosition) -> [Effect] { interrupt(at: end, by: .stop) }

    private mutating func interrupt(at end: SamplePosition, by reason: EndReason) -> [Effect] {
        let quiet = activity.quietFrames
        activity.interrupt()
        // Ongoing speech extends to `end` itself, which may be in the middle of a frame.
        return self.end(at: quiet == 0 ? end : before(frames: quiet), by: reason, limit: end)
    }

    private func before(frames: Int) -> SamplePosition { position - Int64(frames * SpeechSettings.frameSamples) }

    private mutating func begin(framesAgo: Int) -> [Effect] {
        let speechStart = max(floor, before(frames: framesAgo))
        return [start(speechStart: speechStart, audioStart: max(floor, speechStart - padding))]
    }

    private mutating func start(speechStart: SamplePosition, audioStart: SamplePosition) -> Effect {
        rotation.restart(age: Int(position - audioStart) / SpeechSettings.frameSamples)
        open = OpenUtterance(id: nextID, audioStart: audioStart, speechStart: speechStart)
        nextID += 1
        return .began(utterance: nextID - 1, at: audioStart)
    }

    private mutating func end(
        at speechEnd: SamplePosition, by reason: EndReason, limit: SamplePosition? = nil
    ) -> [Effect] {
        guard let utterance = open else { return [] }
        open = nil
        floor = speechEnd
        let audioEnd = min(
            limit ?? position, speechEnd + padding, max(speechEnd, utterance.audioStart + maximumSamples))
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
