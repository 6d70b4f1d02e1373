import Core
import Glibc
import System

/// The result of comparing a recording's audio with the checksums that were computed while it was written.
package struct RecordingSums: Hashable, Sendable {
    /// The ranges that differ from what was recorded or cannot be read, in pieces of one second.
    package var damaged: [SampleRange] = []

    /// The ranges without checksums: all of a recording made by an earlier version, or the end after a power cut.
    package var unknown: [SampleRange] = []

    /// The digest of all audio.
    package struct Sound: Hashable, Sendable {
        /// The SHA-256 of the samples. Two channels are interleaved.
        package var digest: String
        package var length: SamplePosition
    }

    /// The digest of all audio; nil if it was not requested or cannot be read.
    package var sound: Sound?

    init() {}

    /// Checks a whole recording, which may be growing or in parts.
    ///
    /// - Parameters:
    ///   - isGrowing: Whether the recording is in progress. If so, ranges without checksums are not reported.
    ///   - digests: Whether to compute `sound`, which also reads samples without checksums.
    ///   - shouldContinue: Called at most once per second of audio. Return false to cancel.
    /// - Returns: Nil if cancelled.
    package init?(
        path: String, isGrowing: Bool = false, digests: Bool = false, while shouldContinue: () -> Bool = { true }
    ) throws(DeviceError) {
        let location = try RecordingLocation(path)
        // Read the lines first, so that the audio of each line is already in the file.
        let lines = try Self.lines(in: location)
        let reader = try RecordingReader(path: path)
        let end = try reader.length.samples
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: Int(SumLine.pieceSamples) * reader.channels)
        buffer.initialize(repeating: 0)
        defer { buffer.deallocate() }
        var digest = digests ? Digest() : nil
        var start: Int64 = 0
        while start < end {
            let next = start + SumLine.pieceSamples
            let line = lines[start].flatMap { start + $0.count <= end ? $0 : nil }
            if line != nil || digest != nil {
                guard shouldContinue() else { return nil }
                let count = digest == nil ? line?.count ?? 0 : min(next, end) - start
                let samples: UnsafeBufferPointer<Int16>?
                do throws(DeviceError) { samples = try Self.read(count, from: start, of: reader, buffer) } catch {
                    // An unreadable sector counts as damage, but missing permission does not.
                    guard error.code == .failed || error.code == .damaged else { throw error }
                    samples = nil
                }
                if let line,
                    samples.map({ Self.sum(of: $0.prefix(Int(line.count) * reader.channels)) }) != line.checksum
                {
                    Self.add(start, start + line.count, to: &damaged)
                }
                if let samples { digest?.add(UnsafeRawBufferPointer(samples)) } else { digest = nil }
            }
            if let line {
                if line.count < SumLine.pieceSamples, start + line.count < end {
                    Self.add(start + line.count, min(next, end), to: &unknown)
                }
            } else if !isGrowing {
                Self.add(start, min(next, end), to: &unknown)
            }
            start = next
        }
        sound = (digest?.finish()).map { Sound(digest: $0, length: SamplePosition(end)) }
    }

    /// Adds missing checksums for the current audio. Existing ones are kept unless the length of their piece has
    /// changed. Must not be called while the recording is being written.
    ///
    /// - Parameters:
    ///   - afterLast: Whether to add checksums only after the last existing one. If there are none, nothing is added.
    ///   - shouldContinue: Called once per second of audio. Return false to stop; the next call continues.
    /// - Returns: The number of samples for which checksums were added.
    package static func complete(
        path: String, afterLast: Bool = false, while shouldContinue: () -> Bool = { true }
    ) throws(DeviceError) -> Int64 {
        let location = try RecordingLocation(path)
        let lines = try lines(in: location)
        if afterLast, lines.isEmpty { return 0 }
        if lines.isEmpty { try setAsideOversizedFile(in: location) }
        let reader = try RecordingReader(path: path)
        let end = try reader.length.samples
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: Int(SumLine.pieceSamples) * reader.channels)
        buffer.initialize(repeating: 0)
        defer { buffer.deallocate() }
        var added: Int64 = 0
        var bytes: [UInt8] = []
        var start = afterLast ? lines.keys.max() ?? 0 : 0
        while start < end, shouldContinue() {
            let count = min(SumLine.pieceSamples, end - start)
            if lines[start].map({ $0.count != count }) ?? true {
                let checksum = try sum(of: read(count, from: start, of: reader, buffer)[...])
                SumLine(start: start, count: count, checksum: checksum).append(to: &bytes)
                added += count
            }
            if bytes.count > 1 << 16 { try append(&bytes, in: location) }
            start += SumLine.pieceSamples
        }
        if added > 0 { try append(&bytes, in: location) }
        return added
    }

    /// Returns whether any audio has no checksum.
    package static func hasMissing(path: String) throws(DeviceError) -> Bool {
        let lines = try lines(in: RecordingLocation(path))
        let end = try RecordingReader(path: path).length.samples
        return stride(from: 0, to: end, by: Int(SumLine.pieceSamples)).contains { start in
            lines[start]?.count != min(SumLine.pieceSamples, end - start)
        }
    }

    /// Recomputes the checksums of redacted ranges. Can be repeated after an interruption. Must not be called while the
    /// recording is being written.
    package static func recompute(_ ranges: [SampleRange], path: String) throws(DeviceError) {
        let location = try RecordingLocation(path)
        let lines = try lines(in: location)
        let reader = try RecordingReader(path: path)
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: Int(SumLine.pieceSamples) * reader.channels)
        buffer.initialize(repeating: 0)
        defer { buffer.deallocate() }
        var bytes: [UInt8] = []
        for line in lines.values.sorted(by: { $0.start < $1.start }) {
            let piece = SampleRange(SamplePosition(line.start), SamplePosition(line.start + line.count))
            guard ranges.contains(where: { $0.intersection(piece) != nil }), try reader.length >= piece.end else {
                continue
            }
            let checksum = try sum(of: read(line.count, from: line.start, of: reader, buffer)[...])
            if checksum != line.checksum {
                SumLine(start: line.start, count: line.count, checksum: checksum).append(to: &bytes)
            }
        }
        if !bytes.isEmpty { try append(&bytes, in: location) }
    }

    /// The maximum size of a checksum file, which corresponds to almost ten days of audio.
    private static let maximumBytes = 1 << 25

    /// Returns the path of a recording's checksum file.
    ///
    /// - Parameter audio: The path of the `audio.wav`. If this is only a name, a name is returned.
    package static func path(for audio: String) -> String { "\(RecordingPart.stem(of: audio)).sums" }

    /// Returns the lines by start. If there are several for a start, the last one counts.
    private static func lines(in location: RecordingLocation) throws(DeviceError) -> [Int64: SumLine] {
        let bytes: [UInt8]
        do throws(DeviceError) {
            bytes = try location.folder.content(ofFile: path(for: location.name), limit: maximumBytes)
        } catch {
            // If there is no such file, or it is not a regular file, all checksums are missing.
            guard error.code == .missing || error.code == .unsupported || error.status == ELOOP else { throw error }
            return [:]
        }
        var lines: [Int64: SumLine] = [:]
        for text in bytes.split(separator: UInt8(ascii: "\n")) {
            // Parse only the end of each line, because damaged text before an appended line may not end in a newline.
            if let line = SumLine(text.suffix(SumLine.size - 1)) { lines[line.start] = line }
        }
        return lines
    }

    /// Sets an oversized file aside, because lines appended to it would not be read.
    private static func setAsideOversizedFile(in location: RecordingLocation) throws(DeviceError) {
        let name = path(for: location.name)
        guard let status = try location.folder.status(name), status.kind == .file,
            status.bytes > Int64(maximumBytes)
        else { return }
        try location.folder.rename(name, toUnused: try location.folder.unusedName(for: name, "damaged"))
    }

    /// Reads samples from all channels. Throws `damaged` if the recording ends before the last of them.
    private static func read(
        _ count: Int64, from start: Int64, of reader: RecordingReader, _ buffer: UnsafeMutableBufferPointer<Int16>
    ) throws(DeviceError) -> UnsafeBufferPointer<Int16> {
        let part = UnsafeMutableBufferPointer(rebasing: buffer[..<(Int(count) * reader.channels)])
        guard try reader.readFrames(at: SamplePosition(start), into: part) == Int(count) else {
            throw DeviceError(.damaged, "read", cause: .damagedAudio, "the recording is shorter than its checksums say")
        }
        return UnsafeBufferPointer(part)
    }

    private static func sum(of samples: Slice<UnsafeBufferPointer<Int16>>) -> UInt32 {
        AudioChecksum.of(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: samples)))
    }

    /// Returns the channel count of a recording's file. If the header is unreadable, this is the count with which the
    /// checksums match, or 1 if that cannot be determined.
    ///
    /// - Parameters:
    ///   - file: The `audio.wav`, with samples after a header that Fieldscribe wrote.
    ///   - layout: The layout from the header; nil if the header is unreadable.
    static func channels(
        of file: borrowing FileDescriptor, _ layout: WaveLayout?, in location: RecordingLocation
    ) throws(DeviceError) -> Int {
        if let layout { return layout.channels }
        for line in try lines(in: location).values.sorted(by: { $0.start < $1.start }).prefix(60) {
            var matching: [Int] = []
            for channels in [1, 2] {
                let frame = Frames.bytes(channels: channels)
                let bytes = try file.bytes(
                    at: Int64(WaveHeader.size) + line.start * frame, count: Int(line.count * frame))
                if bytes.count == Int(line.count * frame), bytes.withUnsafeBytes(AudioChecksum.of) == line.checksum {
                    matching.append(channels)
                }
            }
            if matching.count == 1 { return matching[0] }
        }
        return 1
    }

    private static func append(_ bytes: inout [UInt8], in location: RecordingLocation) throws(DeviceError) {
        let file = try location.folder.openFile(path(for: location.name), O_RDWR | O_CREAT)
        // Write after the last complete line, because a power cut may leave an incomplete one.
        let end = try file.size() / Int64(SumLine.size) * Int64(SumLine.size)
        try rethrowing { try bytes.withUnsafeBytes { try file.write($0, at: end) } }
        try file.sync()
        try location.folder.sync()
        bytes.removeAll(keepingCapacity: true)
    }

    /// Adds a range, merging it with the previous one if they are adjacent.
    private static func add(_ start: Int64, _ end: Int64, to ranges: inout [SampleRange]) {
        if let last = ranges.last, last.end.samples == start {
            ranges[ranges.count - 1] = SampleRange(last.start, SamplePosition(end))
        } else {
            ranges.append(SampleRange(SamplePosition(start), SamplePosition(end)))
        }
    }
}
