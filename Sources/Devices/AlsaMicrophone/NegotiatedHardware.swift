/// What an ALSA device was set to: what it really does, which need not be what was asked for.
package struct NegotiatedHardware: Hashable, Sendable {
    /// The PCM that was opened; `hw:` where its own rates and formats do.
    package let device: String

    /// Hz.
    package let rate: Int
    /// Channels that it gives.
    package let channels: Int

    /// As ALSA names it: `S16_LE`.
    package var format: String { sampleFormat.rawValue }

    /// Frames that the device hands over at a time.
    package let periodFrames: Int

    /// Frames that it keeps for a reader who is late.
    package let bufferFrames: Int

    /// Whether a sound card's clock drives it, as far as is known; `null` and sound servers have no card.
    package let hasCard: Bool

    let sampleFormat: SampleFormat

    /// How late a reader may be before sound is lost.
    package var bufferMilliseconds: Int { bufferFrames * 1_000 / max(1, rate) }
}
