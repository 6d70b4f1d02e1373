import Core
import Glibc
import Synchronization
import System

/// Reads a recording, which may be growing, truncated or in parts.
///
/// Callable from any thread. Uses the lengths of the files, not the lengths in their headers.
package final class RecordingReader: Sendable {
    /// An open file of the recording.
    private final class Layer: Sendable {
        let start: SamplePosition
        let ordinal: Int
        let file: FileDescriptor
        let layout: WaveLayout

        init(_ name: String, in folder: Folder, start: SamplePosition, ordinal: Int) throws(DeviceError) {
            let file = try folder.openFile(name, O_RDONLY)
            layout = try WaveLayout(of: file)
            self.file = file
            self.start = start
            self.ordinal = ordinal
        }

        func end() throws(DeviceError) -> SamplePosition {
            start + max(0, try file.size() - layout.dataOffset) / layout.frameBytes
        }

        /// Returns whether `name` still refers to this file.
        func isStillNamed(_ name: String, in folder: Folder) -> Bool {
            guard let status = try? file.status(), let named = try? folder.status(name) else { return false }
            return status.inode == named.inode && status.device == named.device
        }
    }

    /// The number of channels, 1 or 2.
    package let channels: Int
    private let location: RecordingLocation
    /// `audio.wav` and the parts that overlay it. The last one takes precedence.
    private let layers: Mutex<[Layer]>

    /// - Parameter path: The path of the `audio.wav`.
    /// - Throws: `DeviceError` with `missing`, `denied`, `damaged` or `unsupported`.
    package convenience init(path: String) throws(DeviceError) { try self.init(RecordingLocation(path)) }

    init(_ location: RecordingLocation) throws(DeviceError) {
        self.location = location
        let first = try Layer(location.name, in: location.folder, start: .zero, ordinal: 0)
        channels = first.layout.channels
        layers = Mutex([first])
        refresh()
    }

    package var length: SamplePosition {
        get throws(DeviceError) {
            refresh()
            return try Self.end(of: layers.withLock { $0 })
        }
    }

    /// Returns the added file that the recording was converted from; nil if there is none.
    package func original() throws(DeviceError) -> OriginalFile? {
        let folder = location.folder
        guard let name = try folder.names().sorted().first(where: RecordingFolder.isOriginal) else { return nil }
        return OriginalFile(name: name, bytes: try folder.openFile(name, O_RDONLY).size(), folder: folder)
    }

    /// Why the recording ended, from the header of the last file when this reader opened it; nil if the header does not
    /// contain a reason.
    package var stopReason: StopReason? { layers.withLock { $0 }.last?.layout.stopReason }

    /// Reads samples until the buffer is full or the recording ends. Gaps are silent. Two channels are mixed.
    ///
    /// - Returns: The number of samples; 0 at the current end.
    package func read(
        at position: SamplePosition, into buffer: UnsafeMutableBufferPointer<Int16>
    ) throws(DeviceError) -> Int {
        if channels == 1 { return try readFrames(at: position, into: buffer) }
        let frames = UnsafeMutableBufferPointer<Int16>.allocate(
            capacity: channels * min(buffer.count, Self.maximumMixedSamples))
        frames.initialize(repeating: 0)
        defer { frames.deallocate() }
        var samplesRead = 0
        while samplesRead < buffer.count {
            let requested = min(buffer.count - samplesRead, Self.maximumMixedSamples)
            let part = UnsafeMutableBufferPointer(rebasing: frames[..<(requested * channels)])
            let count = try readFrames(at: position + Int64(samplesRead), into: part)
            let rest = UnsafeMutableBufferPointer(rebasing: buffer[samplesRead...])
            Frames.mix(UnsafeBufferPointer(rebasing: part[..<(count * channels)]), channels: channels, into: rest)
            samplesRead += count
            if count < requested { break }
        }
        return samplesRead
    }

    private static let maximumMixedSamples = 16_384

    /// Reads interleaved frames until the buffer is full or the recording ends. The buffer's size must be a multiple of
    /// `channels`.
    ///
    /// - Returns: The number of samples per channel; 0 at the current end.
    package func readFrames(
        at position: SamplePosition, into buffer: UnsafeMutableBufferPointer<Int16>
    ) throws(DeviceError) -> Int {
        guard position >= .zero, position.samples < Int64.max / 4 else { return 0 }
        let count = try read(layers.withLock { $0 }, at: position, into: buffer)
        // This is the current end, unless there is a new part or a joined file.
        guard count < buffer.count / channels, refresh() else { return count }
        return try read(layers.withLock { $0 }, at: position, into: buffer)
    }

    private func read(
        _ layers: [Layer], at position: SamplePosition, into buffer: UnsafeMutableBufferPointer<Int16>
    ) throws(DeviceError) -> Int {
        let frameBytes = Frames.bytes(channels: channels)
        var framesRead = 0
        while framesRead < buffer.count / channels {
            let current = position + Int64(framesRead)
            guard let index = try Self.index(in: layers, containing: current) else { break }
            // The next part takes precedence from its start on, even if this file continues.
            let next = layers[(index + 1)...].map(\.start).filter { $0 > current }.min()
            let limit = next.map { Int(clamping: ($0 - current) * Int64(channels)) } ?? .max
            let rest = UnsafeMutableBufferPointer(rebasing: buffer[(framesRead * channels)...].prefix(limit))
            let layer = layers[index]
            let count =
                try layer.file.read(
                    into: UnsafeMutableRawBufferPointer(rest),
                    at: layer.layout.dataOffset + frameBytes * (current - layer.start)) / Int(frameBytes)
            if count == 0 { break }
            framesRead += count
        }
        return framesRead
    }

    /// Returns the last file that contains a position.
    private static func index(
        in layers: [Layer], containing position: SamplePosition
    ) throws(DeviceError) -> Int? {
        for index in layers.indices.reversed() where layers[index].start <= position {
            if try layers[index].end() > position { return index }
        }
        return nil
    }

    private static func end(of layers: [Layer]) throws(DeviceError) -> SamplePosition {
        var end = SamplePosition.zero
        for layer in layers { end = max(end, try layer.end()) }
        return end
    }

    /// Opens new parts, or the file into which all parts were joined. Returns whether `layers` changed.
    @discardableResult
    private func refresh() -> Bool {
        layers.withLock { layers in
            var updated = layers
            if let first = updated.first, !first.isStillNamed(location.name, in: location.folder),
                let joined = try? Layer(location.name, in: location.folder, start: .zero, ordinal: 0)
            {
                updated = [joined]
            }
            if updated.first?.layout.isJoined != true {
                for part in (try? RecordingPart.all(in: location)) ?? []
                where !updated.contains(where: { $0.ordinal == part.ordinal && $0.start == part.start }) {
                    // Skip a part that is still being created or has already been deleted.
                    guard
                        let layer = try? Layer(
                            part.name, in: location.folder, start: part.start, ordinal: part.ordinal),
                        layer.layout.channels == channels
                    else { continue }
                    updated.append(layer)
                }
                updated.sort { ($0.start, $0.ordinal) < ($1.start, $1.ordinal) }
            }
            let hasChanged = updated.map(ObjectIdentifier.init) != layers.map(ObjectIdentifier.init)
            layers = updated
            return hasChanged
        }
    }
}

/// The added file that a recording was converted from, which is stored beside the recording.
package struct OriginalFile: Sendable {
    /// The file's name, from `RecordingFolder.originalName`.
    package let name: String
    package let bytes: Int64
    fileprivate let folder: Folder

    /// Opens the file for reading.
    package func open() throws(DeviceError) -> FileDescriptor { try folder.openFile(name, O_RDONLY) }
}
