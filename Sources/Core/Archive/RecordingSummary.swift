/// One recording, without its text.
package struct RecordingSummary: Hashable, Sendable, Codable {
    /// Whether the clock was set when the recording started.
    package enum Clock: String, Sendable, Codable {
        case synchronized
        case unverified
    }

    /// The state of a recording in progress, whose row in the archive has no length or stop reason yet.
    package struct Live: Hashable, Sendable, Codable {
        /// `recording`, `paused` or `stopping`.
        package var state: Event.State
        package var length: SamplePosition

        package init(_ state: Event.State, length: SamplePosition) {
            self.state = state
            self.length = length
        }
    }

    /// Counts from 1. The folder's name is this number with six digits.
    package var id: Int

    /// Wall time of the first sample in seconds since 1970, clamped with `Double.asWallTime`.
    package var startedAt: Double { didSet { startedAt = startedAt.asWallTime } }
    package var clock: Clock
    /// The microphone's name in the configuration; `AddedFile.source` for an added file.
    package var microphone: String
    package var length: SamplePosition
    /// The end of the transcribed range. Audio after it is not transcribed yet.
    package var transcribedUpTo: SamplePosition
    /// Why the recording ended; `cutShort` while it is in progress.
    package var stopReason: StopReason
    /// Nil if the recording is not in progress. Only the appliance that is recording sets it.
    package var live: Live?
    /// Whether the audio is missing.
    package var isMissing: Bool

    /// The `SealedManifest.text` if the recorder has only the encrypted file, which contains sound, transcripts and
    /// bookmarks; otherwise nil.
    package var seal: String?

    package var isSealed: Bool { seal != nil }

    /// The title that a person gave the recording, or the name of the file it was added from; nil if it has neither or
    /// is sealed.
    package var title: String?

    /// Nil if the clock was set, or if the ordinal or the time since power-on is unknown.
    package var powerOn: PowerOn?

    /// - Parameter startedAt: Seconds since 1970, clamped with `Double.asWallTime`.
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
