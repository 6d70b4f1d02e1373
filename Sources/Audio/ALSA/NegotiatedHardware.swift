/// The actual configuration of an ALSA device, which may differ from the request.
struct NegotiatedHardware: Hashable, Sendable {
    /// The opened PCM; `hw:` if its own rates and formats suffice.
    let device: String

    /// In Hz.
    let rate: Int
    let channels: Int

    /// Frames per period.
    let periodFrames: Int

    /// The buffer size in frames.
    let bufferFrames: Int

    /// Whether a sound card's clock drives it; `null` and sound servers have no card.
    let hasCard: Bool

    let sampleFormat: SampleFormat

    /// How late a read may be before audio is lost.
    var bufferMilliseconds: Int { bufferFrames * 1_000 / max(1, rate) }
}
