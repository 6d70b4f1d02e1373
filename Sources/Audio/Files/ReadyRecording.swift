import Core
import System

/// A file that can be a recording's `audio.wav` as it is: 16 kHz, 16-bit, and nothing after its samples.
struct ReadyRecording {
    let length: SamplePosition
    /// `ended` if the file does not say.
    let reason: StopReason

    /// - Parameter channels: the largest number that the recording may have.
    /// - Returns: nil if the file has to be converted.
    init?(_ file: borrowing FileDescriptor, channels: Int) throws(DeviceError) {
        let layout: WaveLayout
        do throws(DeviceError) { layout = try WaveLayout(of: file) } catch {
            guard error.code == .damaged || error.code == .unsupported else { throw error }
            return nil
        }
        reason = layout.stopReason ?? .ended
        length = SamplePosition(layout.claimedBytes / layout.frameBytes)
        guard layout.channels <= channels, layout.claimedBytes > 0, layout.claimedBytes % layout.frameBytes == 0,
            try layout.dataOffset + layout.claimedBytes == file.size(), reason != .cutShort
        else { return nil }
        // A header of this size is repaired like our own.
        guard layout.dataOffset == Int64(WaveHeader.size) else { return }
        let header = WaveHeader(channels: layout.channels, dataBytes: layout.claimedBytes, reason: reason)
        guard try file.bytes(count: WaveHeader.size) == header.bytes else { return nil }
    }
}
