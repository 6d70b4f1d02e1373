import Core
import System

extension LiveRecording {
    /// How long to wait for the archive, which may be on the stalled disk, in nanoseconds.
    private static let archiveTimeout: Int64 = 1_000_000_000

    /// Whether the file is closed, and so everything recorded is on the disk.
    package var isClosed: Bool { observer.isClosed }

    /// Grows while the disk makes progress.
    var progress: Int64 { observer.growth }

    /// Reports that samples still in memory are lost because the disk has stalled, and tries to add a gap to the
    /// archive. The recording stays marked as cut short. Blocks for up to a second.
    ///
    /// - Returns: an error that says what was lost.
    func giveUp() -> DeviceError {
        // While paused, nothing is in memory.
        let gap = Gap(
            SampleRange(observer.writtenUpTo, session.isPaused ? observer.writtenUpTo : position), cause: .disk)
        let loss =
            gap.range.isEmpty
            ? "the end of recording \(id) may be lost if the power fails now"
            : "the last \(gap.range.seconds) s of recording \(id) are lost, or more if the power fails now"
        let error = DeviceError(
            .failed, "fdatasync",
            "\(folder.audio): the disk accepted nothing for \(ShutdownDeadline.stallTimeout.milliseconds / 1_000) s during shutdown, "
                + "so \(loss); check the card, and replace it")
        Log.report(.error, "fault", ["code": error.code.rawValue, "message": error.message])
        if gap.range.isEmpty { return error }
        Log.report(LogLine(recording: id, gap))
        let entered = Wakeup()
        Task.detached { [archive, id] in
            try? await archive.add(gap, recording: id)
            entered.signal()
        }
        _ = entered.wait(timeout: .nanoseconds(Self.archiveTimeout))
        return error
    }
}
