/// Settings of the decoder, by PocketSphinx's names.
package struct DecoderProfile: Hashable, Sendable {
    /// The name for a worker's `--profile` and in the archive.
    package var name: String

    /// The confidence calibration of this profile.
    package var calibration: Calibration

    /// The seconds of audio after which the search starts, with their mean; nil to start at the end of the utterance.
    var headStart: Int?

    /// The values that replace others if a vocabulary has phrases.
    private var phraseOptions: [String: String]
    private var names: [String]
    private var values: [String]

    /// - Parameter options: the decoder's settings, by name without a leading hyphen.
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

    /// The settings, with or without phrases of a vocabulary.
    func options(withPhrases: Bool) -> [(name: String, value: String)] {
        zip(names, values).map { ($0, withPhrases ? phraseOptions[$0] ?? $1 : $1) }
    }

    /// One pass and a rescored lattice with few hypotheses per frame: a third of the stock decoder's CPU time, with
    /// fewer errors.
    ///
    /// Silence is never removed, so that frame numbers give times. The search starts with the cepstral mean of the
    /// first 4 s. The words of a vocabulary start with a low probability, so they need twice as many hypotheses.
    package static let live = DecoderProfile(
        name: "live",
        options: [
            "fwdflat": "no", "maxhmmpf": "2500", "bestpathlw": "12", "remove_silence": "no", "cmn": "batch",
        ], phraseOptions: ["maxhmmpf": "5000"], headStart: 4,
        calibration: Calibration(weights: [1.038, 0.343, 1.447, -0.492]))

    /// One pass with wide beams: the fewest measured errors, at four to five times the CPU time of `live`.
    static let final = DecoderProfile(
        name: "final",
        options: [
            "fwdflat": "no", "bestpathlw": "13", "beam": "1e-60", "pbeam": "1e-60", "wbeam": "1e-40",
            "remove_silence": "no", "cmn": "batch",
        ], headStart: nil, calibration: Calibration(weights: [1.603, 0.338, 1.293, -0.410]))

    /// One pass with very few hypotheses, for a Pi Zero 2 W: three quarters of the CPU time of `live`, and about two
    /// more errors per hundred words.
    static let fast = DecoderProfile(
        name: "fast",
        options: [
            "fwdflat": "no", "maxhmmpf": "1500", "bestpathlw": "12", "remove_silence": "no", "cmn": "batch",
        ], headStart: 4, calibration: Calibration(weights: [0.802, 0.325, 1.828, -0.543]))

    /// All profiles, in the order in which commands list them.
    package static let all = [live, final, fast]
}
