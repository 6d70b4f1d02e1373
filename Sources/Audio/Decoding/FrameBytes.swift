import Core

/// The bytes of a file's frames. In formats without timestamps, such as MP3, all other bytes are tags or damage.
struct FrameBytes {
    /// The minimum size of junk in bytes, since a shorter range may be part of a truncated frame or an encoder's header.
    private static let minimumJunk: Int64 = 600
    /// The maximum frame sizes in bytes. They are needed because ffmpeg counts unreadable bytes as part of a frame.
    private static let maximumFrameSizes: [String: Double] = [
        "mp3": 1_441, "aac": 1_536, "ac3": 3_840, "eac3": 4_096, "dts": 16_384,
    ]
    /// The maximum number of ranges of junk. A file with more damage is unintelligible anyway.
    static let maximumRanges = 10_000

    /// The size of each range without frames, and the time of the following frame in seconds on the container's clock.
    private(set) var junk: [(time: Double, bytes: Int64)] = []
    /// The sizes of the junk before the first frame and after the last.
    private(set) var ends: (before: Int64, after: Int64) = (0, 0)
    /// A copy of an AAC file without the junk, which would confuse ffmpeg; otherwise nil.
    private(set) var sourceWithoutJunk: ByteSource?
    /// The total duration and size of all frames.
    private var frames: (seconds: Double, bytes: Int64) = (0, 0)

    /// Finds a track's frames.
    init(of source: ByteSource, track: Int, format: String = "") throws(DeviceError) {
        let junkRanges: [(from: Int64, to: Int64, time: Double)]
        let end: Int64
        if format == "aac" {
            let adts = try AdtsFrames(of: source)
            (junkRanges, end) = (adts.junkRanges, adts.end)
            frames = (adts.seconds, adts.frameBytes)
            sourceWithoutJunk = try adts.copyWithoutJunk(source)
        } else {
            (junkRanges, end) = try probe(
                source, track, maximumFrameSize: Self.maximumFrameSizes[format] ?? .infinity)
        }
        guard frames.bytes > 0 else { return }
        for range in junkRanges {
            let bytes = range.to - (try SoundTags.end(of: source, at: range.from))
            guard bytes >= Self.minimumJunk else { continue }
            if range.from == 0 { ends.before = bytes } else { junk.append((range.time, bytes)) }
        }
        let after = source.length - (try SoundTags.end(of: source, at: end))
        if after >= Self.minimumJunk { ends.after = after }
    }

    /// Finds the frames with `ffprobe`.
    private mutating func probe(
        _ source: ByteSource, _ track: Int, maximumFrameSize: Double
    ) throws(DeviceError) -> (junkRanges: [(from: Int64, to: Int64, time: Double)], end: Int64) {
        var ranges: [(from: Int64, to: Int64, time: Double)] = []
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
            let isJunk = size > maximumFrameSize
            if start - end >= Self.minimumJunk, ranges.count < Self.maximumRanges {
                ranges.append((end, start, time))
            }
            end = max(end, start + Int64(size))
            if isJunk, ranges.count < Self.maximumRanges { ranges.append((start, end, time)) }
            if isJunk { return }
            sum.seconds += fields["duration_time"] ?? 0
            sum.bytes += Int64(size)
        }
        frames = sum
        return (ranges, end)
    }

    /// Estimates the duration of a number of bytes from the mean bit rate.
    func seconds(of bytes: Int64) -> Double {
        frames.bytes > 0 ? Double(bytes) * frames.seconds / Double(frames.bytes) : 0
    }

    /// Estimates the durations of the ranges without frames. If plausible, they are scaled so that their total matches
    /// the time that is missing from the promised length.
    func placedJunk(since start: Double, promisedSeconds: Double?) -> [FramePlacement.Junk] {
        let estimated = junk.reduce(0) { $0 + seconds(of: $1.bytes) }
        let missing = (promisedSeconds ?? 0) - frames.seconds
        let isPlausible = estimated > 0 && missing > estimated / 3 && missing < estimated * 3
        let factor = isPlausible && ends.after == 0 ? missing / estimated : 1
        return junk.map { range in
            FramePlacement.Junk(
                time: SamplePosition(seconds: range.time - start).samples,
                count: SamplePosition(seconds: seconds(of: range.bytes) * factor).samples)
        }
    }
}
