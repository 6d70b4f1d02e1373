import Core
import Glibc
import System

/// The checksums that were made of a recording while it was written, against the sound as it is read now.
package struct RecordingSums: Hashable, Sendable {
    /// Where the sound is not what was recorded, or cannot be read, to the second.
    package var damaged: [SampleRange]

    /// Where nothing tells what was recorded: in recordings of earlier versions everywhere, after a power cut behind the
    /// last checksum.
    package var unknown: [SampleRange]

    /// All of a recording's sound.
    package struct Sound: Hashable, Sendable {
        /// SHA-256 of all samples, those of two channels interleaved.
        package var digest: String
        /// How long it is.
        package var length: SamplePosition
    }

    /// What all of the sound is; nil if that was not asked for, or not all could be read.
    package var sound: Sound?

    init(damaged: [SampleRange] = [], unknown: [SampleRange] = []) {
        self.damaged = damaged
        self.unknown = unknown
    }

    /// Reads all of a recording, also one that is still growing or lies in parts.
    ///
    /// - Parameters:
    ///   - path: of its `audio.wav`.
    ///   - isGrowing: whether it is being recorded: what has no checksum yet is then none that is missing.
    ///   - digests: whether to compute `sound`, for which also those samples are read that have no checksum.
    ///   - goesOn: asked about once a second of sound; false ends it.
    /// - Returns: nil where it was ended.
    /// - Throws: `DeviceError` where the recording cannot be opened.
    package init?(
        path: String, isGrowing: Bool = false, digests: Bool = false, goesOn: () -> Bool = { true }
    ) throws(DeviceError) {
        self.init()
        let place = try RecordingPlace(path)
        // Before the reader: what grows meanwhile has no line yet.
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
                guard goesOn() else { return nil }
                let count = digest == nil ? line?.count ?? 0 : min(next, end) - start
                let samples = try Self.read(count, from: start, of: reader, buffer)
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

    /// Makes the checksums that a recording lacks, of the sound as it is now; those that are there stay as they are. Not
    /// while the recording is being written.
    ///
    /// - Parameters:
    ///   - path: of its `audio.wav`.
    ///   - behindLast: whether only what lies behind the last one is looked at, and nothing where there is none.
    ///   - goesOn: asked about once a second of sound; false ends it, and the next call goes on from there.
    /// - Returns: how many samples have a checksum now that had none.
    /// - Throws: `DeviceError` where the recording cannot be read or the checksums cannot be written.
    package static func complete(
        path: String, behindLast: Bool = false, goesOn: () -> Bool = { true }
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
        while start < end, goesOn() {
            let count = min(SumLine.piece, end - start)
            if lines[start].map({ $0.count != count }) ?? true {
                let line = SumLine(
                    start: start, count: count,
                    checksum: try sum(of: reader, from: start, count: count, buffer))
                line.append(to: &bytes)
                made += count
            }
            if bytes.count > 1 << 16 { try append(&bytes, in: place) }
            start += SumLine.piece
        }
        if made > 0 { try append(&bytes, in: place) }
        return made
    }

    /// Whether some of a recording's sound has no checksum.
    package static func areMissing(path: String) throws(DeviceError) -> Bool {
        let lines = try lines(in: RecordingPlace(path))
        let end = try RecordingReader(path: path).length.samples
        return stride(from: 0, to: end, by: Int(SumLine.piece)).contains { start in
            lines[start]?.count != min(SumLine.piece, end - start)
        }
    }

    /// Makes those checksums again that are of chosen pieces, of the sound as it is now. Not while the recording is being written.
    static func renew(path: String, where isChosen: (SampleRange) -> Bool) throws(DeviceError) {
        let place = try RecordingPlace(path)
        let lines = try lines(in: place)
        let reader = try RecordingReader(path: path)
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: Int(SumLine.piece) * reader.channels)
        buffer.initialize(repeating: 0)
        defer { buffer.deallocate() }
        var bytes: [UInt8] = []
        for line in lines.values.sorted(by: { $0.start < $1.start }) {
            let (start, end) = (SamplePosition(line.start), SamplePosition(line.start + line.count))
            guard isChosen(SampleRange(start, end)), try reader.length >= end else { continue }
            let checksum = try sum(of: reader, from: line.start, count: line.count, buffer)
            if checksum == line.checksum { continue }
            SumLine(start: line.start, count: line.count, checksum: checksum).append(to: &bytes)
        }
        if !bytes.isEmpty { try append(&bytes, in: place) }
    }

    /// Bytes of checksums that are read: of nine days.
    private static let longest = 1 << 25

    /// The path of the file with the checksums of a recording.
    ///
    /// - Parameter audio: the path of its `audio.wav`.
    package static func path(for audio: String) -> String { name(for: audio) }

    /// The name of the file beside a recording's.
    static func name(for audio: String) -> String {
        "\(audio.hasSuffix(".wav") ? String(audio.dropLast(4)) : audio).sums"
    }

    /// The lines by where they start; of two, the later.
    private static func lines(in place: RecordingPlace) throws(DeviceError) -> [Int64: SumLine] {
        let bytes: [UInt8]
        do throws(DeviceError) {
            bytes = try place.folder.openFile(name(for: place.name), O_RDONLY).content(limit: longest)
        } catch {
            // Something else of that name holds none, and is told of as their lack.
            guard error.code == .missing || error.code == .unsupported || error.status == ELOOP else { throw error }
            return [:]
        }
        var lines: [Int64: SumLine] = [:]
        for text in bytes.split(separator: UInt8(ascii: "\n")) {
            // Its end: what lies before the first line that was appended may have none of its own.
            if let line = SumLine(text.suffix(SumLine.size - 1)) { lines[line.start] = line }
        }
        return lines
    }

    /// Sets aside a file that is longer than is read: what is appended to it would not be read either.
    private static func clear(_ place: RecordingPlace) throws(DeviceError) {
        let name = name(for: place.name)
        guard let status = try place.folder.status(name), status.kind == .file, status.bytes > Int64(longest) else {
            return
        }
        try place.folder.rename(name, toFree: try place.folder.freeName(for: name, "damaged"))
    }

    /// So many samples; nil if the disk does not give them back.
    private static func read(
        _ count: Int64, from start: Int64, of reader: RecordingReader, _ buffer: UnsafeMutableBufferPointer<Int16>
    ) throws(DeviceError) -> UnsafeBufferPointer<Int16>? {
        let part = UnsafeMutableBufferPointer(rebasing: buffer[..<(Int(count) * reader.channels)])
        do throws(DeviceError) {
            let isWhole = try reader.readFrames(at: SamplePosition(start), into: part) == Int(count)
            return isWhole ? UnsafeBufferPointer(part) : nil
        } catch {
            // A place that the disk does not give back is damaged; one that nobody may read is not known to be.
            guard error.code == .failed || error.code == .damaged else { throw error }
            return nil
        }
    }

    private static func sum(of samples: Slice<UnsafeBufferPointer<Int16>>) -> UInt32 {
        var sum = AudioChecksum()
        sum.add(UnsafeBufferPointer(rebasing: samples))
        return sum.value
    }

    private static func sum(
        of reader: RecordingReader, from start: Int64, count: Int64, _ buffer: UnsafeMutableBufferPointer<Int16>
    ) throws(DeviceError) -> UInt32 {
        let part = UnsafeMutableBufferPointer(rebasing: buffer[..<(Int(count) * reader.channels)])
        guard try reader.readFrames(at: SamplePosition(start), into: part) == Int(count) else {
            throw DeviceError(.damaged, "read", "the recording is shorter than its checksums say")
        }
        var sum = AudioChecksum()
        sum.add(UnsafeBufferPointer(part))
        return sum.value
    }

    /// How many channels a recording's file has whose header does not tell: as many as its checksums are right with. 1 where
    /// nothing tells.
    ///
    /// - Parameter file: `audio.wav`, whose samples begin behind a header of ours.
    static func channels(of file: borrowing FileDescriptor, in place: RecordingPlace) throws(DeviceError) -> Int {
        for line in try lines(in: place).values.sorted(by: { $0.start < $1.start }).prefix(60) {
            var holds: [Int] = []
            for channels in [1, 2] {
                let frame = Frames.bytes(channels: channels)
                let bytes = try file.bytes(
                    at: Int64(WaveHeader.size) + line.start * frame, count: Int(line.count * frame))
                var sum = AudioChecksum()
                bytes.withUnsafeBytes { sum.add(bytes: $0) }
                if bytes.count == Int(line.count * frame), sum.value == line.checksum { holds.append(channels) }
            }
            if holds.count == 1 { return holds[0] }
        }
        return 1
    }

    private static func append(_ bytes: inout [UInt8], in place: RecordingPlace) throws(DeviceError) {
        let file = try place.folder.openFile(name(for: place.name), O_RDWR | O_CREAT)
        // Behind whole lines: what a power cut left of one is no line.
        let end = try file.size() / Int64(SumLine.size) * Int64(SumLine.size)
        var failure: DeviceError?
        bytes.withUnsafeBytes { bytes in
            do throws(DeviceError) { try file.write(bytes, at: end) } catch { failure = error }
        }
        if let failure { throw failure }
        try file.sync()
        try place.folder.sync()
        bytes.removeAll(keepingCapacity: true)
    }

    /// Adds a range, to the one before where they touch.
    private static func add(_ start: Int64, _ end: Int64, to ranges: inout [SampleRange]) {
        if let last = ranges.last, last.end.samples == start {
            ranges[ranges.count - 1] = SampleRange(last.start, SamplePosition(end))
        } else {
            ranges.append(SampleRange(SamplePosition(start), SamplePosition(end)))
        }
    }
}
