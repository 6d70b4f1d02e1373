import Core
import Glibc
import Synchronization
import System

/// Reads a recording, which may be growing, truncated or in parts.
///
/// Any thread may use it. It trusts the lengths of the files, not those in their headers.
package final class RecordingReader: Sendable {
    /// An open file of the recording.
    private final class Layer: Sendable {
        let start: SamplePosition
        let turn: Int
        let file: FileDescriptor
        let layout: WaveLayout

        init(_ name: String, in folder: Folder, start: SamplePosition, turn: Int) throws(DeviceError) {
            let file = try folder.openFile(name, O_RDONLY)
            layout = try WaveLayout(of: file)
            self.file = file
            self.start = start
            self.turn = turn
        }

        func end() throws(DeviceError) -> SamplePosition {
            start + max(0, try file.size() - layout.dataOffset) / layout.frameBytes
        }

        /// Whether the name still refers to this file.
        func isStill(_ name: String, in folder: Folder) -> Bool {
            guard let mine = try? file.status(), let named = try? folder.status(name) else { return false }
            return mine.inode == named.inode && mine.device == named.device
        }
    }

    /// 1 or 2.
    package let channels: Int
    private let place: RecordingPlace
    /// `audio.wav` and the parts over it; the last one takes precedence.
    private let layers: Mutex<[Layer]>

    /// - Parameter path: the path of its `audio.wav`.
    /// - Throws: `DeviceError` with `missing`, `denied`, `damaged` or `unsupported`.
    package convenience init(path: String) throws(DeviceError) { try self.init(RecordingPlace(path)) }

    init(_ place: RecordingPlace) throws(DeviceError) {
        self.place = place
        let first = try Layer(place.name, in: place.folder, start: .zero, turn: 0)
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

    /// Finds the added file that it was converted from; nil if there is none.
    package func original() throws(DeviceError) -> OriginalFile? {
        guard let name = try place.folder.names().sorted().first(where: RecordingFolder.isOriginal) else { return nil }
        return OriginalFile(name: name, bytes: try place.folder.openFile(name, O_RDONLY).size(), folder: place.folder)
    }

    /// Why the recording ended, as of opening; nil if its files do not say.
    var stopReason: StopReason? { layers.withLock { $0 }.last?.layout.stopReason }

    /// Reads samples until the buffer is full or the recording ends. Gaps read as silence; two channels are mixed.
    ///
    /// - Returns: the number of samples; 0 at the current end.
    package func read(
        at position: SamplePosition, into buffer: UnsafeMutableBufferPointer<Int16>
    ) throws(DeviceError) -> Int {
        if channels == 1 { return try readFrames(at: position, into: buffer) }
        let frames = UnsafeMutableBufferPointer<Int16>.allocate(
            capacity: channels * min(buffer.count, Self.mixedAtOnce))
        frames.initialize(repeating: 0)
        defer { frames.deallocate() }
        var done = 0
        while done < buffer.count {
            let wanted = min(buffer.count - done, Self.mixedAtOnce)
            let part = UnsafeMutableBufferPointer(rebasing: frames[..<(wanted * channels)])
            let count = try readFrames(at: position + Int64(done), into: part)
            let rest = UnsafeMutableBufferPointer(rebasing: buffer[done...])
            Frames.mix(UnsafeBufferPointer(rebasing: part[..<(count * channels)]), channels: channels, into: rest)
            done += count
            if count < wanted { break }
        }
        return done
    }

    private static let mixedAtOnce = 16_384

    /// Reads interleaved frames until the buffer, whose size is a multiple of `channels`, is full or the recording ends.
    ///
    /// - Returns: the number of samples per channel; 0 at the current end.
    package func readFrames(
        at position: SamplePosition, into buffer: UnsafeMutableBufferPointer<Int16>
    ) throws(DeviceError) -> Int {
        guard position >= .zero, position.samples < Int64.max / 4 else { return 0 }
        let count = try read(layers.withLock { $0 }, at: position, into: buffer)
        // The current end, unless there is a new part or joined file.
        guard count < buffer.count / channels, refresh() else { return count }
        return try read(layers.withLock { $0 }, at: position, into: buffer)
    }

    private func read(
        _ layers: [Layer], at position: SamplePosition, into buffer: UnsafeMutableBufferPointer<Int16>
    ) throws(DeviceError) -> Int {
        let frameBytes = Frames.bytes(channels: channels)
        var done = 0
        while done < buffer.count / channels {
            let place = position + Int64(done)
            guard let index = try Self.index(in: layers, holding: place) else { break }
            // The next part takes precedence from its start, even if this one continues.
            let next = layers[(index + 1)...].map(\.start).filter { $0 > place }.min()
            let most = next.map { Int(clamping: ($0 - place) * Int64(channels)) } ?? .max
            let rest = UnsafeMutableBufferPointer(rebasing: buffer[(done * channels)...].prefix(most))
            let layer = layers[index]
            let count =
                try layer.file.read(
                    into: UnsafeMutableRawBufferPointer(rest),
                    at: layer.layout.dataOffset + frameBytes * (place - layer.start)) / Int(frameBytes)
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Returns the last file that contains a position.
    private static func index(in layers: [Layer], holding place: SamplePosition) throws(DeviceError) -> Int? {
        for index in layers.indices.reversed() where layers[index].start <= place {
            if try layers[index].end() > place { return index }
        }
        return nil
    }

    private static func end(of layers: [Layer]) throws(DeviceError) -> SamplePosition {
        var end = SamplePosition.zero
        for layer in layers { end = max(end, try layer.end()) }
        return end
    }

    /// Opens new parts, or the file into which all were joined; returns whether there are any.
    @discardableResult
    private func refresh() -> Bool {
        layers.withLock { layers in
            var fresh = layers
            if let first = fresh.first, !first.isStill(place.name, in: place.folder),
                let joined = try? Layer(place.name, in: place.folder, start: .zero, turn: 0)
            {
                fresh = [joined]
            }
            if fresh.first?.layout.isJoined != true {
                for part in (try? RecordingPart.all(in: place)) ?? []
                where !fresh.contains(where: { $0.turn == part.turn && $0.start == part.start }) {
                    // It is still being created, or already deleted.
                    guard
                        let layer = try? Layer(part.name, in: place.folder, start: part.start, turn: part.turn),
                        layer.layout.channels == channels
                    else { continue }
                    fresh.append(layer)
                }
                fresh.sort { ($0.start, $0.turn) < ($1.start, $1.turn) }
            }
            let isChanged = fresh.map(ObjectIdentifier.init) != layers.map(ObjectIdentifier.init)
            layers = fresh
            return isChanged
        }
    }
}

/// An added file that a recording was converted from, beside the recording.
package struct OriginalFile: Sendable {
    /// Its name, as `RecordingFolder.originalName` returns it.
    package let name: String
    package let bytes: Int64
    fileprivate let folder: Folder

    /// Opens it for reading.
    package func open() throws(DeviceError) -> FileDescriptor { try folder.openFile(name, O_RDONLY) }
}
