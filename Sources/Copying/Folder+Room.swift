import Core
import Glibc
import System

extension Folder {
    /// - Parameter needed: what a copy of the recording is expected to take, in bytes.
    /// - Throws: `DeviceError` with `full` where there is less room.
    func checkRoom(for needed: Int64, recording: Int) throws(DeviceError) {
        let room = try freeBytes()
        guard room < needed else { return }
        throw DeviceError(
            .full, "statvfs", status: ENOSPC, on: path,
            "recording \(recording) needs about \(Self.megabytes(needed)), \(Self.megabytes(room)) are free",
            remedy: "make room there or use another stick")
    }

    private static func megabytes(_ bytes: Int64) -> String { "\(max(1, bytes / 1_000_000)) MB" }
}
