import Core

/// Who wants to know what becomes of a recording. All of it is called on the writer thread, in the order in which it
/// happens; a sink that dawdles holds up the disk.
package protocol RecordingSink: Sendable {
    /// Everything before `position` is in the file, readable, though not yet safe from a power cut.
    func written(upTo position: SamplePosition)

    /// Everything before `position` is on the disk.
    func synced(upTo position: SamplePosition)

    /// The level of the last 100 ms, in dBFS; only while the session's `wantsLevel` is set.
    func level(rms: Double, peak: Double)

    /// Audio was lost; the silence in its place is in the file.
    func lost(_ gap: Gap)

    /// The file has ended and is closed. Not called where `run` throws.
    func closed(at position: SamplePosition, reason: StopReason)
}

extension RecordingSink {
    package func written(upTo position: SamplePosition) {}
    package func synced(upTo position: SamplePosition) {}
    package func level(rms: Double, peak: Double) {}
    package func lost(_ gap: Gap) {}
    package func closed(at position: SamplePosition, reason: StopReason) {}
}
