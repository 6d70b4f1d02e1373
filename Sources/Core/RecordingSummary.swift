/// What the archive knows of one recording, without its text.
package struct RecordingSummary: Hashable, Sendable, Codable {
    /// Whether the wall time of the start can be believed.
    package enum Clock: String, Sendable, Codable {
        case synchronized
        case unverified
    }

    /// 1, 2, 3 ...; six digits of it name the folder.
    package var id: Int

    /// Wall time of the first sample, in seconds since 1970-01-01T00:00:00Z: see `Double.asWallTime`.
    package var startedAt: Double { didSet { startedAt = startedAt.asWallTime } }
    package var clock: Clock

    /// What it was recorded from, as the configuration names it.
    package var microphone: String

    /// How much audio there is.
    package var length: SamplePosition

    /// How far the transcript has come; the work that is left is what lies between this and `length`.
    package var transcribedUpTo: SamplePosition
    package var stopReason: StopReason

    /// Whether its audio was looked for and is gone.
    package var isMissing: Bool

    /// Where in a running of the machine it was begun; nil where its time can be believed, or nothing is known of that.
    package var powerOn: PowerOn?

    package init(
        id: Int, startedAt: Double, clock: Clock, microphone: String, length: SamplePosition = .zero,
        transcribedUpTo: SamplePosition = .zero, stopReason: StopReason = .cutShort,
        isMissing: Bool = false, powerOn: PowerOn? = nil
    ) {
        self.id = id
        self.startedAt = startedAt.asWallTime
        self.clock = clock
        self.microphone = microphone
        self.length = length
        self.transcribedUpTo = transcribedUpTo
        self.stopReason = stopReason
        self.isMissing = isMissing
        self.powerOn = powerOn
    }
}
