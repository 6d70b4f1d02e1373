import Core
import FoundationEssentials

/// A container's audio tracks with their expected lengths, from `ffprobe`.
struct ContainerDescription: Equatable {
    struct Track: Equatable {
        var codec = ""
        var channels = 1
        /// The length in seconds from the container's header; nil if it is missing or an estimate.
        var promisedSeconds: Double?
        var isDefault = false
        var language: String?
        var title: String?

        /// Whether samples may exceed full scale.
        var isFloat: Bool { codec.hasPrefix("pcm_f") || codec == "wavpack" }
    }

    /// Formats without timestamps. ffmpeg counts their frames and skips everything else.
    private static let rawFormats: Set<String> = ["aac", "ac3", "dts", "eac3", "loas", "mp3", "truehd"]
    /// Formats whose length ffmpeg estimates from the last timestamps or the bit rate.
    private static let estimatedFormats = rawFormats.union(["amr", "mpeg", "mpegts", "ogg", "rm"])

    /// ffmpeg's name for the format.
    var format = ""
    /// The time that a player shows as 0, on the container's clock, in seconds.
    var start = 0.0
    var tracks: [Track] = []
    /// The metadata of the file and of its first audio track, by lowercase name.
    var tags: [String: String] = [:]
    /// Whether the container has a single audio track and nothing else.
    var hasSingleTrack = false

    var isRaw: Bool { Self.rawFormats.contains(format) }

    /// Describes a file. If ffprobe finds no audio in it, there are no tracks.
    init(_ source: ByteSource) throws(DeviceError) {
        var text = ""
        _ = try Ffmpeg.run(
            "ffprobe", on: source, options: ["-v", "quiet"],
            arguments: [
                "-select_streams", "a", "-of", "json", "-show_entries",
                "format=format_name,duration,start_time,nb_streams:stream=codec_name,channels,start_time,duration,nb_frames"
                    + ",time_base:stream_disposition=default:stream_tags:format_tags",
            ]
        ) { line in if text.utf8.count < 1 << 20 { text += line + "\n" } }
        self.init(json: text)
        var headerSeconds: Double?
        if format == "mp3" { headerSeconds = try MpegFrame.promisedLength(of: source) }
        // ffmpeg ignores the header of a truncated file.
        if format == "asf" { headerSeconds = try Self.asfLength(source) }
        if let headerSeconds { for index in tracks.indices { tracks[index].promisedSeconds = headerSeconds } }
    }

    /// Parses the output of `ffprobe -of json`.
    init(json: String) {
        guard let probe = try? JSONDecoder().decode(Probe.self, from: Data(json.utf8)) else { return }
        format = probe.format?.format_name?.split(separator: ",").first.map(String.init) ?? ""
        start = probe.format?.start_time.flatMap(Double.init) ?? 0
        hasSingleTrack = probe.format?.nb_streams == 1
        for (name, text) in [probe.format?.tags, probe.streams?.first?.tags].compactMap({ $0 }).joined()
        where tags[name.lowercased()] == nil {
            tags[name.lowercased()] = text
        }
        let formatSeconds = probe.format?.duration.flatMap(Double.init)
        tracks = (probe.streams ?? []).map { stream in
            let tags = stream.tags ?? [:]
            // Matroska has a tag with the end of a track. In other formats, `duration` is the track's length.
            let taggedEnd = tags.first { $0.key.hasPrefix("DURATION") }.flatMap { Self.seconds(clock: $0.value) }
            let startOffset = (stream.start_time.flatMap(Double.init) ?? start) - start
            let countedSeconds = format == "avi" ? stream.countedSeconds : nil
            let trackEnd =
                taggedEnd ?? countedSeconds ?? stream.duration.flatMap(Double.init).map { $0 + max(0, startOffset) }
            // The format's duration may include audio that an edit list excludes from the track.
            let promisedSeconds =
                countedSeconds ?? trackEnd.map { min($0, formatSeconds ?? $0) }
                ?? (hasSingleTrack ? formatSeconds : nil)
            return Track(
                codec: stream.codec_name ?? "", channels: stream.channels ?? 1,
                promisedSeconds: Self.estimatedFormats.contains(format) ? nil : promisedSeconds,
                isDefault: stream.disposition?["default"] == 1, language: tags["language"], title: tags["title"])
        }
    }

    /// The index of the first track that the container marks as default, or 0 if there is none.
    var defaultTrack: Int { tracks.firstIndex(where: \.isDefault) ?? 0 }

    // ffprobe's field names.
    private struct Probe: Decodable {
        struct Format: Decodable {
            var format_name: String?
            var duration: String?
            var start_time: String?
            var nb_streams: Int?
            var tags: [String: String]?
        }
        struct Stream: Decodable {
            var codec_name: String?
            var channels: Int?
            var nb_frames: String?
            var time_base: String?
            var start_time: String?
            var duration: String?
            var disposition: [String: Int]?
            var tags: [String: String]?

            /// The length from an AVI header, in seconds. ffmpeg's own value is shorter if the file is truncated.
            var countedSeconds: Double? {
                let base = (time_base ?? "").split(separator: "/").compactMap { Double($0) }
                guard base.count == 2, base[1] > 0, let frames = nb_frames.flatMap(Double.init) else { return nil }
                return frames * base[0] / base[1]
            }
        }
        var format: Format?
        var streams: [Stream]?
    }

    /// Parses `00:00:24.738000000`.
    private static func seconds(clock: String) -> Double? {
        let parts = clock.split(separator: ":").map { Double($0) }
        guard parts.count == 3, let hours = parts[0], let minutes = parts[1], let seconds = parts[2] else { return nil }
        return hours * 3_600 + minutes * 60 + seconds
    }

    /// Returns the length from the header of an ASF (WMA) file, in seconds.
    private static func asfLength(_ source: ByteSource) throws(DeviceError) -> Double? {
        let filePropertiesGUID: [UInt8] = [0xA1, 0xDC, 0xAB, 0x8C, 0x47, 0xA9, 0xCF, 0x11]
        let head = try source.bytes(at: 0, count: 1 << 16)
        guard let match = head.indices.first(where: { head[$0...].starts(with: filePropertiesGUID) }),
            match + 88 <= head.count
        else { return nil }
        func number(at offset: Int) -> Double {
            Double(head[(match + offset)..<(match + offset + 8)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        }
        // The length is in units of 100 ns and includes the preroll, which is in milliseconds.
        let seconds = number(at: 64) / 1e7 - number(at: 80) / 1e3
        return seconds > 0 && seconds < 1e7 ? seconds : nil
    }
}

/// Tags before, after and between audio frames.
enum SoundTags {
    /// Returns the end of the tags that begin at `start`, or `start` if there are no tags.
    static func end(of source: ByteSource, at start: Int64) throws(DeviceError) -> Int64 {
        var end = start
        // A limit, because the file may be malicious.
        for _ in 0..<64 {
            let head = try source.bytes(at: end, count: 32)
            let next: Int64
            if head.starts(with: "ID3".utf8), head.count >= 10 {
                let size = head[6..<10].reduce(0) { $0 << 7 | Int64($1 & 0x7f) }
                next = end + 10 + size + (head[5] & 0x10 != 0 ? 10 : 0)
            } else if head.starts(with: "TAG".utf8) {
                next = end + 128
            } else if head.starts(with: "APETAGEX".utf8), head.count == 32 {
                let size = head[12..<16].reversed().reduce(0) { $0 << 8 | Int64($1) }
                next = end + size + (head[23] & 0x20 != 0 ? 32 : 0)
            } else {
                break
            }
            end = min(next, source.length)
        }
        return end
    }
}
