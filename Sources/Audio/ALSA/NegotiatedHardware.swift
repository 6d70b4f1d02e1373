/// What an ALSA device was set to: what it really does, which need not be what was asked for.
struct NegotiatedHardware: Hashable, Sendable {
    /// The PCM that was opened; `hw:` where its own rates and formats do.
    let device: String

    /// Hz.
    let rate: Int
    /// Channels that it gives.
    let channels: Int

    /// As ALSA names it: `S16_LE`.
    var format: String { sampleFormat.rawValue }

    /// Frames that the device hands over at a time.
    let periodFrames: Int

    /// Frames that it keeps for a reader who is late.
    let bufferFrames: Int

    /// Whether a sound card's clock drives it, as far as is known; `null` and sound servers have no card.
    let hasCard: Bool

    let sampleFormat: SampleFormat

    /// How late a reader may be before sound is lost.
    var bufferMilliseconds: Int { bufferFrames * 1_000 / max(1, rate) }
}
