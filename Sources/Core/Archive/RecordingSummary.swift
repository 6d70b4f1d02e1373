/// One recording, without its text.
package struct RecordingSummary: Hashable, Sendable, Codable {
    /// Whether the clock was set when the recording started.
    package enum Clock: String, Sendable, Codable {
        case synchronized
        case unverified
    }

    /// A recording in progress; its row in the archive has no length and no stop reason yet.
    package struct Live: Hashable, Sendable, Codable {
        /// `recording`, `paused` or `stopping`.
        package var state: Event.State
        package var length: SamplePosition

        package init(_ state: Event.State, length: SamplePosition) {
            self.state = state
            self.length = length
        }
    }

    /// Counts from 1; with six digits it names the folder.
    package var id: Int

    /// Wall time of the first sample in seconds since 1970, clamped as by `Double.asWallTime`.
    package var startedAt: Double { didSet { startedAt = startedAt.asWallTime } }
    package var clock: Clock
    /// The microphone, as the configuration names it; for an added file `AddedFile.source`.
    package var microphone: String
    package var length: SamplePosition
    /// The end of the transcribed part. The rest up to `length` is not transcribed yet.
    package var transcribedUpTo: SamplePosition
    /// Why it ended; `cutShort` while it is recording.
    package var stopReason: StopReason
    /// Nil unless it is being recorded, and known only to the appliance that does so.
    package var live: Live?
    /// Whether its audio is missing.
    package var isMissing: Bool

    /// `SealedManifest.text` if the recorder has only the encrypted file, which then holds sound, text and bookmarks;
    /// else nil.
    package var seal: String?

    /// Whether only the private key can read it.
    package var isSealed: Bool { seal != nil }

    /// The title that a person gave it, else the name of the file that it was added from; nil without both, and if only the
    /// private key can read it.
    package var title: String?

    /// The position since power-on; nil if the clock was set or the position is unknown.
    package var powerOn: PowerOn?

    /// - Parameter startedAt: Seconds since 1970, clamped as by `Double.asWallTime`.
    package init(
        id: Int, startedAt: Double, clock: Clock, microphone: String, length: SamplePosition = .zero,
        transcribedUpTo: SamplePosition = .zero, stopReason: StopReason = .cutShort,
        isMissing: Bool = false, seal: String? = nil, title: String? = nil,
        powerOn: PowerOn? = nil
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
        self.title = title
        self.powerOn = powerOn
    }
}
