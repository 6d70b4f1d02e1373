import Core

/// PocketSphinx's state between utterances, as JSON: `{"cepstralMean": [...], "warp": 1.08, "surveyed": 1}`.
struct CepstralAdaptation: Hashable {
    /// The weight of the earlier mean, in frames, when an utterance is added. It equals the library's window.
    private static let window: Float = 500
    /// The candidates for a speaker's `warp`, in each direction.
    private static let warps = [[0.92, 0.86], [1.08, 1.16]]

    /// The mean of each cepstral coefficient; empty if unknown.
    private(set) var mean: [Double] = []

    /// The ratio of the speaker's frequencies to the model's; nil for 1.
    private(set) var warp: Double?

    /// The number of surveyed samples in the mean.
    private var surveyed = 0.0

    /// Parses an engine's state; nil if it is missing or from another engine.
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

    var floats: [Float] { mean.map { Float($0) } }

    var state: AdaptationState {
        var members: [String: JSONValue] = ["cepstralMean": .array(mean.map { .number($0) })]
        if let warp { members["warp"] = .number(warp) }
        if surveyed > 0 { members["surveyed"] = .number(surveyed) }
        return AdaptationState(.object(members))
    }

    /// Returns the state after an utterance with the given mean. The weight of earlier utterances decreases.
    func after(_ utteranceMean: [Float], of samples: Int) -> CepstralAdaptation {
        let (previous, weight) = (floats, Float(samples / Int(PocketSphinxRecognizer.samplesPerFrame)))
        guard previous.count == utteranceMean.count else { return CepstralAdaptation(mean: utteranceMean, warp: warp) }
        return CepstralAdaptation(
            mean: zip(previous, utteranceMean).map { old, new in
                (old * Self.window + new * weight) / (Self.window + weight)
            }, warp: warp)
    }

    /// Returns the state with an utterance's mean added, weighted by the utterance's length. The first utterance
    /// replaces the mean. Returns nil if the number of coefficients differs.
    func adding(_ utteranceMean: [Float], of samples: Int) -> CepstralAdaptation? {
        guard surveyed > 0 else {
            var first = CepstralAdaptation(mean: utteranceMean, warp: warp)
            first.surveyed = Double(samples)
            return first
        }
        guard mean.count == utteranceMean.count else { return nil }
        var sum = self
        sum.surveyed += Double(samples)
        for index in mean.indices {
            sum.mean[index] += (Double(utteranceMean[index]) - mean[index]) * (Double(samples) / sum.surveyed)
        }
        return sum
    }

    /// The states that have only a warp, for speakers unlike those in the training audio.
    static var candidates: [[AdaptationState]] {
        warps.map { $0.map { CepstralAdaptation(warp: $0).state } }
    }
}
