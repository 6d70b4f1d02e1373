import Core
import Glibc
import System

/// A container's audio, decoded by ffmpeg into an unnamed file without a header: 16 kHz, one or two channels, without
/// the silence between frames.
struct DecodedSound {
    let source: ByteSource
    let channels: Int
    let isFloat: Bool
    /// The silence to insert between frames.
    let silences: [FramePlacement.Silence]
    var report: SoundReport
    /// The offset of a concatenated file; nil if there is none.
    var followingOffset: Int64?

    /// How much shorter than the header's length the audio may be, in seconds, before this is reported.
    private static let tolerance = 0.25

    /// Decodes the selected tracks.
    ///
    /// - Returns: Nil if ffmpeg cannot read the file or finds no audio.
    /// - Throws: `DeviceError` with `unsupported` if ffmpeg is not installed, `full` if the disk is full, or `missing`
    ///   if the track does not exist.
    static func decode(_ source: ByteSource, track: SoundTrack) throws(DeviceError) -> DecodedSound? {
        guard let end = try ConcatenatedFile.find(in: source) else {
            if let decoded = try decodeFile(source, track) { return decoded }
            // Bytes before the first frame make ffmpeg misdetect the format.
            guard let start = try MpegFrame.first(in: source), start > 0 else { return nil }
            var decoded = try decodeFile(source.window(from: start), track)
            decoded?.report.notes.append("the first \(start) bytes are not audio")
            return decoded
        }
        var decoded = try decodeFile(source.window(from: 0, to: end), track)
        decoded?.followingOffset = end
        return decoded
    }

    /// Decodes a file to which no other file is concatenated.
    private static func decodeFile(_ source: ByteSource, _ track: SoundTrack) throws(DeviceError) -> DecodedSound? {
        let container = try ContainerDescription(source)
        let count = container.tracks.count
        guard count > 0 else { return nil }
        switch track {
        case .number(let number):
            guard number <= count else {
                throw DeviceError(
                    .missing, "ffmpeg", on: source.name,
                    count == 1 ? "has one track with sound" : "has \(count) tracks with sound",
                    remedy: count == 1 ? "leave out --track" : "pass 1 to \(count) with --track")
            }
            return try decode(source, container, number - 1)
        case .all where count > 1:
            return try TrackMix.decode(source, container)
        case .all, .automatic:
            let index = container.defaultTrack
            var decoded = try decode(source, container, index)
            if count > 1 {
                let others = (0..<count).filter { $0 != index }.map(container.trackName).joined(separator: ", ")
                decoded?.report.notes.insert(
                    "track \(container.trackName(index)) of \(count) is read, not \(others); --track all reads all of them",
                    at: 0)
            }
            return decoded
        }
    }

