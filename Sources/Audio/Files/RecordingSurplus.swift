import Core
import Glibc
import System

/// Audio after the end of a closed recording, which another program has appended.
package struct RecordingSurplus: Hashable, Sendable {
    let path: String
    /// The length of the recording.
    package let length: SamplePosition
    package let samples: Int64
    /// The length in the file's header; nil if it is unreadable.
    package let claimed: SamplePosition?
    /// Whether the file was joined from parts.
    package let isJoined: Bool

    /// Why the recording ended, from the header; nil if it is unreadable.
    package let reason: StopReason?

    private let channels: Int

    /// Checks a file with one of our headers, possibly damaged, for audio after the recording's end.
    ///
    /// - Parameter length: the end of the recording.
    /// - Returns: nil if there is not even one more whole sample.
    /// - Throws: `DeviceError` if the file cannot be read.
    package init?(path: String, behind length: SamplePosition) throws(DeviceError) {
        guard length > .zero else { return nil }
        let place = try RecordingPlace(path)
        let file = try place.folder.openFile(place.name, O_RDONLY)
        let layout = try RecordingRepair.layout(of: file)
        guard layout.map({ $0.dataOffset == Int64(WaveHeader.size) }) ?? true else { return nil }
        channels = try RecordingSums.channels(of: file, layout, in: place)
        let frameBytes = Frames.bytes(channels: channels)
        samples = (try file.size() - Int64(WaveHeader.size)) / frameBytes - length.samples
        guard samples > 0 else { return nil }
        self.path = path
        self.length = length
        claimed = layout.map { SamplePosition($0.claimedBytes / frameBytes) }
        isJoined = layout?.isJoined ?? false
        reason = layout?.stopReason
    }

    /// Returns the SHA-256 of the samples in the recording's own file up to a position, without its parts.
    ///
    /// - Returns: nil if `shouldContinue` returned false.
    package static func digest(
        of path: String, upTo end: SamplePosition, while shouldContinue: () -> Bool
    ) throws(DeviceError) -> String? {
        let place = try RecordingPlace(path)
        let file = try place.folder.openFile(place.name, O_RDONLY)
        let layout = try RecordingRepair.layout(of: file)
        let channels = try RecordingSums.channels(of: file, layout, in: place)
        let start = layout?.dataOffset ?? Int64(WaveHeader.size)
        return try digest(
            of: file, start..<(start + end.samples * Frames.bytes(channels: channels)), while: shouldContinue)
    }

    /// Moves the surplus to another file and corrects the header. After a kill at any moment, the next call completes it.
    ///
    /// - Parameter fallback: why the recording ended, if the header is unreadable.
    /// - Returns: the path of the new file.
    /// - Throws: `DeviceError` with `full` without enough space; nothing is then changed.
    package func setAside(fallback: StopReason) throws(DeviceError) -> String {
        let place = try RecordingPlace(path)
        let file = try place.folder.openFile(place.name, O_RDWR)
        let name = try keep(file, in: place)
        if claimed == nil { try RecordingRepair.keepHeader(of: file, in: place.folder) }
        // The header first: a closed file that is shorter than its header counts as damaged.
        try WaveHeader(channels: channels, dataBytes: end - Int64(WaveHeader.size), reason: reason ?? fallback)
            .write(to: file)
        try file.sync()
        try file.truncate(to: end)
        try file.sync()
        return place.path(of: name)
    }

    /// The offset of the surplus in the file.
    private var end: Int64 { Int64(WaveHeader.size) + length.samples * Frames.bytes(channels: channels) }

    /// Copies the surplus durably to an unused name, unless an earlier call has done it.
    private func keep(_ file: borrowing FileDescriptor, in place: RecordingPlace) throws(DeviceError) -> String {
        let (folder, size) = (place.folder, try file.size())
        var turn = 1
        while case let name = "\(place.name).surplus-\(turn)", let status = try folder.status(name) {
            if status.kind == .file, status.bytes == size - end {
                let kept = try folder.openFile(name, O_RDONLY)
                let mine = try Self.digest(of: file, end..<size, while: { true })
                if try Self.digest(of: kept, 0..<status.bytes, while: { true }) == mine { return name }
            }
            turn += 1
        }
        let (name, temporary) = ("\(place.name).surplus-\(turn)", "\(place.name).surplus.new")
        do throws(DeviceError) {
            try folder.remove(temporary)
            let kept = try folder.openFile(temporary, O_RDWR | O_CREAT | O_EXCL)
            var offset = end
            while case let bytes = try file.bytes(at: offset, count: Self.step), !bytes.isEmpty {
                try rethrowing { try bytes.withUnsafeBytes { try kept.write($0, at: offset - end) } }
                offset += Int64(bytes.count)
            }
            try kept.sync()
            try folder.rename(temporary, toFree: name)
        } catch {
            try? folder.remove(temporary)
            throw error
        }
        try folder.sync()
        return name
    }

    private static let step = 1 << 20

    private static func digest(
        of file: borrowing FileDescriptor, _ range: Range<Int64>, while shouldContinue: () -> Bool
    ) throws(DeviceError) -> String? {
        var digest = Digest()
        var offset = range.lowerBound
        while offset < range.upperBound {
            guard shouldContinue() else { return nil }
            let bytes = try file.bytes(at: offset, count: Int(min(Int64(step), range.upperBound - offset)))
            if bytes.isEmpty { break }
            bytes.withUnsafeBytes { digest.add($0) }
            offset += Int64(bytes.count)
        }
        return digest.finish()
    }
}
