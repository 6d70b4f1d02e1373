/// The actual configuration of an ALSA device, which may differ from the request.
struct NegotiatedHardware {
    /// In Hz.
    let rate: Int
    let channels: Int

    let periodFrames: Int

    /// The buffer size in frames: how late a read may be before audio is lost.
    let bufferFrames: Int

    /// Whether a sound card's clock drives it; `null` and sound servers have no card.
    let hasCard: Bool

    let sampleFormat: SampleFormat
}
