import Core
import Glibc
import Platform

/// Reads a recording, also one that is still growing or was cut short.
///
/// May be used from any thread. It believes the file's length, not what the header last told of it.
package final class RecordingReader: Sendable {
    private let file: FileDescriptor
    private let layout: WaveLayout

    /// Opens a recording.
    ///
    /// - Throws: `DeviceError` with `missing`, `damaged` or `unsupported`.
    package init(path: String) throws(DeviceError) {
        let file = try FileDescriptor(opening: path, O_RDONLY)
        layout = try WaveLayout(of: file)
        self.file = file
    }

    /// How much there is now.
    package var length: SamplePosition {
        get throws(DeviceError) { SamplePosition(max(0, try file.size() - layout.dataOffset) / 2) }
    }

    /// Why the recording had ended when this reader was opened; nil where its file does not tell.
    package var stopReason: StopReason? { layout.stopReason }

    /// Reads samples from a position on until the buffer is full or the file ends; a gap reads as silence.
    ///
    /// - Returns: the number of samples, 0 at the end of what there is so far.
    package func read(
        at position: SamplePosition, into buffer: UnsafeMutableBufferPointer<Int16>
    ) throws(DeviceError) -> Int {
        guard position >= .zero, position.samples < Int64.max / 4 else { return 0 }
        return try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: layout.dataOffset + 2 * position.samples)
            / 2
    }
}
