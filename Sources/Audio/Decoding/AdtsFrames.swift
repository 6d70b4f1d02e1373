import Core
import System

/// The AAC frames in an ADTS file. ffmpeg skips damage without reporting its position.
struct AdtsFrames {
    private static let rates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    /// The maximum size of a frame plus the next frame's header, in bytes.
    private static let lookAhead = 8_191 + 7

    /// The ranges of bytes between frames, with the time of the following frame in seconds.
    private(set) var junkRanges: [(from: Int64, to: Int64, time: Double)] = []
    /// The end of the last frame.
    private(set) var end: Int64
    /// The total duration and size of all frames.
    private(set) var seconds = 0.0
    private(set) var frameBytes: Int64 = 0

    /// Scans a file, starting at its first frame or the tags before it.
    init(of source: ByteSource) throws(DeviceError) {
        end = try SoundTags.end(of: source, at: 0)
        var offset = end
        var (buffer, start): ([UInt8], Int64) = ([], offset)
        while offset < source.length {
            let bufferEnd = start + Int64(buffer.count)
            if offset + Int64(Self.lookAhead) > bufferEnd, bufferEnd < source.length {
                (buffer, start) = (try source.bytes(at: offset, count: 1 << 18), offset)
            }
            let index = Int(offset - start)
            // A candidate is a frame if another one or the end of the file follows.
            guard let length = Self.length(buffer, index), index + length <= buffer.count,
                index + length + 7 > buffer.count || Self.length(buffer, index + length) != nil
            else {
                offset += 1
                continue
            }
            if offset > end, junkRanges.count < FrameBytes.maximumRanges { junkRanges.append((end, offset, seconds)) }
            seconds += 1_024 / Double(Self.rates[Int(buffer[index + 2] >> 2 & 15)])
            frameBytes += Int64(length)
            offset += Int64(length)
            end = offset
        }
    }

    /// Copies the file without the junk to an unnamed file. Returns nil if there is no junk, or too much.
    ///
    /// ffmpeg may mistake junk for a frame and then skip intact frames.
    func copyWithoutJunk(_ source: ByteSource) throws(DeviceError) -> ByteSource? {
        guard !junkRanges.isEmpty, junkRanges.count < FrameBytes.maximumRanges else { return nil }
        let target = try temporaryFile()
        var start: Int64 = 0
        for junk in junkRanges + [(end, end, seconds)] {
            while start < junk.from {
                let bytes = try source.bytes(at: start, count: Int(min(1 << 18, junk.from - start)))
                guard !bytes.isEmpty else { break }
                try rethrowing { try bytes.withUnsafeBytes { try target.write($0) } }
                start += Int64(bytes.count)
            }
            start = junk.to
        }
        return try ByteSource(spool: target, named: source.name)
    }

    /// Returns the length of the frame at `index`; nil if there is no frame header.
    private static func length(_ bytes: [UInt8], _ index: Int) -> Int? {
        guard index + 7 <= bytes.count, bytes[index] == 0xff, bytes[index + 1] & 0xf6 == 0xf0,
            rates.indices.contains(Int(bytes[index + 2] >> 2 & 15))
        else { return nil }
        let length = Int(bytes[index + 3] & 3) << 11 | Int(bytes[index + 4]) << 3 | Int(bytes[index + 5] >> 5)
        return length > 7 ? length : nil
    }
}
