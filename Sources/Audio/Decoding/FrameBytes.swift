import Core

/// The bytes of a file's frames. In formats without timestamps such as MP3, other bytes are tags or damage.
struct FrameBytes {
    /// Shorter sections may be part of a truncated frame, or an encoder's header.
    private static let least: Int64 = 600
    /// The longest frames; ffmpeg counts unreadable bytes as part of a frame.
    private static let longest: [String: Double] = [
        "mp3": 1_441, "aac": 1_536, "ac3": 3_840, "eac3": 4_096, "dts": 16_384,
    ]
    /// The maximum number of places: a file with more damage is inaudible.
    static let maxPlaces = 10_000

    /// By the time of the following frame, in seconds on the container's clock.
    private(set) var junk: [(time: Double, bytes: Int64)] = []
    /// The bytes before the first frame and after the last one.
    private(set) var ends: (before: Int64, behind: Int64) = (0, 0)
    /// Only the frames, if the other bytes would confuse ffmpeg.
    private(set) var cleaned: ByteSource?
    /// The total duration and size of all frames.
    private var frames: (seconds: Double, bytes: Int64) = (0, 0)

    /// Finds the frames of a track.
    init(of source: ByteSource, track: Int, format: String = "") throws(DeviceError) {
        let found: (places: [(from: Int64, to: Int64, time: Double)], end: Int64)
        if format == "aac" {
            let adts = try AdtsFrames(of: source)
            found = (adts.places, adts.end)
            frames = (adts.seconds, adts.bytes)
            cleaned = try adts.withoutJunk(source)
        } else {
            found = try probe(source, track, longest: Self.longest[format] ?? .infinity)
        }
        guard frames.bytes > 0 else { return }
        for place in found.places {
            let bytes = place.to - (try SoundTags.end(of: source, at: place.from))
            guard bytes >= Self.least else { continue }
            if place.from == 0 { ends.before = bytes } else { junk.append((place.time, bytes)) }
        }
        let behind = source.length - (try SoundTags.end(of: source, at: found.end))
        if behind >= Self.least { ends.behind = behind }
    }

    /// Finds the frames with `ffprobe`.
    private mutating func probe(
        _ source: ByteSource, _ track: Int, longest: Double
    ) throws(DeviceError) -> (places: [(from: Int64, to: Int64, time: Double)], end: Int64) {
        var places: [(from: Int64, to: Int64, time: Double)] = []
        var end: Int64 = 0
        var sum: (seconds: Double, bytes: Int64) = (0, 0)
        _ = try Ffmpeg.run(
            "ffprobe", on: source, options: ["-v", "quiet"],
            arguments: [
                "-select_streams", "a:\(track)", "-of", "compact=p=0", "-show_entries",
                "packet=pts_time,duration_time,size,pos",
            ]
        ) { line in
            var fields: [Substring: Double] = [:]
            for field in line.split(separator: "|") {
                let parts = field.split(separator: "=")
                if parts.count == 2, let value = Double(parts[1]) { fields[parts[0]] = value }
            }
            guard let position = fields["pos"], let size = fields["size"], position >= 0, position < 1e15, size < 1e9
            else { return }
            let (start, time) = (Int64(position), fields["pts_time"] ?? 0)
            let isJunk = size > longest
            if start - end >= Self.least, places.count < Self.maxPlaces { places.append((end, start, time)) }
            end = max(end, start + Int64(size))
            if isJunk, places.count < Self.maxPlaces { places.append((start, end, time)) }
            if isJunk { return }
            sum.seconds += fields["duration_time"] ?? 0
            sum.bytes += Int64(size)
        }
        frames = sum
        return (places, end)
    }

    /// Estimates the duration of this many bytes from the mean bit rate.
    func seconds(of bytes: Int64) -> Double {
        frames.bytes > 0 ? Double(bytes) * frames.seconds / Double(frames.bytes) : 0
    }

    /// Estimates the durations of the sections without frames; scaled to the total missing from the promised length if
    /// that is plausible.
    func junk(since start: Double, promised: Double?) -> [FramePlacement.Junk] {
        let guessed = junk.reduce(0) { $0 + seconds(of: $1.bytes) }
        let missing = (promised ?? 0) - frames.seconds
        let agrees = guessed > 0 && missing > guessed / 3 && missing < guessed * 3
        let factor = agrees && ends.behind == 0 ? missing / guessed : 1
        return junk.map { place in
            FramePlacement.Junk(
                time: SamplePosition(seconds: place.time - start).samples,
                count: SamplePosition(seconds: seconds(of: place.bytes) * factor).samples)
        }
    }
}
