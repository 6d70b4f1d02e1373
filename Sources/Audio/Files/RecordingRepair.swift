import Core
import Glibc
import System

/// Repairs a recording's file after a power cut by correcting the header to match the file's length.
///
/// Removes only an incomplete frame, and zeros that the file system added. Can be killed and run again. Does not change
/// intact files.
package struct RecordingRepair: Hashable, Sendable {
    /// A change to the file.
    package enum Change: String, Sendable, Hashable, CaseIterable {
        /// An incomplete sample or frame at the end was removed.
        case halfSample
        /// Zeros that the file system had added in the last block were removed.
        case unwrittenTail
        /// The header had a wrong length or stop reason.
        case header
        /// The header was unreadable and was rewritten. The old header was saved beside the file unless it was empty.
        case newHeader
    }

    package var length: SamplePosition

    /// The stop reason according to the repaired file.
    package var reason: StopReason

    /// By how many samples a closed file's header exceeded the audio; zero for other files.
    package var missingSamples: Int64

    /// The changes, in order; empty if the file was intact.
    package var changes: [Change]

    /// Repairs the file at `path`.
    ///
    /// - Parameter archived: The recording's length and stop reason in the archive. This reason is used if the header
    ///   has none and the file has this length.
    /// - Throws: `DeviceError`, with `unsupported` for a WAV file in another format. A WAV file from another program is
    ///   not changed.
    package static func run(
        path: String, archived: (length: SamplePosition, reason: StopReason)? = nil
    ) throws(DeviceError) -> RecordingRepair {
        let location = try RecordingLocation(path)
        let file = try location.folder.openFile(location.name, O_RDWR)
        let size = try file.size()
        var changes: [Change] = []
        let layout = try layout(of: file)
        if let layout, layout.dataOffset != Int64(WaveHeader.size) {
            // Do not change a header from another program.
            let bytes = max(0, size - layout.dataOffset)
            return RecordingRepair(
                length: SamplePosition(bytes / layout.frameBytes), reason: layout.stopReason ?? .ended,
                missingSamples: 0, changes: [])
        }
        let channels = try RecordingSums.channels(of: file, layout, in: location)
        let frame = Frames.bytes(channels: channels)
        let unwritten = try unwrittenTail(of: file, size: size, layout: layout)
        let dataBytes = max(0, size - Int64(WaveHeader.size) - unwritten) / frame * frame
        if unwritten > 0 { changes.append(.unwrittenTail) }
        if size > Int64(WaveHeader.size), (size - Int64(WaveHeader.size)) % frame != 0 { changes.append(.halfSample) }
        if !changes.isEmpty { try file.truncate(to: Int64(WaveHeader.size) + dataBytes) }
        let length = SamplePosition(dataBytes / frame)
        let reason = reason(of: layout, dataBytes: dataBytes, length: length, archived: archived)
        // A power cut may leave a header that is ahead of the audio, but not in a closed file.
        let isClosed = layout?.stopReason.map { $0 != .cutShort } ?? false
        let missingSamples = isClosed ? layout.map { max(0, $0.claimedBytes - dataBytes) / frame } ?? 0 : 0
        let header = WaveHeader(channels: channels, dataBytes: dataBytes, reason: reason)
        if try file.bytes(count: header.bytes.count) != header.bytes {
            if layout == nil { try saveHeader(of: file, in: location.folder) }
            changes.append(layout == nil ? .newHeader : .header)
            try header.write(to: file)
        }
        if !changes.isEmpty { try file.sync() }
        return RecordingRepair(length: length, reason: reason, missingSamples: missingSamples, changes: changes)
    }

    /// The maximum distance, in seconds, from a file's end to the end of a gap that is appended.
    private static let maximumSeconds = 3_600.0

    /// Appends silence to a recording that was cut short, up to the end of the last gap after its audio. A loss at the
    /// end is then stored like any other gap.
    ///
    /// - Parameter gaps: All known gaps.
    /// - Returns: The new length, and the gap between the audio and the first of these gaps, if any. Nil if the file
    ///   was not cut short, no gap ends after its audio, or the last of these gaps ends implausibly late.
    package static func appendSilence(
        over gaps: [Gap], path: String, length: SamplePosition
    ) throws(DeviceError) -> (length: SamplePosition, lost: Gap?)? {
        let later = gaps.filter { $0.range.end > length }
        guard let end = later.map(\.range.end).max(), let first = later.map(\.range.start).min(),
            SampleRange(length, end).seconds <= maximumSeconds
        else { return nil }
        let location = try RecordingLocation(path)
        let file = try location.folder.openFile(location.name, O_RDWR)
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

    /// Returns the number of zero bytes at the end that were never synced. Within an allocated block, ext4 may store a
    /// new length without the data. Synced zeros are audio.
    private static func unwrittenTail(
        of file: borrowing FileDescriptor, size: Int64, layout: WaveLayout?
    ) throws(DeviceError) -> Int64 {
        let headerBytes = Int64(WaveHeader.size)
        guard let layout, layout.stopReason == .cutShort, size > headerBytes else { return 0 }
        let claimedEnd = headerBytes + layout.claimedBytes
        guard claimedEnd != size else { return 0 }
        // A header that is ahead of the audio was not synced with it, so it confirms nothing.
        let syncedEnd = claimedEnd < size ? claimedEnd : headerBytes
        let start = max(syncedEnd, (size - 1) / block * block)
        let tail = try file.bytes(at: start, count: Int(size - start))
        let zeros = tail.reversed().prefix { $0 == 0 }.count
        // Zeros may be part of the last sample.
        return Int64(zeros) / layout.frameBytes * layout.frameBytes
    }

    private static let block: Int64 = 4_096

    /// Reads the header. Returns nil if it is damaged, even if the file does not look like a WAV file. Throws
    /// `unsupported` for another program's header with a different format.
    static func layout(of file: borrowing FileDescriptor) throws(DeviceError) -> WaveLayout? {
        let layout: WaveLayout?
        do throws(DeviceError) { layout = try WaveLayout(of: file) } catch {
            guard error.code == .damaged || error.code == .unsupported else { throw error }
            // The file is from another program unless most of our header is there.
            if error.code == .unsupported, try !hasOwnHeader(file) { throw error }
            return nil
        }
        guard let layout, layout.dataOffset != Int64(WaveHeader.size) else { return layout }
        return try hasOwnHeader(file) ? nil : layout
    }

    /// Returns whether most of the bytes of Fieldscribe's header are there.
    private static func hasOwnHeader(_ file: borrowing FileDescriptor) throws(DeviceError) -> Bool {
        let header = WaveHeader().bytes
        let found = try file.bytes(count: header.count)
        return zip(header, found).count { $0 == $1 } > header.count * 3 / 4
            && zip(header[80..<112], found.dropFirst(80)).count { $0 == $1 } > 16
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

    /// Saves the header's bytes before they are overwritten.
    static func saveHeader(of file: borrowing FileDescriptor, in folder: Folder) throws(DeviceError) {
        let old = try file.bytes(count: WaveHeader.size)
        guard old.contains(where: { $0 != 0 }) else { return }
        try folder.replace(folder.unusedName(for: lastName(of: file.path), "damaged-header"), with: old)
    }
}
