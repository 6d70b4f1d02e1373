import Core

/// What PocketSphinx keeps from one utterance to the next; its JSON: `{"cepstralMean": [...], "warp": 1.08, "surveyed": 1}`.
struct CepstralAdaptation: Hashable {
    /// The state has the weight of so many frames when an utterance is added to it: the library's own window.
    private static let window: Float = 500
    /// How far a speaker's frequencies may lie from the model's, from the nearest outwards.
    private static let warps = [[0.92, 0.86], [1.08, 1.16]]

    /// Mean of each cepstral coefficient; empty: not known.
    private(set) var mean: [Double] = []

    /// How far the speaker's frequencies lie from the model's, as a factor; nil: not at all.
    private(set) var warp: Double?

    /// From so many samples the mean was taken, where a recording is surveyed.
    private var surveyed = 0.0

    /// Nil where it is none, or another engine's.
    init?(_ state: AdaptationState?) {
        guard let state, let mean = state.content["cepstralMean"]?.numbers else { return nil }
        self.mean = mean
        warp = state.content["warp"]?.number.flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
        surveyed = max(0, state.content["surveyed"]?.number ?? 0)
    }

    init(mean: [Float] = [], warp: Double? = nil) {
        self.mean = mean.map(Double.init)
        self.warp = warp
    }

    /// As the library takes it.
    var floats: [Float] { mean.map { Float($0) } }

    /// As others keep it.
    var state: AdaptationState {
        var members: [String: JSONValue] = ["cepstralMean": .array(mean.map { .number($0) })]
        if let warp { members["warp"] = .number(warp) }
        if surveyed > 0 { members["surveyed"] = .number(surveyed) }
        return AdaptationState(.object(members))
    }

    /// After an utterance of so many samples with this mean: what was known before fades with each utterance.
    func after(_ own: [Float], of samples: Int) -> CepstralAdaptation {
        let (before, weight) = (floats, Float(samples / Int(PocketSphinxRecognizer.samplesPerFrame)))
        guard before.count == own.count else { return CepstralAdaptation(mean: own, warp: warp) }
        return CepstralAdaptation(
            mean: zip(before, own).map { old, own in
                (old * Self.window + own * weight) / (Self.window + weight)
            }, warp: warp)
    }

    /// With an utterance of so many samples more in the mean of all, each by its length; nil where it does not fit to it.
    func surveying(_ own: [Float], of samples: Int) -> CepstralAdaptation? {
        guard surveyed > 0 else {
            var first = CepstralAdaptation(mean: own, warp: warp)
            first.surveyed = Double(samples)
            return first
        }
        guard mean.count == own.count else { return nil }
        var sum = self
        sum.surveyed += Double(samples)
        for index in mean.indices {
            sum.mean[index] += (Double(own[index]) - mean[index]) * (Double(samples) / sum.surveyed)
        }
        return sum
    }

    /// Those of other speakers, of whom nothing is known but the warp.
    static var candidates: [[AdaptationState]] {
        warps.map { $0.map { CepstralAdaptation(warp: $0).state } }
    }
}
