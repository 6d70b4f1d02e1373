import Core
import Glibc
import Synchronization
import System

extension LiveRecording {
    /// For how long the archive is waited for, whose disk may be the one that takes nothing.
    private static let enteringLimit: Int64 = 1_000_000_000

    /// Whether its file is closed: all that was heard is then in it, and safe.
    package var isClosed: Bool { observer.isClosed }

    /// Grows with what the disk takes of it.
    var progress: Int64 { observer.growth }

    /// Says that what is still in memory is lost, since the disk takes nothing any more, and enters that as a gap where the
    /// archive takes it; the file goes on telling that it was cut short. Blocks for a moment.
    ///
    /// - Returns: what was lost, or is not safe.
    func giveUp() -> DeviceError {
        // Of a pause nothing is in memory.
        let gap = Gap(SampleRange(observer.writtenUpTo, isPaused ? observer.writtenUpTo : position), cause: .disk)
        let what =
            gap.range.isEmpty
            ? "the end of recording \(id) is not safe if the power goes now"
            : "the last \(gap.range.seconds) s of recording \(id) are lost, or more if the power goes now"
        let error = DeviceError(
            .failed, "fdatasync",
            "\(folder.audio): the disk accepted nothing for \(ShutdownDeadline.stall.milliseconds / 1_000) s during shutdown, "
                + "so \(what); check the card, and replace it")
        Log.tell(.error, "fault", ["code": error.code.rawValue, "message": error.message])
        if gap.range.isEmpty { return error }
        Log.tell(LogLine(recording: id, gap))
        let entered = Wakeup()
        Task.detached { [archive, id] in
            try? await archive.add(gap, recording: id)
            entered.signal()
        }
        _ = entered.wait(timeout: .nanoseconds(Self.enteringLimit))
        return error
    }
}
