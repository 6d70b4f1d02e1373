import Core
internal import CPocketSphinx

/// The engine PocketSphinx, version 0.8+5prealpha or 5.x from Debian.
///
/// Use each object on one thread only. The library aborts the process on some internal errors, so the recorder runs the
/// engine in a worker process.
package final class PocketSphinxRecognizer: Adaptation, PartialRecognizer {
    /// The number of samples per decoder frame: 10 ms.
    static let samplesPerFrame: Int64 = 160

    package let engine: EngineDescription
    /// The evidence for the words of the last utterance, including rejected ones.
    package private(set) var evidence: [WordEvidence] = []
    private let profile: DecoderProfile
    private let decoder: DecoderHandle
    private var frontEnd: FrontEnd
    private var voice = VoiceTrack()
    private var utterance: OpenUtterance?

    /// Loads the model, which takes 0.3 s and 90 MB for Debian's en-us.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied` for an unreadable file, `damaged` for one that the library
    ///   rejects.
    package init(model: PocketSphinxModel, profile: DecoderProfile = .live) throws(DeviceError) {
        try model.check()
        self.profile = profile
        decoder = try DecoderHandle(model: model, profile: profile)
        frontEnd = FrontEnd(decoder: decoder, warp: 1)
        engine = EngineDescription(
            name: "pocketsphinx", version: String(cString: fieldscribe_ps_version()), model: model.name)
        try warmUp()
    }

    package func recognize(
        _ samples: UnsafeBufferPointer<Int16>, options: RecognitionOptions
    ) throws(DeviceError) -> Hypothesis {
        try recognize(samples, from: nil, alternatives: options.alternatives) { _ throws(DeviceError) in }
    }

    /// Decodes a dummy utterance: a decoder scores its first utterance slightly differently, but the same audio should
    /// give the same text in every worker.
    private func warmUp() throws(DeviceError) {
        let noise = (0..<8_000).map { Int16(truncatingIfNeeded: ($0 &* 7_919) % 601 - 300) }
        try begin(from: nil)
        try rethrowing { try noise.withUnsafeBufferPointer { try append($0) } }
        _ = try close()
        _ = try finish(alternatives: 0)
        evidence = []
    }

    func begin(from state: AdaptationState?) throws(DeviceError) {
        // End the previous utterance if it failed or was abandoned.
        if utterance != nil { ps_end_utt(decoder.pointer) }
        utterance = nil
        evidence = []
        let adaptation = CepstralAdaptation(state)
        setWarp(adaptation?.warp)
        try decoder.start()
        frontEnd.begin()
        voice = VoiceTrack()
        utterance = OpenUtterance(adaptation: adaptation, headStart: profile.headStart)
    }

    func append(_ samples: UnsafeBufferPointer<Int16>) throws(DeviceError) {
        utterance?.append(samples)
        try frontEnd.append(samples)
    }

    func search() throws(DeviceError) -> Bool {
        if try utterance?.search(frontEnd, by: decoder) == true { return true }
        return utterance.map { voice.advance(through: $0.samples) } ?? false
    }

    func close() throws(DeviceError) -> AdaptationState? {
        frontEnd.end()
        utterance?.isComplete = true
        guard let open = utterance, !open.isFlat, let mean = frontEnd.mean else { return nil }
        return (open.adaptation ?? CepstralAdaptation()).after(mean, of: open.samples.count).state
    }

    func finish(alternatives: Int) throws(DeviceError) -> Hypothesis {
        guard var open = utterance else { return Hypothesis() }
        utterance = nil
        do throws(DeviceError) {
            while try open.search(frontEnd, by: decoder) {}
            try open.finish(frontEnd, by: decoder)
        } catch {
            ps_end_utt(decoder.pointer)
            throw error
        }
        try decoder.check(ps_end_utt(decoder.pointer), "ps_end_utt")
        // In silence, tones and music, the decoder recognizes words with high confidence.
        guard !open.isFlat, !SteadySound.isTone(open.samples), !PlayedSound.isPlayed(open.samples) else {
            return Hypothesis()
        }
        let best = decoder.bestHypothesis(limit: Int64(open.samples.count))
        evidence = best.decodedWords.map(\.evidence)
        var hypothesis = Hypothesis(words: best.words(by: profile.calibration))
        if let first = hypothesis.words.first, let last = hypothesis.words.last {
            hypothesis.alternatives = decoder.alternatives(maximumCount: alternatives)
            hypothesis.voice = voice.analytics(of: SampleRange(first.range.start, last.range.end), in: open.samples)
        }
        hypothesis.score = decoder.score
        return hypothesis
    }

    func survey(
        _ samples: UnsafeBufferPointer<Int16>, into state: AdaptationState?
    ) throws(DeviceError) -> AdaptationState? {
        guard samples.contains(where: { $0 != samples[0] }) else { return nil }
        let before = CepstralAdaptation(state) ?? CepstralAdaptation()
        setWarp(before.warp)
        frontEnd.begin()
        try frontEnd.append(samples)
        frontEnd.end()
        return frontEnd.mean.flatMap { before.adding($0, of: samples.count)?.state }
    }

    var candidates: [[AdaptationState]] { CepstralAdaptation.candidates }

    private func setWarp(_ warp: Double?) {
        guard warp ?? 1 != frontEnd.warp else { return }
        frontEnd = FrontEnd(decoder: decoder, warp: warp ?? 1)
    }

    func beginPartials(from state: AdaptationState?) throws(DeviceError) {
        fieldscribe_ps_stream(decoder.pointer)
        if let mean = CepstralAdaptation(state)?.floats {
            // A mean with another length is from another model. In this case, setting it fails and the decoder uses its
            // default.
            _ = fieldscribe_ps_set_mean(decoder.pointer, mean, Int32(mean.count))
        }
        try decoder.start()
    }

    func partial(after samples: UnsafeBufferPointer<Int16>) throws(DeviceError) -> String {
        if !samples.isEmpty {
            try decoder.check(
                ps_process_raw(decoder.pointer, samples.baseAddress, samples.count, 0, 0), "ps_process_raw")
        }
        return decoder.bestText()
    }

    func endPartials() throws(DeviceError) {
        try decoder.check(ps_end_utt(decoder.pointer), "ps_end_utt")
    }
}
