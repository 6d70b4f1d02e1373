import Core
import Glibc
import System

extension RecordingRepair {
    /// How far behind a file's end a gap may reach to be taken for what was lost there, in seconds.
    private static let furthest = 3_600.0

    /// Puts silence behind the end of a recording that was cut short, as far as gaps reach that were told of: what was lost
    /// at its end lies in it as all other gaps do.
    ///
    /// - Parameter gaps: what is known to be lost.
    /// - Returns: the new length, and what is lost between the sound and the first of these gaps; nil where none lies behind
    ///   the end, or too far for anything that could have been heard.
    package static func reach(
        gaps: [Gap], path: String, length: SamplePosition
    ) throws(DeviceError) -> (length: SamplePosition, lost: Gap?)? {
        let behind = gaps.filter { $0.range.end > length }
        guard let end = behind.map(\.range.end).max(), let first = behind.map(\.range.start).min(),
            SampleRange(length, end).seconds <= furthest
        else { return nil }
        let place = try RecordingPlace(path)
        let file = try place.folder.openFile(place.name, O_RDWR)
        let bytes = try file.bytes(count: WaveHeader.size)
        guard let layout = try? WaveLayout(of: file), layout.dataOffset == Int64(WaveHeader.size),
            layout.stopReason == .cutShort, bytes.count == WaveHeader.size
        else { return nil }
        try file.truncate(to: Int64(WaveHeader.size) + layout.frameBytes * end.samples)
        var header = WaveHeader(channels: layout.channels)
        header.set(dataBytes: layout.frameBytes * end.samples)
        var failure: DeviceError?
        header.bytes.withUnsafeBytes { bytes in
            do throws(DeviceError) { try file.write(bytes, at: 0) } catch { failure = error }
        }
        if let failure { throw failure }
        try file.sync()
        return (end, first > length ? Gap(SampleRange(length, first), cause: .disk) : nil)
    }
}
