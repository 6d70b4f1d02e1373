import Core
import Glibc
import System

/// The result of examining a recording's file without changing it.
package struct RecordingVerification: Hashable, Sendable {
    /// The length of the audio according to the file's length.
    package var length: SamplePosition

    /// The length of the audio according to the header.
    package var headerLength: SamplePosition

    /// Why the recording ended; nil if the file does not contain a valid reason.
    package var reason: StopReason?

    /// Whether the file ends in the middle of a frame, which has one sample per channel.
    package var hasHalfSample: Bool

    /// The gaps that are not silent in the file.
    package var noisyGaps: [Gap]

    /// - Throws: `DeviceError` with `missing`, `denied`, `damaged` or `unsupported`.
    package init(path: String, gaps: [Gap]) throws(DeviceError) {
        let location = try RecordingLocation(path)
        let file = try location.folder.openFile(location.name, O_RDONLY)
        let layout = try WaveLayout(of: file)
        let bytes = max(0, try file.size() - layout.dataOffset)
        length = SamplePosition(bytes / layout.frameBytes)
        headerLength = SamplePosition(layout.claimedBytes / layout.frameBytes)
        reason = layout.stopReason
        hasHalfSample = bytes % layout.frameBytes != 0
        noisyGaps = []
        let reader = try RecordingReader(path: path)
        for gap in gaps where try !Self.isSilent(gap.range, in: reader) { noisyGaps.append(gap) }
    }

    private static func isSilent(_ range: SampleRange, in reader: RecordingReader) throws(DeviceError) -> Bool {
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 1 << 16)
        buffer.initialize(repeating: 0)
        defer { buffer.deallocate() }
        var position = range.start
        while position < range.end {
            let part = UnsafeMutableBufferPointer(
                rebasing: buffer.prefix(
                    reader.channels * Int(min(Int64(buffer.count / reader.channels), range.end - position))))
            let count = try reader.readFrames(at: position, into: part)
            if count == 0 { break }
            if part.prefix(count * reader.channels).contains(where: { $0 != 0 }) { return false }
            position = position + Int64(count)
        }
        return true
    }
}
