/// A named set of settings for the decoder.
package struct DecoderProfile: Hashable, Sendable {
    /// The value of a worker's `--profile`, which the archive also stores.
    package var name: String

    /// The settings, by PocketSphinx's names without the leading hyphen.
    var options: [String: String]

    /// The settings that replace those in `options` if a vocabulary has phrases.
    var phraseOptions: [String: String] = [:]

    /// The seconds of audio after which the search starts, normalized by the mean of this audio; nil to start at the
    /// end of the utterance.
    var headStart: Int?

    package var calibration: Calibration

    /// One pass with few hypotheses per frame and a rescored lattice. Takes a third of the CPU time of PocketSphinx's
    /// default settings and makes fewer errors.
    ///
    /// Silence is never removed, so that frame numbers give times. The search starts with the cepstral mean of the
    /// first 4 s. The words of a vocabulary start with a low probability, so they need twice as many hypotheses.
    package static let live = DecoderProfile(
        name: "live",
        options: [
            "fwdflat": "no", "maxhmmpf": "2500", "bestpathlw": "12", "remove_silence": "no", "cmn": "batch",
        ], phraseOptions: ["maxhmmpf": "5000"], headStart: 4,
        calibration: Calibration(weights: [1.038, 0.343, 1.447, -0.492]))

    /// One pass with wide beams. Makes the fewest errors, and takes four to five times the CPU time of `live`.
    static let final = DecoderProfile(
        name: "final",
        options: [
            "fwdflat": "no", "bestpathlw": "13", "beam": "1e-60", "pbeam": "1e-60", "wbeam": "1e-40",
            "remove_silence": "no", "cmn": "batch",
        ], calibration: Calibration(weights: [1.603, 0.338, 1.293, -0.410]))

    /// One pass with very few hypotheses, for a Pi Zero 2 W. Takes three quarters of the CPU time of `live`, and makes
    /// about two more errors per hundred words.
    static let fast = DecoderProfile(
        name: "fast",
        options: [
            "fwdflat": "no", "maxhmmpf": "1500", "bestpathlw": "12", "remove_silence": "no", "cmn": "batch",
        ], headStart: 4, calibration: Calibration(weights: [0.802, 0.325, 1.828, -0.543]))

    /// For a few words without sentence structure. Uses wide beams, which short utterances can afford, and a low
    /// language weight.
    package static let search = DecoderProfile(
        name: "search",
        options: [
            "fwdflat": "no", "bestpathlw": "9.5", "lw": "5", "beam": "1e-60", "pbeam": "1e-60", "wbeam": "1e-40",
            "remove_silence": "no", "cmn": "batch",
        ], calibration: final.calibration)

    /// For a grammar of a few words. With a grammar, bestpathlw and the language weight have no effect.
    static let confirmation = DecoderProfile(
        name: "confirmation",
        options: [
            "beam": "1e-60", "pbeam": "1e-60", "wbeam": "1e-40", "remove_silence": "no", "cmn": "batch",
        ], calibration: final.calibration)

    /// All profiles for dictation, in the order in which commands list them.
    package static let all = [live, final, fast]
}
