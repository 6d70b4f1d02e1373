import Core
internal import CPocketSphinx

/// How far the search of one utterance has come.
///
/// Each frame is normalised by the mean of the utterance as a whole; where the profile allows so, the search begins with the
/// mean of its head, which grows until `settledFrames`. Both depend on the audio alone, not on the pieces in which it comes.
struct OpenUtterance {
    /// A mean that is known before weighs as much as so many frames of the utterance itself: one second.
    private static let priorWeight: Float = 100
    /// Frames that are searched at a time, and by the same mean.
    private static let step = 25
    /// Frames after which a growing mean stays as it is: six seconds.
    private static let settledFrames = 600

    let adaptation: CepstralAdaptation?
    private let prior: [Float]
    /// Frames from which the first mean is taken.
    private let headFrames: Int
    private var own = CepstralMean()
    /// What is taken away from each frame.
    private var mean: [Float] = []
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
    init(adaptation: CepstralAdaptation?, headStart: Int?) {
        self.adaptation = adaptation
        prior = adaptation?.floats ?? []
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
        let end = (searched / Self.step + 1) * Self.step
        let least = isComplete ? searched + 1 : max(end, headFrames)
        guard !isFlat, frontEnd.frames >= least else { return false }
        let frames = searched..<min(end, frontEnd.frames)
        normalize(by: headFrames == .max ? .max : min(max(end, headFrames), Self.settledFrames), of: frontEnd)
        searched = frames.upperBound
        take(frames, of: frontEnd)
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
        } else if searched > 0 {
            take((searched - 1)..<searched, of: frontEnd)
            try decoder.check(fieldscribe_ps_search_end(decoder.pointer, &part), "ps_process_cep")
        }
    }

    /// Takes the mean of so many frames, and of what was known before.
    private mutating func normalize(by most: Int, of frontEnd: FrontEnd) {
        let before = own.frames
        own.grow(to: most, of: frontEnd)
        guard own.frames > before else { return }
        if mean.isEmpty { mean = own.values }
        let weight = Float(own.frames)
        for index in mean.indices {
            let value = own.values[index]
            if prior.count == mean.count {
                mean[index] = (value * weight + prior[index] * Self.priorWeight) / (weight + Self.priorWeight)
            } else {
                mean[index] = value
            }
        }
    }

    /// Makes `part` of these frames.
    private mutating func take(_ frames: Range<Int>, of frontEnd: FrontEnd) {
        part.removeAll(keepingCapacity: true)
        for value in (frames.lowerBound * mean.count)..<(frames.upperBound * mean.count) {
            part.append(frontEnd.cepstra[value] - mean[value % mean.count])
        }
    }
}
