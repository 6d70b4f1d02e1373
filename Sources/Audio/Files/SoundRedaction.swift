import Core
import Glibc
import System

/// Replaces audio with silence in all of a recording's files. Can be repeated after an interruption.
package enum SoundRedaction {
    private static let zeros = [UInt8](repeating: 0, count: 1 << 16)

    /// Replaces ranges with silence and syncs the files.
    ///
    /// - Parameters:
    ///   - ranges: The ranges to silence. Anything after the recording's end is ignored.
    ///   - path: The path of the `audio.wav`.
    /// - Throws: `DeviceError` if a file cannot be opened or written.
    package static func silence(_ ranges: [SampleRange], in path: String) throws(DeviceError) {
        let location = try RecordingLocation(path)
        var files = [(name: location.name, start: SamplePosition.zero)]
        files += try RecordingPart.all(in: location).map { ($0.name, $0.start) }
        files += try RecordingPart.filesSetAside(in: location)
        for file in files { try silence(ranges, in: file.name, from: file.start, in: location) }
    }

    private static func silence(
        _ ranges: [SampleRange], in name: String, from start: SamplePosition, in location: RecordingLocation
    ) throws(DeviceError) {
        let file = try location.folder.openFile(name, O_RDWR)
        let layout = try WaveLayout(of: file)
        let size = try file.size()
        for range in ranges where range.end > start {
            var offset = layout.dataOffset + layout.frameBytes * max(0, range.start - start)
            let end = min(size, layout.dataOffset + layout.frameBytes * (range.end - start))
            while offset < end {
                let count = Int(min(Int64(zeros.count), end - offset))
                try rethrowing {
                    try zeros.withUnsafeBytes {
                        try file.write(UnsafeRawBufferPointer(rebasing: $0[..<count]), at: offset)
                    }
                }
                offset += Int64(count)
            }
        }
        try file.sync()
    }
}
