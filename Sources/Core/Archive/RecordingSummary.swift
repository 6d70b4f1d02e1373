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
    /// Whether `startedAt` can be believed.
    package var clock: Clock

    /// What it was recorded from, as the configuration names it.
    package var microphone: String

    /// How much audio there is.
    package var length: SamplePosition

    /// How far the transcript has come; the work that is left is what lies between this and `length`.
    package var transcribedUpTo: SamplePosition
    /// Why it ended; `cutShort` while it is being recorded.
    package var stopReason: StopReason

    /// Whether its audio was looked for and is gone.
    package var isMissing: Bool

    /// Where the recorder has nothing but its sealed file any more: what is known of that, as `SealedManifest.text`. Sound, text and
    /// marks are then only in it.
    package var seal: String?

    /// Whether only who has a private key can read it.
    package var isSealed: Bool { seal != nil }

    /// Where in a running of the machine it was begun; nil where its time can be believed, or nothing is known of that.
    package var powerOn: PowerOn?

    /// - Parameter startedAt: in seconds since 1970-01-01T00:00:00Z; moved into the limits of `Double.asWallTime`.
    package init(
        id: Int, startedAt: Double, clock: Clock, microphone: String, length: SamplePosition = .zero,
        transcribedUpTo: SamplePosition = .zero, stopReason: StopReason = .cutShort,
        isMissing: Bool = false, seal: String? = nil, powerOn: PowerOn? = nil
    ) {
        self.id = id
        self.startedAt = startedAt.asWallTime
        self.clock = clock
        self.microphone = microphone
        self.length = length
        self.transcribedUpTo = transcribedUpTo
        self.stopReason = stopReason
        self.isMissing = isMissing
        self.seal = seal
        self.powerOn = powerOn
    }
}
