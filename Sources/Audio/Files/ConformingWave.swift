import Core
import System

/// A file that can become a recording's `audio.wav` without conversion: 16 kHz, 16-bit, with nothing after its samples.
struct ConformingWave {
    let length: SamplePosition
    /// The stop reason; `ended` if the file does not contain one.
    let reason: StopReason

    /// - Parameter channels: The maximum number of channels for the recording.
    /// - Returns: Nil if the file has to be converted.
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
        // `RecordingRepair` treats a header of this size as our own, so it must be identical to ours.
        guard layout.dataOffset == Int64(WaveHeader.size) else { return }
        let header = WaveHeader(channels: layout.channels, dataBytes: layout.claimedBytes, reason: reason)
        guard try file.bytes(count: WaveHeader.size) == header.bytes else { return nil }
    }
}
