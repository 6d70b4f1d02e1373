import Core
import Glibc
import System

extension RecordingRepair {
    /// How far after a file's end a gap may reach and still count as lost there, in seconds.
    private static let furthest = 3_600.0

    /// Appends silence to a truncated recording up to the end of the gaps reported after it, so that a loss at the end is in the
    /// file like any other gap.
    ///
    /// - Parameter gaps: the known losses.
    /// - Returns: the new length, and the loss between the audio and the first of these gaps; nil if there is no such gap, or if
    ///   it is implausibly far.
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
        try header.write(to: file)
        try file.sync()
        return (end, first > length ? Gap(SampleRange(length, first), cause: .disk) : nil)
    }
}
