import Core
internal import CPocketSphinx

/// The progress of the search through one utterance.
///
/// Without a head start, frames are normalized by the mean of the whole utterance. With a head start, the search begins
/// with the mean of the first frames; later frames update this mean until there are `settledFrames`. In both cases, the
/// mean depends only on the audio, not on the pieces in which it arrives.
struct OpenUtterance {
    /// The weight of a prior mean, in frames: one second.
    private static let priorWeight: Float = 100
    /// The number of frames to search at a time, with the same mean.
    private static let step = 25
    /// The number of frames after which the mean no longer changes: six seconds.
    private static let settledFrames = 600

    let adaptation: CepstralAdaptation?
    private let prior: [Float]
    /// The number of frames in the first mean.
    private let headFrames: Int
    private var ownMean = CepstralMean()
    private var mean: [Float] = []
    private var searchedFrames = 0
    private var normalizedFrames: [Float] = []
    private var firstSample: Int16?

    /// Whether all samples are equal.
    private(set) var isFlat = true
    var isComplete = false
    private(set) var samples: [Int16] = []

    /// - Parameter headStart: the seconds after which the search begins; nil to begin at the end of the utterance.
    init(adaptation: CepstralAdaptation?, headStart: Int?) {
        self.adaptation = adaptation
        prior = adaptation?.floats ?? []
        headFrames = headStart.map { $0 * SamplePosition.rate / Int(PocketSphinxRecognizer.samplesPerFrame) } ?? .max
    }

    mutating func append(_ samples: UnsafeBufferPointer<Int16>) {
        self.samples += samples
        guard isFlat, let first = firstSample ?? samples.first else { return }
        firstSample = first
        isFlat = samples.allSatisfy { $0 == first }
    }

    /// Searches the next frames; returns false if there are none or more audio must arrive first.
    mutating func search(_ frontEnd: FrontEnd, by decoder: DecoderHandle) throws(DeviceError) -> Bool {
        let end = (searchedFrames / Self.step + 1) * Self.step
        let requiredFrames = isComplete ? searchedFrames + 1 : max(end, headFrames)
        guard !isFlat, frontEnd.frames >= requiredFrames else { return false }
        let frames = searchedFrames..<min(end, frontEnd.frames)
        updateMean(to: headFrames == .max ? .max : min(max(end, headFrames), Self.settledFrames), of: frontEnd)
        searchedFrames = frames.upperBound
        normalize(frames, of: frontEnd)
        try decoder.check(
            fieldscribe_ps_search(decoder.pointer, &normalizedFrames, Int32(frontEnd.width), Int32(frames.count)),
            "ps_process_cep")
        return true
    }

    /// Finishes the search once `search` has returned false for a complete utterance.
    mutating func finish(_ frontEnd: FrontEnd, by decoder: DecoderHandle) throws(DeviceError) {
        guard !isFlat else { return }
        if frontEnd.width == 0 {
            try decoder.check(ps_process_raw(decoder.pointer, samples, samples.count, 0, 1), "ps_process_raw")
        } else if searchedFrames > 0 {
            normalize((searchedFrames - 1)..<searchedFrames, of: frontEnd)
            try decoder.check(fieldscribe_ps_search_end(decoder.pointer, &normalizedFrames), "ps_process_cep")
        }
    }

    /// Adds the frames before `limit` to the mean and combines it with the prior mean.
    private mutating func updateMean(to limit: Int, of frontEnd: FrontEnd) {
        let before = ownMean.frames
        ownMean.grow(to: limit, of: frontEnd)
        guard ownMean.frames > before else { return }
        if mean.isEmpty { mean = ownMean.values }
        let weight = Float(ownMean.frames)
        for index in mean.indices {
            let value = ownMean.values[index]
            if prior.count == mean.count {
                mean[index] = (value * weight + prior[index] * Self.priorWeight) / (weight + Self.priorWeight)
            } else {
                mean[index] = value
            }
        }
    }

    /// Sets `normalizedFrames` to these frames minus the mean.
    private mutating func normalize(_ frames: Range<Int>, of frontEnd: FrontEnd) {
        normalizedFrames.removeAll(keepingCapacity: true)
        for value in (frames.lowerBound * mean.count)..<(frames.upperBound * mean.count) {
            normalizedFrames.append(frontEnd.cepstra[value] - mean[value % mean.count])
        }
    }
}
