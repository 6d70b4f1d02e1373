extension DecoderProfile {
    /// For a few words without sentence structure: wide beams, which are affordable for short utterances, and a low
    /// language weight.
    package static let search = DecoderProfile(
        name: "search",
        options: [
            "fwdflat": "no", "bestpathlw": "9.5", "lw": "5", "beam": "1e-60", "pbeam": "1e-60", "wbeam": "1e-40",
            "remove_silence": "no", "cmn": "batch",
        ], calibration: final.calibration)

    /// For a grammar of a few words, with which bestpathlw and the language weight have no effect.
    static let confirmation = DecoderProfile(
        name: "confirmation",
        options: [
            "beam": "1e-60", "pbeam": "1e-60", "wbeam": "1e-40", "remove_silence": "no", "cmn": "batch",
        ], calibration: final.calibration)
}
