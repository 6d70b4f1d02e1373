internal import CSndfile
import Core
import Platform
import Resampling

/// An audio file of any kind that libsndfile reads, as 16 kHz mono, or of two channels where both are wanted; takes the same memory for a minute and for a day.
///
/// Used on one thread.
package final class AudioFileReader {
    /// What errors and `damage` name.
    package let name: String

    /// The file's own sample rate, in Hz.
    package let rate: Int

    /// The file's own number of channels.
    package let channels: Int

    /// How much audio the file should give; nil where its header does not say.
    package let estimatedLength: SamplePosition?

    private let source: ByteSource
    private let handle: OpaquePointer
    private let info: SF_INFO
    private let check: ContainerCheck?
    private let isCutOff: Bool
    private let converter: ChannelConverter
    private let frames: UnsafeMutableBufferPointer<Float>
    /// Samples in `frames`, all channels counted; and how many of them were converted.
    private var available = 0
    private var taken = 0
    private var framesRead: Int64 = 0
    private var invalid = 0
    private var isAtEnd = false

    /// Opens a file, or waits for a named pipe to end and opens what came.
    ///
    /// - Throws: `DeviceError` with `missing`, `denied`, `damaged` or `unsupported`.
    ///
    /// - Parameter keeping: 2 keeps the channels of a file that has two apart.
    package convenience init(path: String, keeping: Int = 1) throws(DeviceError) {
        try self.init(source: ByteSource(path: path), keeping: keeping)
    }

    /// Reads an open file or a pipe from where it stands; the descriptor stays the caller's. A pipe is read to its end
    /// first.
    package convenience init(descriptor: Int32, named name: String) throws(DeviceError) {
        try self.init(source: ByteSource(descriptor: descriptor, named: name), keeping: 1)
    }

    private init(source opened: ByteSource, keeping: Int) throws(DeviceError) {
        let source = try opened.readable()
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
        source.patches = check?.patches ?? []
        isCutOff = try OggEnd.isFinished(source) == false
        var info = SF_INFO()
        var calls = ByteSource.calls
        // Safety: `self` keeps the source alive until after sf_close.
        let context = Unmanaged.passUnretained(source).toOpaque()
        guard let handle = sf_open_virtual(&calls, Int32(SFM_READ), &info, context) else {
            throw try Self.refusal(of: source)
        }
        let block = max(256, 32_768 / Int(max(1, info.channels)))
        do throws(DeviceError) {
            converter = try ChannelConverter(
                rate: Int(info.samplerate), channels: Int(info.channels), keeping: keeping, block: block)
        } catch {
            sf_close(handle)
            throw DeviceError(error.code, error.operation, on: source.name, "\(error.message)")
        }
        name = source.name
        rate = Int(info.samplerate)
        channels = Int(info.channels)
        let isKnown = info.frames >= 0 && info.frames < Int64.max
        estimatedLength = isKnown ? SamplePosition(seconds: Double(info.frames) / Double(info.samplerate)) : nil
        frames = .allocate(capacity: block * Int(info.channels))
        self.source = source
        self.handle = handle
        self.info = info
        self.check = check
    }

    deinit {
        sf_close(handle)
        frames.deallocate()
    }

    /// Channels that are read, 1 or 2.
    package var outputs: Int { converter.outputs }

    /// Fills the buffer, whose size is a multiple of `outputs`; fewer samples are the last ones, and 0 is the end.
    ///
    /// - Returns: samples, those of both channels counted.
    package func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> Int {
        var filled = 0
        while filled < buffer.count {
            if taken == available && !isAtEnd { try refill() }
            let room = UnsafeMutableBufferPointer(rebasing: buffer[filled...])
            if isAtEnd {
                let produced = try converter.flush(into: room)
                if produced == 0 { break }
                filled += produced * converter.outputs
            } else {
                let rest = UnsafeBufferPointer(rebasing: frames[taken..<available])
                let (consumed, produced) = try converter.convert(rest, into: room)
                taken += consumed * channels
                filled += produced * converter.outputs
            }
        }
        return filled
    }

    /// What was wrong with the file, in one line; complete once `read` has given 0. What is there was read all the
    /// same.
    package var damage: String? {
        let held = Double(framesRead) / Double(rate)
        if let check, check.claimed != check.held {
            if check.isPlaceholder {
                // Who writes into a pipe cannot go back and complete the header.
                if !source.isSpooled { return "the header was never completed; the file holds \(seconds(held))" }
            } else if check.held == 0 {
                return "the header promises audio, but the file contains none"
            } else {
                let claimed = held * Double(check.claimed) / Double(check.held)
                return "the header says \(seconds(claimed)), the file holds \(seconds(held))"
            }
        }
        guard isAtEnd else { return nil }
        if isCutOff {
            return "the file was cut off; it holds \(seconds(held))"
        }
        // The length of MPEG audio is a guess.
        if let estimatedLength, framesRead < info.frames,
            info.format & Int32(SF_FORMAT_TYPEMASK) != Int32(SF_FORMAT_MPEG)
        {
            return "the header says \(seconds(estimatedLength.seconds)), the file holds \(seconds(held))"
        }
        if sf_error(handle) != 0 {
            return "unreadable after \(seconds(held)): \(String(cString: sf_strerror(handle)))"
        }
        return invalid > 0 ? "\(invalid) samples are not numbers; they were read as silence" : nil
    }

    private func refill() throws(DeviceError) {
        let count = sf_readf_float(handle, frames.baseAddress, Int64(frames.count / channels))
        if let failure = source.failure { throw failure }
        isAtEnd = count <= 0
        framesRead += max(0, count)
        taken = 0
        available = Int(max(0, count)) * channels
        invalid += Samples.sanitize(UnsafeMutableBufferPointer(rebasing: frames[..<available]))
    }

    private func seconds(_ value: Double) -> String {
        let hundredths = Int64((min(value, 1e12) * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) s"
    }

    /// Why libsndfile did not open a file.
    private static func refusal(of source: ByteSource) throws(DeviceError) -> DeviceError {
        if let failure = source.failure { return failure }
        let status = sf_error(nil)
        let words = String(cString: sf_error_number(status))
        let head = String(decoding: try source.bytes(at: 0, count: 4), as: UTF8.self)
        guard ["RIFF", "RIFX", "RF64", "BW64", "FORM", "caff", "fLaC", "OggS"].contains(head) else {
            return DeviceError(
                .unsupported, "sf_open", status: status, on: source.name, "is not audio that libsndfile can read",
                remedy: "convert it to WAV or FLAC")
        }
        return DeviceError(
            .damaged, "sf_open", status: status, on: source.name, "cannot be read as audio (\(words))",
            remedy: "use another copy of it")
    }
}