    /// Decodes one track. Returns nil if ffmpeg decodes nothing.
    static func decode(
        _ source: ByteSource, _ container: ContainerDescription, _ index: Int
    ) throws(DeviceError) -> DecodedSound? {
        let track = container.tracks[index]
        let channels = track.channels > 1 ? 2 : 1
        let frames =
            container.isRaw || container.hasSingleTrack
            ? try FrameBytes(of: source, track: index, format: container.format) : nil
        var placement = FramePlacement(
            isRaw: container.isRaw, promisedSamples: SamplePosition(seconds: track.promisedSeconds ?? 0).samples,
            junk: container.isRaw
                ? frames?.placedJunk(since: container.start, promisedSeconds: track.promisedSeconds) ?? [] : [])
        let start = SamplePosition(seconds: container.start).samples
        let target = try temporaryFile()
        var errors: [Substring] = []
        let status = try Ffmpeg.run(
            "ffmpeg", on: frames?.sourceWithoutJunk ?? source,
            options: [
                "-nostdin", "-hide_banner", "-nostats", "-loglevel", "level+info", "-threads", "1",
                // Otherwise ffmpeg removes gaps that look like a clock reset.
                "-copyts",
            ],
            arguments: [
                "-map", "0:a:\(index)", "-vn", "-sn", "-dn", "-af",
                "aresample=\(SamplePosition.rate),aformat=sample_fmts=\(track.isFloat ? "flt" : "s16")"
                    + ":channel_layouts=mono|stereo,ashowinfo",
                "-ac", "\(channels)", "-c:a", track.isFloat ? "pcm_f32le" : "pcm_s16le",
                "-f", track.isFloat ? "f32le" : "s16le", "pipe:\(ChildProcess.targetDescriptor)",
            ], target: target.number
        ) { line in
            if let frame = Frame(line) {
                placement.add(time: frame.time.map { $0 &- start }, count: frame.count, isFirst: frame.isFirst)
            } else if line.contains("[error]") || line.contains("[fatal]"), !line.hasPrefix("[s16le"),
                !line.hasPrefix("[f32le")
            {
                placement.addError()
                if errors.count < 100 { errors.append(line) }
            }
        }
        if errors.contains(where: { $0.contains("No space left") }) {
            throw .system("write", status: ENOSPC, on: target.path, remedy: "set TMPDIR to a folder with space")
        }
        // ffmpeg does not always report that the file is too large, but the kernel writes exactly up to the limit.
        if let limit = fileSizeLimit, try target.size() == limit {
            throw .system("write", status: EFBIG, on: target.path)
        }
        guard placement.decodedSamples > 0 else { return nil }
        var report = SoundReport()
        let heldSeconds = Double(placement.end) / Double(SamplePosition.rate)
        let isCutOff =
            try OggCheck.isComplete(source) == false
            || errors.contains { $0.contains("partial file") || $0.contains("ended prematurely") }
        if let promised = track.promisedSeconds, promised - heldSeconds > Self.tolerance {
            report.add(promisedSeconds: promised, heldSeconds: heldSeconds)
        } else if isCutOff {
            report.problems.append("the file was cut off; it holds \(SoundReport.seconds(heldSeconds))")
        } else if status != 0 {
            let reason = status > 128 ? "signal \(status - 128)" : "status \(status)"
            report.problems.append("ffmpeg exited early (\(reason)) after \(SoundReport.seconds(heldSeconds))")
        }
        let undecodedSeconds = Double(placement.undecodedSamples) / Double(SamplePosition.rate)
        if undecodedSeconds > 2 * Self.tolerance {
            report.problems.append(
                "\(SoundReport.seconds(undecodedSeconds)) of frames cannot be decoded; they are read as silence")
        }
        if let frames, container.isRaw {
            report.addEnds(of: frames)
        } else if let frames, frames.ends.after > max(16_384, source.length / 4) {
            let share = frames.ends.after * 100 / source.length
            report.problems.append("\(share) % of the file, after \(SoundReport.seconds(heldSeconds)), cannot be read")
            if report.missingAtEnd == 0 { report.missingAtEnd = frames.seconds(of: frames.ends.after) }
        }
        return DecodedSound(
            source: try ByteSource(spool: target, named: source.name), channels: channels, isFloat: track.isFloat,
            silences: placement.silences, report: report)
    }

    /// A line from ffmpeg's `ashowinfo` filter.
    private struct Frame {
        var isFirst = false
        var time: Int64?
        var count: Int64 = 0

        init?(_ line: Substring) {
            guard line.hasPrefix("[Parsed_ashowinfo_") else { return nil }
            for field in line.split(separator: " ") {
                if field.hasPrefix("n:") {
                    isFirst = field == "n:0"
                } else if field.hasPrefix("pts:") {
                    time = Int64(field.dropFirst(4))
                } else if field.hasPrefix("nb_samples:") {
                    count = max(0, Int64(field.dropFirst(11)) ?? 0)
                    break
                }
            }
            if count == 0 { return nil }
        }
    }
}

extension SoundReport {
    /// Reports the bytes before and after the frames in a file without timestamps.
    fileprivate mutating func addEnds(of frames: FrameBytes) {
        if frames.ends.before > 0 { notes.append("the first \(frames.ends.before) bytes are not audio") }
        if frames.ends.after > 0 {
            if missingAtEnd == 0 { missingAtEnd = frames.seconds(of: frames.ends.after) }
            problems.append(
                "the last \(frames.ends.after) bytes (about "
                    + "\(SoundReport.seconds(frames.seconds(of: frames.ends.after)))) are not audio")
        }
    }
}

extension ContainerDescription {
    /// Returns the display name for a track: its number, with the language and title if present.
    func trackName(_ index: Int) -> String {
        let details = [tracks[index].language, tracks[index].title].compactMap { detail -> String? in
            guard let detail, detail != "und" else { return nil }
            let safeDetail = detail.prefix(40).filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" }
            return safeDetail.isEmpty ? nil : safeDetail
        }
        return "\(index + 1)" + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
    }
}
