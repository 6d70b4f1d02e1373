import Core
import System

/// The frames of AAC in ADTS. ffmpeg reads on behind damage and does not tell where it was.
struct AdtsFrames {
    private static let rates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    /// A frame and the next one's head.
    private static let lookAhead = 8_191 + 7

    /// Bytes between frames, and the time of the frame behind them in seconds.
    private(set) var places: [(from: Int64, to: Int64, time: Double)] = []
    private(set) var end: Int64
    private(set) var seconds = 0.0
    private(set) var bytes: Int64 = 0

    /// Walks along a file from its first frame, or the tags before it.
    init(of source: ByteSource) throws(DeviceError) {
        end = try SoundTags.end(of: source, at: 0)
        var place = end
        var (room, start): ([UInt8], Int64) = ([], place)
        while place < source.length {
            if place + Int64(Self.lookAhead) > start + Int64(room.count), start + Int64(room.count) < source.length {
                (room, start) = (try source.bytes(at: place, count: 1 << 18), place)
            }
            let index = Int(place - start)
            // What begins like a frame is one if another follows, or the file's end.
            guard let length = Self.length(room, index), index + length <= room.count,
                index + length + 7 > room.count || Self.length(room, index + length) != nil
            else {
                place += 1
                continue
            }
            if place > end, places.count < FrameBytes.mostPlaces { places.append((end, place, seconds)) }
            seconds += 1_024 / Double(Self.rates[Int(room[index + 2] >> 2 & 15)])
            bytes += Int64(length)
            place += Int64(length)
            end = place
        }
    }

    /// The frames alone, in a file without a name; nil if nothing lies between them.
    ///
    /// What begins like a frame in damaged bytes has ffmpeg skip whole ones behind it.
    func withoutJunk(_ source: ByteSource) throws(DeviceError) -> ByteSource? {
        guard !places.isEmpty, places.count < FrameBytes.mostPlaces else { return nil }
        let target = try temporaryFile(named: source.name)
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
        return try ByteSource(spool: target)
    }

    /// The length of the frame whose header stands there; nil if there is none.
    private static func length(_ bytes: [UInt8], _ index: Int) -> Int? {
        guard index + 7 <= bytes.count, bytes[index] == 0xff, bytes[index + 1] & 0xf6 == 0xf0,
            rates.indices.contains(Int(bytes[index + 2] >> 2 & 15))
        else { return nil }
        let length = Int(bytes[index + 3] & 3) << 11 | Int(bytes[index + 4]) << 3 | Int(bytes[index + 5] >> 5)
        return length > 7 ? length : nil
    }
}
