import Core
import Glibc
import System

/// Puts a recording's file right after a power cut: its length is the truth, and its header is made to tell it.
///
/// Takes nothing away but a part of a sample and zeros that were never heard. May be killed at any moment and run again; run on
/// a sound file it changes nothing.
package struct RecordingRepair: Hashable, Sendable {
    /// What was done to the file.
    package enum Change: String, Sendable, Hashable, CaseIterable {
        /// A part of a sample at its end, or of two channels' samples one alone, was dropped.
        case halfSample
        /// The zeros with which the file system had filled its last block were dropped.
        case unwrittenTail
        /// The header told another length, or another reason.
        case header
        /// The header could not be read; it was kept beside the file and written anew.
        case newHeader
    }

    /// How much audio there is.
    package var length: SamplePosition

    /// Why the recording ended, as the file says now.
    package var reason: StopReason

    /// How much more the header of a closed file told than there is; zero in a sound one.
    package var lost: Int64

    /// What was done to the file, in order; empty where it was sound.
    package var changes: [Change]

    /// Repairs the file at `path`.
    ///
    /// - Parameter told: what the archive says of it; believed where the header cannot be read, if the length is right.
    /// - Throws: `DeviceError`, `unsupported` where it is no recording of ours: that is left as it is.
    package static func run(
        path: String, told: (length: SamplePosition, reason: StopReason)? = nil
    ) throws(DeviceError) -> RecordingRepair {
        let place = try RecordingPlace(path)
        let file = try place.folder.openFile(place.name, O_RDWR)
        let size = try file.size()
        var changes: [Change] = []
        let layout = try layout(of: file)
        if let layout, layout.dataOffset != Int64(WaveHeader.size) {
            // Put here by hand, with a header of another program's, which is right or not our business.
            let bytes = max(0, size - layout.dataOffset)
            return RecordingRepair(
                length: SamplePosition(bytes / layout.frameBytes), reason: layout.stopReason ?? .ended, lost: 0,
                changes: [])
        }
        let channels: Int
        if let layout { channels = layout.channels } else { channels = try RecordingSums.channels(of: file, in: place) }
        let frame = Frames.bytes(channels: channels)
        let unwritten = try unwrittenTail(of: file, size: size, layout: layout)
        let dataBytes = max(0, size - Int64(WaveHeader.size) - unwritten) / frame * frame
        if unwritten > 0 { changes.append(.unwrittenTail) }
        if size > Int64(WaveHeader.size), (size - Int64(WaveHeader.size)) % frame != 0 { changes.append(.halfSample) }
        if !changes.isEmpty { try file.truncate(to: Int64(WaveHeader.size) + dataBytes) }
        let length = SamplePosition(dataBytes / frame)
        let reason = reason(of: layout, dataBytes: dataBytes, length: length, told: told)
        // A header that was written just before the cut may be ahead of the audio; one of a closed file may not.
        let isClosed = layout?.stopReason.map { $0 != .cutShort } ?? false
        let lost = isClosed ? layout.map { max(0, Int64($0.claimedBytes) - dataBytes) / frame } ?? 0 : 0
        var header = WaveHeader(channels: channels)
        header.set(dataBytes: dataBytes)
        header.set(reason: reason)
        if try file.bytes(count: header.bytes.count) != header.bytes {
            if layout == nil { try keepHeader(of: file, in: place.folder) }
            changes.append(layout == nil ? .newHeader : .header)
            try write(header.bytes, to: file)
        }
        if !changes.isEmpty { try file.sync() }
        return RecordingRepair(length: length, reason: reason, lost: lost, changes: changes)
    }

    /// Bytes of zeros at the end that no sync had put there: ext4 may keep a file's new length, where it lies in a block that
    /// the file has already, before the sound itself. Zeros that a sync had confirmed are sound.
    private static func unwrittenTail(
        of file: borrowing FileDescriptor, size: Int64, layout: WaveLayout?
    ) throws(DeviceError) -> Int64 {
        let headerBytes = Int64(WaveHeader.size)
        guard let layout, layout.stopReason == .cutShort, size > headerBytes else { return 0 }
        let claimed = headerBytes + layout.claimedBytes
        guard claimed != size else { return 0 }
        // A header that is ahead of the audio was never confirmed.
        let confirmed = claimed < size ? claimed : headerBytes
        let start = max(confirmed, (size - 1) / block * block)
        let tail = try file.bytes(at: start, count: Int(size - start))
        let zeros = tail.reversed().prefix { $0 == 0 }.count
        // A part of the last sample may be zero as well.
        return Int64(zeros) / layout.frameBytes * layout.frameBytes
    }

    private static let block: Int64 = 4_096

    /// What the header says; nil where it is one of ours and damaged.
    static func layout(of file: borrowing FileDescriptor) throws(DeviceError) -> WaveLayout? {
        let layout: WaveLayout?
        do throws(DeviceError) { layout = try WaveLayout(of: file) } catch {
            guard error.code == .damaged || error.code == .unsupported else { throw error }
            // Another program's, unless our mark is in its place.
            if error.code == .unsupported, try !isOurs(file) { throw error }
            return nil
        }
        guard let layout, layout.dataOffset != Int64(WaveHeader.size) else { return layout }
        return try isOurs(file) ? nil : layout
    }

    /// Whether most of a recording's header is where it belongs.
    private static func isOurs(_ file: borrowing FileDescriptor) throws(DeviceError) -> Bool {
        let ours = WaveHeader().bytes
        let theirs = try file.bytes(count: ours.count)
        return zip(ours, theirs).count { $0 == $1 } > ours.count * 3 / 4
            && zip(ours[80..<112], theirs.dropFirst(80)).count { $0 == $1 } > 16
    }

    private static func reason(
        of layout: WaveLayout?, dataBytes: Int64, length: SamplePosition,
        told: (length: SamplePosition, reason: StopReason)?
    ) -> StopReason {
        if let layout, let reason = layout.stopReason {
            return Int64(layout.claimedBytes) > dataBytes ? .cutShort : reason
        }
        guard let told, told.length == length else { return .cutShort }
        return told.reason
    }

    /// Keeps what lies where the header goes: whatever it was, nothing is thrown away.
    static func keepHeader(of file: borrowing FileDescriptor, in folder: Folder) throws(DeviceError) {
        let old = try file.bytes(count: WaveHeader.size)
        guard old.contains(where: { $0 != 0 }) else { return }
        let aside = asideName(for: file.path, "damaged-header")
        try folder.replace(String(aside.dropFirst(folder.path.count + 1)), with: old)
    }

    private static func write(_ bytes: [UInt8], to file: borrowing FileDescriptor) throws(DeviceError) {
        try rethrowing { try bytes.withUnsafeBytes { try file.write($0, at: 0) } }
    }
}
