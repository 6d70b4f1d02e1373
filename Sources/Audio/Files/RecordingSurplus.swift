import Core
import Glibc
import System

/// Audio that another program has appended to a closed recording.
package struct RecordingSurplus: Hashable, Sendable {
    let path: String
    /// The length of the recording, without the surplus.
    package let length: SamplePosition
    package let samples: Int64
    /// The length in the file's header; nil if it is unreadable.
    package let headerLength: SamplePosition?
    /// Whether the file was joined from parts.
    package let isJoined: Bool

    /// Why the recording ended, from the header; nil if it is unreadable.
    package let reason: StopReason?

    private let channels: Int

    /// Checks a file with Fieldscribe's header, which may be damaged, for audio after the recording's end.
    ///
    /// - Parameter length: The recording's length.
    /// - Returns: Nil if `length` is zero, no complete samples follow the end, or another program wrote the header.
    /// - Throws: `DeviceError` if the file cannot be read.
    package init?(path: String, after length: SamplePosition) throws(DeviceError) {
        guard length > .zero else { return nil }
        let location = try RecordingLocation(path)
        let file = try location.folder.openFile(location.name, O_RDONLY)
        let layout = try RecordingRepair.layout(of: file)
        guard layout.map({ $0.dataOffset == Int64(WaveHeader.size) }) ?? true else { return nil }
        channels = try RecordingSums.channels(of: file, layout, in: location)
        let frameBytes = Frames.bytes(channels: channels)
        samples = (try file.size() - Int64(WaveHeader.size)) / frameBytes - length.samples
        guard samples > 0 else { return nil }
        self.path = path
        self.length = length
        headerLength = layout.map { SamplePosition($0.claimedBytes / frameBytes) }
        isJoined = layout?.isJoined ?? false
        reason = layout?.stopReason
    }

    /// Returns the SHA-256 of the samples in the recording's `audio.wav` up to a position, without other parts.
    ///
    /// - Returns: Nil if `shouldContinue` returned false.
    package static func digest(
        of path: String, upTo end: SamplePosition, while shouldContinue: () -> Bool
    ) throws(DeviceError) -> String? {
        let location = try RecordingLocation(path)
        let file = try location.folder.openFile(location.name, O_RDONLY)
        let layout = try RecordingRepair.layout(of: file)
        let channels = try RecordingSums.channels(of: file, layout, in: location)
        let start = layout?.dataOffset ?? Int64(WaveHeader.size)
        return try digest(
            of: file, start..<(start + end.samples * Frames.bytes(channels: channels)), while: shouldContinue)
    }

    /// Moves the surplus to another file and corrects the header. If the process is killed, the next call completes the
    /// move.
    ///
    /// - Parameter fallback: The stop reason to use if the header is unreadable.
    /// - Returns: The path of the new file.
    /// - Throws: `DeviceError` with `full` if there is not enough space, in which case nothing is changed.
    package func setAside(fallback: StopReason) throws(DeviceError) -> String {
        let location = try RecordingLocation(path)
        let file = try location.folder.openFile(location.name, O_RDWR)
        let name = try copySurplus(file, in: location)
        if headerLength == nil { try RecordingRepair.saveHeader(of: file, in: location.folder) }
        // Write the header first, because a closed file that is shorter than its header says counts as damaged.
        try WaveHeader(channels: channels, dataBytes: end - Int64(WaveHeader.size), reason: reason ?? fallback)
            .write(to: file)
        try file.sync()
        try file.truncate(to: end)
        try file.sync()
        return location.path(of: name)
    }

    /// The offset of the surplus in the file.
    private var end: Int64 { Int64(WaveHeader.size) + length.samples * Frames.bytes(channels: channels) }

    /// Copies the surplus durably to a file with an unused name, unless an earlier call has done so.
    private func copySurplus(
        _ file: borrowing FileDescriptor, in location: RecordingLocation
    ) throws(DeviceError) -> String {
        let (folder, size) = (location.folder, try file.size())
        var ordinal = 1
        while case let name = "\(location.name).surplus-\(ordinal)", let status = try folder.status(name) {
            if status.kind == .file, status.bytes == size - end {
                let copy = try folder.openFile(name, O_RDONLY)
                let digest = try Self.digest(of: file, end..<size, while: { true })
                if try Self.digest(of: copy, 0..<status.bytes, while: { true }) == digest { return name }
            }
            ordinal += 1
        }
        let (name, temporary) = ("\(location.name).surplus-\(ordinal)", "\(location.name).surplus.new")
        do throws(DeviceError) {
            try folder.remove(temporary)
            let copy = try folder.openFile(temporary, O_RDWR | O_CREAT | O_EXCL)
            var offset = end
            while case let bytes = try file.bytes(at: offset, count: Self.blockBytes), !bytes.isEmpty {
                try rethrowing { try bytes.withUnsafeBytes { try copy.write($0, at: offset - end) } }
                offset += Int64(bytes.count)
            }
            try copy.sync()
            try folder.rename(temporary, toUnused: name)
        } catch {
            try? folder.remove(temporary)
            throw error
        }
        try folder.sync()
        return name
    }

    private static let blockBytes = 1 << 20

    private static func digest(
        of file: borrowing FileDescriptor, _ range: Range<Int64>, while shouldContinue: () -> Bool
    ) throws(DeviceError) -> String? {
        var digest = Digest()
        var offset = range.lowerBound
        while offset < range.upperBound {
            guard shouldContinue() else { return nil }
            let bytes = try file.bytes(at: offset, count: Int(min(Int64(blockBytes), range.upperBound - offset)))
            if bytes.isEmpty { break }
            bytes.withUnsafeBytes { digest.add($0) }
            offset += Int64(bytes.count)
        }
        return digest.finish()
    }
}
