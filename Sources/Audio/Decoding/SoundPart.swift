import Core
internal import CSndfile
import Glibc

/// A file, or one of the files concatenated in it, that libsndfile reads. Use a part on only one thread.
final class SoundPart {
    /// The maximum number of damaged ranges to skip.
    private static let maximumGaps = 4_096
    /// The maximum length of a FLAC frame, in samples per channel.
    private static let maximumFrame: Int64 = 65_535

    private let rate: Int
    private let channels: Int
    /// The frame count from the header; nil if there is none.
    private let promisedFrames: Int64?
    /// Describes the missing audio. Complete once `read` has returned 0.
    private(set) var report: SoundReport

    private let source: ByteSource
    /// Gives libsndfile access to `source`.
    private let stream: VirtualFile
    private var handle: OpaquePointer
    private var info: SF_INFO
    private let check: ContainerCheck?
    private let isCutOff: Bool
    private let converter: ChannelConverter
    private let frames: UnsafeMutableBufferPointer<Float>
    private var silences: ArraySlice<FramePlacement.Silence>
    /// The factor that keeps all samples within full scale.
    private let scale: Float
    /// The number of samples, counting all channels, in `frames`, and how many of them have been converted.
    private var availableSamples = 0
    private var consumedSamples = 0
    /// The number of frames from libsndfile, and of silent frames that replace missing ones.
    private var framesRead: Int64 = 0
    private var framesMissing: Int64 = 0
    private var pendingSilence: Int64 = 0
    private var invalidSamples = 0
    private var isAtEnd = false

    private var format: Int32 { info.format & Int32(SF_FORMAT_TYPEMASK) }

    /// Whether the header's length is only an estimate, as in MPEG audio.
    private var isLengthEstimated: Bool {
        format == Int32(SF_FORMAT_MPEG) || info.format & Int32(SF_FORMAT_SUBMASK) == Int32(SF_FORMAT_MPEG_LAYER_III)
    }

    convenience init(_ source: ByteSource, keeping: Int) throws(DeviceError) {
        var failure: DeviceError?
        let check = ContainerCheck(length: source.length) { offset, count in
            do throws(DeviceError) {
                return try source.bytes(at: offset, count: count)
            } catch {
                failure = failure ?? error
                return []
            }
        }
        if let failure { throw failure }
        // libsndfile rejects a WAV file that contains another one.
        let source =
            try check?.followingOffset.map { end throws(DeviceError) in try source.window(from: 0, to: end) } ?? source
        source.patches = check?.patches ?? []
        try self.init(
            source, check: check, isCutOff: OggCheck.isComplete(source) == false, silences: [], SoundReport(),
            followingOffset: nil, format: SF_INFO(), keeping: keeping)
    }

    /// Opens audio that ffmpeg has decoded.
    convenience init(_ decoded: DecodedSound, keeping: Int) throws(DeviceError) {
        var format = SF_INFO()
        format.samplerate = Int32(SamplePosition.rate)
        format.channels = Int32(decoded.channels)
        format.format =
            Int32(SF_FORMAT_RAW | (decoded.isFloat ? SF_FORMAT_FLOAT : SF_FORMAT_PCM_16)) | Int32(SF_ENDIAN_LITTLE)
        try self.init(
            decoded.source, check: nil, isCutOff: false, silences: decoded.silences, decoded.report,
            followingOffset: decoded.followingOffset, format: format, keeping: keeping)
    }

    private init(
        _ source: ByteSource, check: ContainerCheck?, isCutOff: Bool, silences: [FramePlacement.Silence],
        _ report: SoundReport, followingOffset: Int64?, format: SF_INFO, keeping: Int
    ) throws(DeviceError) {
        var info = format
        let stream = VirtualFile(source)
        defer { withExtendedLifetime(stream) {} }
        guard let handle = stream.open(Int32(SFM_READ), &info) else {
            if let failure = stream.failure { throw failure }
            throw try Self.openError(for: source)
        }
        let block = max(256, 32_768 / Int(max(1, info.channels)))
        do throws(DeviceError) {
            converter = try ChannelConverter(
                rate: Int(info.samplerate), channels: Int(info.channels), keeping: keeping, block: block)
        } catch {
            sf_close(handle)
            throw DeviceError(error.code, error.operation, on: source.name, error.message)
        }
        rate = Int(info.samplerate)
        channels = Int(info.channels)
        let isKnown = info.frames >= 0 && info.frames < Int64.max
        promisedFrames = isKnown ? info.frames : nil
        frames = .allocate(capacity: block * Int(info.channels))
        (self.source, self.stream) = (source, stream)
        self.handle = handle
        self.info = info
        self.check = check
        self.isCutOff = isCutOff
        self.silences = silences[...]
        var report = report
        if [Int32(SF_FORMAT_FLOAT), Int32(SF_FORMAT_DOUBLE)].contains(info.format & Int32(SF_FORMAT_SUBMASK)) {
            let peak = FloatPeak.measure(handle, frames, channels: channels)
            scale = peak > 1 ? 1 / peak : 1
            if peak > 1 {
                report.notes.append(
                    "its samples reach \(FloatPeak.decibels(peak)) dB above full scale; they were scaled down")
            }
        } else {
            scale = 1
        }
        self.report = report
        self.followingOffset = followingOffset
    }

