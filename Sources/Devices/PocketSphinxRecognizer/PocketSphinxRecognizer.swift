internal import CPocketSphinx
import Core

/// The default engine: PocketSphinx, 0.8+5prealpha or 5.x, as Debian packages it.
///
/// One object, one thread. The library aborts the process on some internal errors, so it lives in a worker process.
package final class PocketSphinxRecognizer: Recognizer {
    /// Opens the engine on the thread, or in the process, that uses it.
    package struct Provider: RecognizerProvider {
        package var model: PocketSphinxModel
        package var profile: DecoderProfile

        package init(model: PocketSphinxModel, profile: DecoderProfile = .live) {
            self.model = model
            self.profile = profile
        }

        package func open() throws(DeviceError) -> any Recognizer {
            try PocketSphinxRecognizer(model: model, profile: profile)
        }
    }

    /// The decoder makes a frame every 10 ms.
    static let samplesPerFrame: Int64 = 160
    /// The channel's state has the weight of so many frames when an utterance is added to it: the library's own window.
    private static let channelWindow: Float = 500
    private static let meanCapacity = 64

    package let engine: EngineDescription
    private let decoder: DecoderHandle

    /// Loads the model: 0.3 s and 90 MB for Debian's en-us.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied` for a file that cannot be read, `damaged` for one that the
    ///   library refuses.
    package init(model: PocketSphinxModel, profile: DecoderProfile = .live) throws(DeviceError) {
        try model.check()
        decoder = try DecoderHandle(model: model, profile: profile)
        engine = EngineDescription(
            name: "pocketsphinx", version: String(cString: fieldscribe_ps_version()), model: model.name)
    }

    package func recognize(
        _ samples: UnsafeBufferPointer<Int16>, channel: ChannelState?, alternatives: Int,
        adapted: (ChannelState) throws(DeviceError) -> Void
    ) throws(DeviceError) -> Hypothesis {
        // Of pure silence the decoder makes words, and is sure of them.
        guard samples.contains(where: { $0 != samples[0] }) else { return Hypothesis() }
        try decoder.start()
        // The search waits for the end of the utterance, so that the whole of it is normalised by its own mean.
        let status = ps_process_raw(decoder.pointer, samples.baseAddress, samples.count, 1, 1)
        let frames = status < 0 ? 0 : samples.count / Int(Self.samplesPerFrame)
        if let state = channelState(after: frames, before: channel) {
            do throws(DeviceError) { try adapted(state) } catch {
                ps_end_utt(decoder.pointer)
                throw error
            }
        }
        try decoder.check(ps_end_utt(decoder.pointer), "ps_end_utt")
        try decoder.check(status, "ps_process_raw")
        return Hypothesis(
            words: decoder.words(limit: Int64(samples.count)), alternatives: decoder.alternatives(most: alternatives))
    }

    package func beginPartials(channel: ChannelState?) throws(DeviceError) {
        if let channel { setMean(channel) }
        try decoder.start()
    }

    package func partial(after samples: UnsafeBufferPointer<Int16>) throws(DeviceError) -> String {
        try decoder.check(ps_process_raw(decoder.pointer, samples.baseAddress, samples.count, 0, 0), "ps_process_raw")
        return decoder.bestText()
    }

    package func endPartials() throws(DeviceError) {
        try decoder.check(ps_end_utt(decoder.pointer), "ps_end_utt")
    }

    private func setMean(_ channel: ChannelState) {
        // A state of another length is another model's: the decoder then starts from its own default.
        _ = fieldscribe_ps_set_mean(decoder.pointer, channel.cepstralMean, Int32(channel.cepstralMean.count))
    }

    /// The channel's state after the utterance whose features were just computed.
    private func channelState(after frames: Int, before: ChannelState?) -> ChannelState? {
        guard frames > 0 else { return nil }
        var mean = [Float](repeating: 0, count: Self.meanCapacity)
        let count = fieldscribe_ps_get_mean(decoder.pointer, &mean, Int32(mean.count))
        guard count > 0 else { return nil }
        mean.removeLast(mean.count - Int(count))
        guard let before, before.cepstralMean.count == mean.count else {
            return ChannelState(cepstralMean: mean)
        }
        let weight = Float(frames)
        return ChannelState(
            cepstralMean: zip(before.cepstralMean, mean).map { old, own in
                (old * Self.channelWindow + own * weight) / (Self.channelWindow + weight)
            })
    }
}
