import Core
import System

extension LiveRecording {
    /// How long to wait for the archive, which may be on the stalled disk.
    private static let archiveTimeout = Duration.seconds(1)

    /// Whether the file is closed, so that everything recorded is on the disk.
    package var isClosed: Bool { observer.isClosed }

    /// A number that grows while the disk makes progress.
    var progress: Int64 { observer.growth }

    /// Logs that the samples in memory are lost because the disk has stalled, and tries to add a gap to the archive.
    /// The recording stays marked as cut short. Blocks for up to a second.
    ///
    /// - Returns: an error that says what was lost.
    func giveUp() -> DeviceError {
        // While the recording is paused, no samples are in memory.
        let gap = Gap(
            SampleRange(observer.writtenUpTo, session.isPaused ? observer.writtenUpTo : position), cause: .disk)
        let loss =
            gap.range.isEmpty
            ? "the end of recording \(id) may be lost if the power fails now"
            : "the last \(gap.range.seconds) s of recording \(id) are lost, or more if the power fails now"
        let error = DeviceError(
            .failed, "fdatasync",
            "\(folder.audio): nothing could be written to the disk for "
                + "\(ShutdownDeadline.stallTimeout.milliseconds / 1_000) s during shutdown, so \(loss); replace the card"
        )
        Log.report(LogLine(fault: error))
        if gap.range.isEmpty { return error }
        Log.report(LogLine(recording: id, gap))
        let attempted = Wakeup()
        Task.detached { [archive, id] in
            try? await archive.add(gap, recording: id)
            attempted.signal()
        }
        _ = attempted.wait(timeout: Self.archiveTimeout)
        return error
    }
}
