import Core
import Glibc
import System

/// Repairs a recording's file after a power cut: the header is corrected to the file's length.
///
/// It only removes part of a sample and zeros that were never written. It may be killed and run again; it does not change an
/// intact file.
package struct RecordingRepair: Hashable, Sendable {
    /// A change to the file.
    package enum Change: String, Sendable, Hashable, CaseIterable {
        /// Part of a sample or frame at the end was removed.
        case halfSample
        /// Zeros that the file system had added to its last block were removed.
        case unwrittenTail
        /// The header had a wrong length or stop reason.
        case header
        /// The header was unreadable; it was saved beside the file and rewritten.
        case newHeader
    }

    package var length: SamplePosition

    /// According to the repaired file.
    package var reason: StopReason

    /// How much a closed file's header exceeded the audio; zero if intact.
    package var lost: Int64

    /// The changes, in order; empty if the file was intact.
    package var changes: [Change]

    /// Repairs the file at `path`.
    ///
    /// - Parameter archived: the archive's entry, used if the header is unreadable and the length matches.
    /// - Throws: `DeviceError`, `unsupported` for a foreign file, which is not changed.
    package static func run(
        path: String, archived: (length: SamplePosition, reason: StopReason)? = nil
    ) throws(DeviceError) -> RecordingRepair {
        let place = try RecordingPlace(path)
        let file = try place.folder.openFile(place.name, O_RDWR)
        let size = try file.size()
        var changes: [Change] = []
        let layout = try layout(of: file)
        if let layout, layout.dataOffset != Int64(WaveHeader.size) {
            // A file of another program: leave its header alone.
            let bytes = max(0, size - layout.dataOffset)
            return RecordingRepair(
                length: SamplePosition(bytes / layout.frameBytes), reason: layout.stopReason ?? .ended, lost: 0,
                changes: [])
        }
        let channels = try RecordingSums.channels(of: file, layout, in: place)
        let frame = Frames.bytes(channels: channels)
        let unwritten = try unwrittenTail(of: file, size: size, layout: layout)
        let dataBytes = max(0, size - Int64(WaveHeader.size) - unwritten) / frame * frame
        if unwritten > 0 { changes.append(.unwrittenTail) }
        if size > Int64(WaveHeader.size), (size - Int64(WaveHeader.size)) % frame != 0 { changes.append(.halfSample) }
        if !changes.isEmpty { try file.truncate(to: Int64(WaveHeader.size) + dataBytes) }
        let length = SamplePosition(dataBytes / frame)
        let reason = reason(of: layout, dataBytes: dataBytes, length: length, archived: archived)
        // Before a power cut, a header may be ahead of the audio; in a closed file it may not.
        let isClosed = layout?.stopReason.map { $0 != .cutShort } ?? false
        let lost = isClosed ? layout.map { max(0, $0.claimedBytes - dataBytes) / frame } ?? 0 : 0
        let header = WaveHeader(channels: channels, dataBytes: dataBytes, reason: reason)
        if try file.bytes(count: header.bytes.count) != header.bytes {
            if layout == nil { try keepHeader(of: file, in: place.folder) }
            changes.append(layout == nil ? .newHeader : .header)
            try header.write(to: file)
        }
        if !changes.isEmpty { try file.sync() }
        return RecordingRepair(length: length, reason: reason, lost: lost, changes: changes)
    }

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
        let dataBytes = layout.frameBytes * end.samples
        try file.truncate(to: Int64(WaveHeader.size) + dataBytes)
        try WaveHeader(channels: layout.channels, dataBytes: dataBytes).write(to: file)
        try file.sync()
        return (end, first > length ? Gap(SampleRange(length, first), cause: .disk) : nil)
    }

    /// Returns the zeros at the end that were never synced: ext4 may keep a new length within an allocated block without the
    /// data. Synced zeros are audio.
    private static func unwrittenTail(
        of file: borrowing FileDescriptor, size: Int64, layout: WaveLayout?
    ) throws(DeviceError) -> Int64 {
        let headerBytes = Int64(WaveHeader.size)
        guard let layout, layout.stopReason == .cutShort, size > headerBytes else { return 0 }
        let claimed = headerBytes + layout.claimedBytes
        guard claimed != size else { return 0 }
        // A header that is ahead of the audio was never synced.
        let confirmed = claimed < size ? claimed : headerBytes
        let start = max(confirmed, (size - 1) / block * block)
        let tail = try file.bytes(at: start, count: Int(size - start))
        let zeros = tail.reversed().prefix { $0 == 0 }.count
        // Part of the last sample may be zero as well.
        return Int64(zeros) / layout.frameBytes * layout.frameBytes
    }

    private static let block: Int64 = 4_096

    /// Reads the header; nil if it is ours and damaged.
    static func layout(of file: borrowing FileDescriptor) throws(DeviceError) -> WaveLayout? {
        let layout: WaveLayout?
        do throws(DeviceError) { layout = try WaveLayout(of: file) } catch {
            guard error.code == .damaged || error.code == .unsupported else { throw error }
            // Foreign, unless our marker is in place.
            if error.code == .unsupported, try !isOurs(file) { throw error }
            return nil
        }
        guard let layout, layout.dataOffset != Int64(WaveHeader.size) else { return layout }
        return try isOurs(file) ? nil : layout
    }

    /// Whether most of our header is in place.
    private static func isOurs(_ file: borrowing FileDescriptor) throws(DeviceError) -> Bool {
        let ours = WaveHeader().bytes
        let theirs = try file.bytes(count: ours.count)
        return zip(ours, theirs).count { $0 == $1 } > ours.count * 3 / 4
            && zip(ours[80..<112], theirs.dropFirst(80)).count { $0 == $1 } > 16
    }

    private static func reason(
        of layout: WaveLayout?, dataBytes: Int64, length: SamplePosition,
        archived: (length: SamplePosition, reason: StopReason)?
    ) -> StopReason {
        if let layout, let reason = layout.stopReason {
            return layout.claimedBytes > dataBytes ? .cutShort : reason
        }
        guard let archived, archived.length == length else { return .cutShort }
        return archived.reason
    }

    /// Saves the bytes at the header's place before they are overwritten.
    static func keepHeader(of file: borrowing FileDescriptor, in folder: Folder) throws(DeviceError) {
        let old = try file.bytes(count: WaveHeader.size)
        guard old.contains(where: { $0 != 0 }) else { return }
        try folder.replace(folder.freeName(for: lastName(of: file.path), "damaged-header"), with: old)
    }
}
