import Core
import System

/// The frames of AAC in ADTS. ffmpeg skips damage without reporting its place.
struct AdtsFrames {
    private static let rates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    /// One frame and the header of the next.
    private static let lookAhead = 8_191 + 7

    /// Bytes between frames, and the time of the following frame in seconds.
    private(set) var places: [(from: Int64, to: Int64, time: Double)] = []
    private(set) var end: Int64
    private(set) var seconds = 0.0
    private(set) var bytes: Int64 = 0

    /// Scans a file from its first frame or the tags before it.
    init(of source: ByteSource) throws(DeviceError) {
        end = try SoundTags.end(of: source, at: 0)
        var place = end
        var (room, start): ([UInt8], Int64) = ([], place)
        while place < source.length {
            if place + Int64(Self.lookAhead) > start + Int64(room.count), start + Int64(room.count) < source.length {
                (room, start) = (try source.bytes(at: place, count: 1 << 18), place)
            }
            let index = Int(place - start)
            // A candidate is a frame if another one or the end of the file follows.
            guard let length = Self.length(room, index), index + length <= room.count,
                index + length + 7 > room.count || Self.length(room, index + length) != nil
            else {
                place += 1
                continue
            }
            if place > end, places.count < FrameBytes.maxPlaces { places.append((end, place, seconds)) }
            seconds += 1_024 / Double(Self.rates[Int(room[index + 2] >> 2 & 15)])
            bytes += Int64(length)
            place += Int64(length)
            end = place
        }
    }

    /// Returns only the frames, in an unnamed file; nil if there is nothing between them.
    ///
    /// Damaged bytes that look like a frame make ffmpeg skip whole frames after them.
    func withoutJunk(_ source: ByteSource) throws(DeviceError) -> ByteSource? {
        guard !places.isEmpty, places.count < FrameBytes.maxPlaces else { return nil }
        let target = try temporaryFile()
        var start: Int64 = 0
        for place in places + [(end, end, seconds)] {
            while start < place.from {
                let bytes = try source.bytes(at: start, count: Int(min(1 << 18, place.from - start)))
                guard !bytes.isEmpty else { break }
                try rethrowing { try bytes.withUnsafeBytes { try target.write($0) } }
                start += Int64(bytes.count)
            }
            start = place.to
        }
        return try ByteSource(spool: target, named: source.name)
    }

    /// Returns the length of the frame at `index`; nil if there is no header.
    private static func length(_ bytes: [UInt8], _ index: Int) -> Int? {
        guard index + 7 <= bytes.count, bytes[index] == 0xff, bytes[index + 1] & 0xf6 == 0xf0,
            rates.indices.contains(Int(bytes[index + 2] >> 2 & 15))
        else { return nil }
        let length = Int(bytes[index + 3] & 3) << 11 | Int(bytes[index + 4]) << 3 | Int(bytes[index + 5] >> 5)
        return length > 7 ? length : nil
    }
}