    deinit {
        sf_close(handle)
        frames.deallocate()
    }

    var outputs: Int { converter.outputs }

    var date: String? { sf_get_string(handle, Int32(SF_STR_DATE)).map { String(cString: $0) } }

    var estimatedLength: SamplePosition? {
        promisedFrames.map { frames in
            SamplePosition(seconds: Double(frames) / Double(rate)) + silences.reduce(0) { $0 + $1.count }
        }
    }

    /// The offset of the next concatenated file; nil if there is none. Valid once `read` has returned 0.
    private(set) var followingOffset: Int64?

    /// Reads until the buffer is full or the part ends. The buffer's size must be a multiple of `outputs`.
    ///
    /// - Returns: The number of samples, counting all channels; 0 at the end.
    func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> Int {
        var filled = 0
        while filled < buffer.count {
            if consumedSamples == availableSamples && !isAtEnd { try refill() }
            let output = UnsafeMutableBufferPointer(rebasing: buffer[filled...])
            if isAtEnd {
                let produced = try converter.flush(into: output)
                if produced == 0 { break }
                filled += produced * converter.outputs
            } else {
                let rest = UnsafeBufferPointer(rebasing: frames[consumedSamples..<availableSamples])
                let (consumed, produced) = try converter.convert(rest, into: output)
                consumedSamples += consumed * channels
                filled += produced * converter.outputs
            }
        }
        return filled
    }

    private func refill() throws(DeviceError) {
        consumedSamples = 0
        if pendingSilence == 0, let next = silences.first, next.at <= framesRead {
            silences.removeFirst()
            beginSilence(next.count, isLoss: next.isLoss)
        }
        let block = Int64(frames.count / channels)
        if pendingSilence > 0 {
            let count = min(block, pendingSilence)
            pendingSilence -= count
            framesMissing += count
            availableSamples = Int(count) * channels
            frames[..<availableSamples].update(repeating: 0)
            return
        }
        let limit = silences.first.map { min(block, $0.at - framesRead) } ?? block
        let count = sf_readf_float(handle, frames.baseAddress, limit)
        if let failure = stream.failure { throw failure }
        if count <= 0, let missing = try skipDamage() {
            beginSilence(missing, isLoss: true)
            return try refill()
        }
        framesRead += max(0, count)
        availableSamples = Int(max(0, count)) * channels
        if scale != 1 { for index in 0..<availableSamples { frames[index] *= scale } }
        invalidSamples += Samples.sanitize(UnsafeMutableBufferPointer(rebasing: frames[..<availableSamples]))
        if count <= 0 { try finish() }
    }

