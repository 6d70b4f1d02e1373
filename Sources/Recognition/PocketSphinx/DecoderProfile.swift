/// Settings of the decoder, by PocketSphinx's own names: data, not code.
package struct DecoderProfile: Hashable, Sendable {
    /// As `--profile` of a worker and the archive name it.
    package var name: String

    /// How far the words of this profile can be believed.
    package var calibration: Calibration

    /// Seconds of an utterance from whose mean its search begins while it is still spoken; nil: when it has ended.
    var headStart: Int?

    /// Values that take the place of others where phrases of a vocabulary are listened for.
    private var phraseOptions: [String: String]
    private var names: [String]
    private var values: [String]

    /// - Parameter options: values of the decoder's own settings, by its names and without the hyphen.
    init(
        name: String, options: KeyValuePairs<String, String>, phraseOptions: [String: String] = [:],
        headStart: Int? = nil, calibration: Calibration
    ) {
        self.name = name
        self.phraseOptions = phraseOptions
        self.headStart = headStart
        self.calibration = calibration
        names = options.map(\.key)
        values = options.map(\.value)
    }

    /// Its settings, by themselves or where phrases of a vocabulary are listened for.
    func options(withPhrases: Bool) -> [(name: String, value: String)] {
        zip(names, values).map { ($0, withPhrases ? phraseOptions[$0] ?? $1 : $1) }
    }

    /// One pass and a rescored lattice, of few hypotheses a frame: a third of the stock decoder's CPU at fewer errors.
    ///
    /// Silence is never removed, so that frames count time; the search begins with the cepstral mean of the first 4 s.
    /// A vocabulary's words begin unlikely, so that they need twice the hypotheses.
    package static let live = DecoderProfile(
        name: "live",
        options: [
            "fwdflat": "no", "maxhmmpf": "2500", "bestpathlw": "12", "remove_silence": "no", "cmn": "batch",
        ], phraseOptions: ["maxhmmpf": "5000"], headStart: 4,
        calibration: Calibration(weights: [1.038, 0.343, 1.447, -0.492]))

    /// One pass with wide beams: the fewest errors of what was measured, for four to five times the CPU of `live`.
    static let final = DecoderProfile(
        name: "final",
        options: [
            "fwdflat": "no", "bestpathlw": "13", "beam": "1e-60", "pbeam": "1e-60", "wbeam": "1e-40",
            "remove_silence": "no", "cmn": "batch",
        ], headStart: nil, calibration: Calibration(weights: [1.603, 0.338, 1.293, -0.410]))

    /// One pass with so few hypotheses that it costs three quarters of `live` for about two more errors in a hundred words:
    /// for a Pi Zero 2 W.
    static let fast = DecoderProfile(
        name: "fast",
        options: [
            "fwdflat": "no", "maxhmmpf": "1500", "bestpathlw": "12", "remove_silence": "no", "cmn": "batch",
        ], headStart: 4, calibration: Calibration(weights: [0.802, 0.325, 1.828, -0.543]))

    /// In the order in which commands list them.
    package static let all = [live, final, fast]
}
