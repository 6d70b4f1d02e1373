import Core
import Glibc
import System

/// Compares a recording's audio with the checksums that were made while it was written.
package struct RecordingSums: Hashable, Sendable {
    /// The ranges that differ from what was recorded or cannot be read, in whole seconds.
    package var damaged: [SampleRange] = []

    /// The ranges without checksums: all of a recording by an earlier version; the end after a power cut.
    package var unknown: [SampleRange] = []

    /// The digest of all audio.
    package struct Sound: Hashable, Sendable {
        /// SHA-256; two channels are interleaved.
        package var digest: String
        package var length: SamplePosition
    }

    /// The digest of all audio; nil if not requested or not readable.
    package var sound: Sound?

    init() {}

    /// Reads a whole recording, which may be growing or in parts.
    ///
    /// - Parameters:
    ///   - path: the path of its `audio.wav`.
    ///   - isGrowing: whether it is being recorded; then the end is not expected to have checksums.
    ///   - digests: whether to compute `sound`, which also reads samples without checksums.
    ///   - shouldContinue: called about once per second of audio; return false to cancel.
    /// - Returns: nil if cancelled.
    /// - Throws: `DeviceError` if the recording cannot be opened.
    package init?(
        path: String, isGrowing: Bool = false, digests: Bool = false, while shouldContinue: () -> Bool = { true }
    ) throws(DeviceError) {
        let place = try RecordingPlace(path)
        // Before the reader opens: samples that are appended meanwhile have no line yet.
        let lines = try Self.lines(in: place)
        let reader = try RecordingReader(path: path)
        let end = try reader.length.samples
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: Int(SumLine.piece) * reader.channels)
        buffer.initialize(repeating: 0)
        defer { buffer.deallocate() }
        var digest = digests ? Digest() : nil
        var start: Int64 = 0
        while start < end {
            let next = start + SumLine.piece
            let line = lines[start].flatMap { start + $0.count <= end ? $0 : nil }
            if line != nil || digest != nil {
                guard shouldContinue() else { return nil }
                let count = digest == nil ? line?.count ?? 0 : min(next, end) - start
                let samples: UnsafeBufferPointer<Int16>?
                do throws(DeviceError) { samples = try Self.read(count, from: start, of: reader, buffer) } catch {
                    // An unreadable sector is damage; missing permission is not.
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
                if line.count < SumLine.piece, start + line.count < end {
                    Self.add(start + line.count, min(next, end), to: &unknown)
                }
            } else if !isGrowing {
                Self.add(start, min(next, end), to: &unknown)
            }
            start = next
        }
        sound = (digest?.finish()).map { Sound(digest: $0, length: SamplePosition(end)) }
    }

    /// Adds missing checksums of the current audio and keeps existing ones. Do not call it while the recording is being written.
    ///
    /// - Parameters:
    ///   - path: the path of its `audio.wav`.
    ///   - behindLast: whether to add checksums only after the last one, and none if there is none.
    ///   - shouldContinue: called about once per second of audio; return false to stop. The next call continues.
    /// - Returns: the number of samples that now have a checksum.
    /// - Throws: `DeviceError` if the recording cannot be read or the checksums cannot be written.
    package static func complete(
        path: String, behindLast: Bool = false, while shouldContinue: () -> Bool = { true }
    ) throws(DeviceError) -> Int64 {
        let place = try RecordingPlace(path)
        let lines = try lines(in: place)
        if behindLast, lines.isEmpty { return 0 }
        if lines.isEmpty { try clear(place) }
        let reader = try RecordingReader(path: path)
        let end = try reader.length.samples
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: Int(SumLine.piece) * reader.channels)
        buffer.initialize(repeating: 0)
        defer { buffer.deallocate() }
        var made: Int64 = 0
        var bytes: [UInt8] = []
        var start = behindLast ? lines.keys.max() ?? 0 : 0
        while start < end, shouldContinue() {
            let count = min(SumLine.piece, end - start)
            if lines[start].map({ $0.count != count }) ?? true {
                let checksum = try sum(of: read(count, from: start, of: reader, buffer)[...])
                SumLine(start: start, count: count, checksum: checksum).append(to: &bytes)
                made += count
            }
            if bytes.count > 1 << 16 { try append(&bytes, in: place) }
            start += SumLine.piece
        }
        if made > 0 { try append(&bytes, in: place) }
        return made
    }

    /// Returns whether some audio has no checksum.
    package static func areMissing(path: String) throws(DeviceError) -> Bool {
        let lines = try lines(in: RecordingPlace(path))
        let end = try RecordingReader(path: path).length.samples
        return stride(from: 0, to: end, by: Int(SumLine.piece)).contains { start in
            lines[start]?.count != min(SumLine.piece, end - start)
        }
    }

    /// Recomputes the checksums of redacted ranges; can be repeated after an interruption. Do not call it while the
    /// recording is being written.
    package static func renew(_ ranges: [SampleRange], path: String) throws(DeviceError) {
        let place = try RecordingPlace(path)
        let lines = try lines(in: place)
        let reader = try RecordingReader(path: path)
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: Int(SumLine.piece) * reader.channels)
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
        if !bytes.isEmpty { try append(&bytes, in: place) }
    }

    /// The maximum size of a checksum file: nine days of audio.
    private static let longest = 1 << 25

    /// Returns the path of a recording's checksum file.
    ///
    /// - Parameter audio: the path of its `audio.wav`; for its name, returns a name.
    package static func path(for audio: String) -> String { "\(RecordingPart.stem(of: audio)).sums" }

    /// Returns the lines by start; the last one wins.
    private static func lines(in place: RecordingPlace) throws(DeviceError) -> [Int64: SumLine] {
        let bytes: [UInt8]
        do throws(DeviceError) {
            bytes = try place.folder.content(ofFile: path(for: place.name), limit: longest)
        } catch {
            // Another kind of file contains no checksums; they are reported as missing.
            guard error.code == .missing || error.code == .unsupported || error.status == ELOOP else { throw error }
            return [:]
        }
        var lines: [Int64: SumLine] = [:]
        for text in bytes.split(separator: UInt8(ascii: "\n")) {
            // Resynchronize at line ends: text before the first appended line may have none.
            if let line = SumLine(text.suffix(SumLine.size - 1)) { lines[line.start] = line }
        }
        return lines
    }

    /// Sets an oversized file aside, because lines appended to it would not be read.
    private static func clear(_ place: RecordingPlace) throws(DeviceError) {
        let name = path(for: place.name)
        guard let status = try place.folder.status(name), status.kind == .file, status.bytes > Int64(longest) else {
            return
        }
        try place.folder.rename(name, toFree: try place.folder.freeName(for: name, "damaged"))
    }

    /// Reads samples of all channels.
    ///
    /// - Throws: `DeviceError` with `damaged` if the recording is shorter.
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

    /// Returns the channel count of a recording's file. With an unreadable header, it is the one with which the checksums
    /// match, else 1.
    ///
    /// - Parameters:
    ///   - file: `audio.wav` with samples after a header that Fieldscribe wrote.
    ///   - layout: its header; nil if unreadable.
    static func channels(
        of file: borrowing FileDescriptor, _ layout: WaveLayout?, in place: RecordingPlace
    ) throws(DeviceError) -> Int {
        if let layout { return layout.channels }
        for line in try lines(in: place).values.sorted(by: { $0.start < $1.start }).prefix(60) {
            var holds: [Int] = []
            for channels in [1, 2] {
                let frame = Frames.bytes(channels: channels)
                let bytes = try file.bytes(
                    at: Int64(WaveHeader.size) + line.start * frame, count: Int(line.count * frame))
                if bytes.count == Int(line.count * frame), bytes.withUnsafeBytes(AudioChecksum.of) == line.checksum {
                    holds.append(channels)
                }
            }
            if holds.count == 1 { return holds[0] }
        }
        return 1
    }

    private static func append(_ bytes: inout [UInt8], in place: RecordingPlace) throws(DeviceError) {
        let file = try place.folder.openFile(path(for: place.name), O_RDWR | O_CREAT)
        // After whole lines: a power cut may leave part of one.
        let end = try file.size() / Int64(SumLine.size) * Int64(SumLine.size)
        try rethrowing { try bytes.withUnsafeBytes { try file.write($0, at: end) } }
        try file.sync()
        try place.folder.sync()
        bytes.removeAll(keepingCapacity: true)
    }

    /// Adds a range, merged with an adjacent previous one.
    private static func add(_ start: Int64, _ end: Int64, to ranges: inout [SampleRange]) {
        if let last = ranges.last, last.end.samples == start {
            ranges[ranges.count - 1] = SampleRange(last.start, SamplePosition(end))
        } else {
            ranges.append(SampleRange(SamplePosition(start), SamplePosition(end)))
        }
    }
}