    private func beginSilence(_ count: Int64, isLoss: Bool) {
        pendingSilence = count
        guard isLoss else { return }
        let start = Double(framesRead + framesMissing) / Double(rate)
        report.gaps.append(
            SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: start + Double(count) / Double(rate))))
    }

    /// Finds the next readable frame in a FLAC file after damage, and seeks to it.
    ///
    /// libsndfile stops at the first bad frame, but finds later frames if it opens the file again.
    /// - Returns: The number of skipped samples per channel; nil if nothing readable follows.
    private func skipDamage() throws(DeviceError) -> Int64? {
        let start = framesRead + framesMissing
        guard format == Int32(SF_FORMAT_FLAC), let promisedFrames, start < promisedFrames,
            report.gaps.count < Self.maximumGaps
        else { return nil }
        if followingOffset == nil, let next = try ConcatenatedFile.flac(in: source, after: stream.offset) {
            // Otherwise libsndfile could find frames of the following file, which also counts them from 0.
            followingOffset = next
            source.truncate(to: next)
        }
        var (bad, good): (Int64, Int64?) = (0, nil)
        var step: Int64 = 1_024
        while good == nil, bad < promisedFrames - start - 1 {
            let next = min(step, promisedFrames - start - 1)
            if reopen(at: start + next) { good = next } else { bad = next }
            step = max(step + 1_024, step * 5 / 4)
        }
        if let failure = stream.failure { throw failure }
        guard var skipped = good else { return nil }
        while skipped - bad > 64 {
            let middle = (bad + skipped) / 2
            if reopen(at: start + middle) { skipped = middle } else { bad = middle }
        }
        guard reopen(at: start + skipped) else { return nil }
        // libsndfile returns the rest of a frame with a wrong checksum as zeros.
        var zeros: Int64 = 0
        while zeros < Self.maximumFrame {
            let count = Int(sf_readf_float(handle, frames.baseAddress, Int64(frames.count / channels)))
            let nonZero = frames[..<(max(0, count) * channels)].firstIndex { $0 != 0 }
            zeros += Int64(nonZero.map { $0 / channels } ?? max(0, count))
            if nonZero != nil || count <= 0 { break }
        }
        skipped = min(skipped + zeros, promisedFrames - start)
        return skipped == promisedFrames - start || reopen(at: start + skipped) ? skipped : nil
    }

    private func reopen(at frame: Int64) -> Bool {
        stream.rewind()
        var info = SF_INFO()
        guard let newHandle = stream.open(Int32(SFM_READ), &info) else { return false }
        sf_close(handle)
        handle = newHandle
        return sf_seek(handle, frame, SEEK_SET) == frame
    }

    /// Reports audio that is missing at the end.
    private func finish() throws(DeviceError) {
        isAtEnd = true
        followingOffset = followingOffset ?? check?.followingOffset
        if followingOffset == nil, format == Int32(SF_FORMAT_FLAC) {
            followingOffset = try ConcatenatedFile.flac(in: source, after: stream.offset)
        }
        compare(heldSeconds: Double(framesRead + framesMissing) / Double(rate))
        if invalidSamples > 0 {
            report.problems.append("\(invalidSamples) samples are not numbers; they were read as silence")
        }
        if converter.hasCancelled {
            report.notes.append("its channels cancel each other out, as with a balanced plug; the louder one was read")
        }
    }

    /// Compares what was read with the header and the file's size.
    private func compare(heldSeconds: Double) {
        let heldTime = SoundReport.seconds(heldSeconds)
        if let check, check.claimedBytes != check.heldBytes {
            if check.isPlaceholder {
                // A program that writes to a pipe cannot complete the header.
                guard !source.isSpooled else { return }
                report.notes.append("the header was never completed; the file holds \(heldTime)")
            } else if check.heldBytes == 0 {
                report.problems.append("the header promises audio, but the file contains none")
            } else {
                report.add(
                    promisedSeconds: heldSeconds * Double(check.claimedBytes) / Double(check.heldBytes),
                    heldSeconds: heldSeconds)
            }
            return
        }
        let unread = source.length - stream.offset
        let isCompressed = [Int32(SF_FORMAT_MPEG), Int32(SF_FORMAT_OGG)].contains(format)
        if isCompressed, unread > 65_536 || unread > source.length / 8 {
            report.problems.append(
                "\(unread * 100 / source.length) % of the file, after \(heldTime), was not read; "
                    + "ffmpeg may read it: apt install ffmpeg")
        } else if isCutOff {
            report.problems.append("the file was cut off; it holds \(heldTime)")
        } else if let promisedFrames, framesRead + framesMissing < promisedFrames, !isLengthEstimated,
            format != Int32(SF_FORMAT_RAW)
        {
            report.add(promisedSeconds: Double(promisedFrames) / Double(rate), heldSeconds: heldSeconds)
        } else if sf_error(handle) != 0 {
            report.problems.append("unreadable after \(heldTime): \(String(cString: sf_strerror(handle)))")
        }
    }

    private static func openError(for source: ByteSource) throws(DeviceError) -> DeviceError {
        let status = sf_error(nil)
        let text = String(cString: sf_error_number(status))
        let head = try source.bytes(at: 0, count: 12)
        let isAudio =
            isUncompressedOrFLAC(head) || ["OggS", "RIFF", "ID3"].contains { head.starts(with: $0.utf8) }
        guard isAudio else {
            return DeviceError(
                .unsupported, "sf_open", status: status, cause: .libsndfile, on: source.name,
                "is not audio that libsndfile can read",
                remedy: Ffmpeg.isInstalled
                    ? "convert it to WAV or FLAC" : "convert it to WAV or FLAC, or install ffmpeg: apt install ffmpeg")
        }
        guard Ffmpeg.isInstalled else {
            return DeviceError(
                .unsupported, "sf_open", status: status, cause: .libsndfile, on: source.name,
                "cannot be read by libsndfile (\(text))",
                remedy: "ffmpeg may read it: apt install ffmpeg")
        }
        return DeviceError(
            .damaged, "sf_open", status: status, cause: .libsndfile, on: source.name,
            "cannot be read as audio (\(text))",
            remedy: "use another copy of it")
    }

    /// Returns whether a file begins like uncompressed audio or FLAC, which libsndfile supports fully.
    static func isUncompressedOrFLAC(_ head: [UInt8]) -> Bool {
        let (id, form) = (head.prefix(4), head.dropFirst(8).prefix(4))
        func matches(_ bytes: ArraySlice<UInt8>, anyOf names: [String]) -> Bool {
            names.contains { bytes.elementsEqual($0.utf8) }
        }
        if matches(id, anyOf: ["RIFF", "RIFX", "RF64", "BW64"]) { return matches(form, anyOf: ["WAVE"]) }
        if matches(id, anyOf: ["FORM"]) { return matches(form, anyOf: ["AIFF", "AIFC"]) }
        return matches(id, anyOf: ["fLaC", "caff", "riff", ".snd"])
    }
}
