import Core

/// What goes on in the house in, what the lamp shows out.
///
/// The lamp says that a recording is safe only while that is known: it is steady for three seconds from each time that
/// bytes reached the disk, and only while the microphone is alive.
package struct PanelLamp: Hashable, Sendable {
    package enum Input: Hashable, Sendable {
        /// Whether a recording goes on.
        case recording(Bool)
        /// Bytes of it reached the disk.
        case written
        /// Whether its microphone gives sound.
        case microphone(alive: Bool)
        /// Whether text is still being written.
        case transcribing(Bool)
        case exporting(Bool)
        /// An export has ended well: the stick may be unplugged.
        case exported
        case mark
        /// The button went down.
        case answer
        case fault
        case acknowledge
    }

    /// How long the disk may be silent before the lamp no longer says that it takes what is recorded.
    package static let patience = Duration.seconds(3)

    /// How long the lamp says that the stick may be unplugged.
    package static let doneLasts = Duration.seconds(3)

    private var pattern = LampPattern()
    private var isRecording = false
    private var writtenAt: Duration?
    private var microphoneIsAlive = true
    private var isTranscribing = false
    private var isExporting = false
    private var exportedAt: Duration?

    package init() {}

    /// Whether a fault is shown that waits to be acknowledged.
    package var isFaulted: Bool { pattern.isFaulted }

    /// What is shown, or hidden by a fault.
    package var mode: LampPattern.Mode { pattern.mode }

    package mutating func handle(_ input: Input, at now: Duration) {
        switch input {
        case .recording(let goesOn):
            if goesOn, !isRecording { (writtenAt, microphoneIsAlive) = (nil, true) }
            isRecording = goesOn
        case .written: writtenAt = max(now, writtenAt ?? now)
        case .microphone(let isAlive): microphoneIsAlive = isAlive
        case .transcribing(let goesOn): isTranscribing = goesOn
        case .exporting(let goesOn):
            isExporting = goesOn
            if goesOn { exportedAt = nil }
        case .exported:
            isExporting = false
            exportedAt = now
        case .mark: pattern.blink(at: now)
        case .answer: pattern.blink(at: now, for: LampPattern.answerBlink)
        case .fault: pattern.fault(at: now)
        case .acknowledge: pattern.acknowledge()
        }
    }

    /// The level now, and when it has to be asked for again; nil where it stays until something is told.
    package mutating func next(at now: Duration) -> (lit: Bool, until: Duration?) {
        let (mode, until) = mode(at: now)
        pattern.show(mode, at: now)
        let level = pattern.next(after: now)
        return (level.lit, [level.until, until].compactMap { $0 }.min())
    }

    private func mode(at now: Duration) -> (LampPattern.Mode, until: Duration?) {
        if isRecording {
            guard microphoneIsAlive, let writtenAt, now < writtenAt + Self.patience else { return (.off, nil) }
            return (.steady, writtenAt + Self.patience)
        }
        if isExporting { return (.doubleBlink, nil) }
        if let exportedAt, now < exportedAt + Self.doneLasts { return (.done, exportedAt + Self.doneLasts) }
        return (isTranscribing ? .pulse : .off, nil)
    }
}
