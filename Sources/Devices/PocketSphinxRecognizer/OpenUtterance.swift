internal import CPocketSphinx
import Core

/// How far the search of one utterance has come.
///
/// It begins once the mean is known by which the utterance is normalised: that of the whole, or of its head where the
/// profile allows so. Both depend on the audio alone, not on the pieces in which it comes.
struct OpenUtterance {
    /// A channel that is known weighs as much as so many frames of the utterance itself: one second.
    private static let channelWeight: Float = 100
    /// Frames that are searched at a time.
    private static let step = 25

    let channel: ChannelState?
    /// Frames from which the mean is taken.
    private let headFrames: Int
    private var mean: [Float]?
    private var searched = 0
    /// What the decoder is given next.
    private var part: [Float] = []
    private var first: Int16?

    /// Whether all of them are the same.
    private(set) var isFlat = true
    var isComplete = false
    /// What was heard so far.
    private(set) var samples: [Int16] = []

    /// - Parameter headStart: seconds after which the search begins; nil: when the utterance is complete.
    init(channel: ChannelState?, headStart: Int?) {
        self.channel = channel
        headFrames = headStart.map { $0 * SamplePosition.rate / Int(PocketSphinxRecognizer.samplesPerFrame) } ?? .max
    }

    mutating func take(_ samples: UnsafeBufferPointer<Int16>) {
        self.samples += samples
        guard isFlat, let first = first ?? samples.first else { return }
        self.first = first
        isFlat = samples.allSatisfy { $0 == first }
    }

    /// Searches a little; false where nothing is left before more is heard.
    mutating func search(_ frontEnd: FrontEnd, by decoder: DecoderHandle) throws(DeviceError) -> Bool {
        guard !isFlat, isComplete || frontEnd.frames >= headFrames, searched < frontEnd.frames else { return false }
        guard let mean = mean ?? normalizing(frontEnd) else { return false }
        self.mean = mean
        let frames = searched..<min(searched + Self.step, frontEnd.frames)
        searched = frames.upperBound
        take(frames, of: frontEnd, less: mean)
        try decoder.check(
            fieldscribe_ps_search(decoder.pointer, &part, Int32(frontEnd.width), Int32(frames.count)),
            "ps_process_cep")
        return true
    }

    /// Searches to the very end; behind the last `search`.
    mutating func end(_ frontEnd: FrontEnd, by decoder: DecoderHandle) throws(DeviceError) {
        guard !isFlat else { return }
        if frontEnd.width == 0 {
            try decoder.check(ps_process_raw(decoder.pointer, samples, samples.count, 0, 1), "ps_process_raw")
        } else if let mean, searched > 0 {
            take((searched - 1)..<searched, of: frontEnd, less: mean)
            try decoder.check(fieldscribe_ps_search_end(decoder.pointer, &part), "ps_process_cep")
        }
    }

    /// What is taken away from each frame.
    private func normalizing(_ frontEnd: FrontEnd) -> [Float]? {
        guard let own = frontEnd.mean(of: headFrames) else { return nil }
        guard let prior = channel?.cepstralMean, prior.count == own.count else { return own }
        let weight = Float(min(headFrames, frontEnd.frames))
        return zip(own, prior).map { ($0 * weight + $1 * Self.channelWeight) / (weight + Self.channelWeight) }
    }

    /// Makes `part` of these frames.
    private mutating func take(_ frames: Range<Int>, of frontEnd: FrontEnd, less mean: [Float]) {
        part.removeAll(keepingCapacity: true)
        for value in (frames.lowerBound * mean.count)..<(frames.upperBound * mean.count) {
            part.append(frontEnd.cepstra[value] - mean[value % mean.count])
        }
    }
}
