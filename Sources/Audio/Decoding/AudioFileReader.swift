import Core
import System

/// An audio file as 16 kHz mono, or of two channels if both are wanted; takes the same memory for a minute and for a day.
///
/// libsndfile reads uncompressed sound and FLAC, ffmpeg everything else if it is installed, and what libsndfile refuses. Files
/// that were joined are read one after the other. What was read is compared with what the containers hold (`damage`). Used on
/// one thread.
package final class AudioFileReader {
    /// What errors name.
    let name: String

    /// The sample rate of the first sound in it, in Hz.
    let rate: Int

    /// The number of channels of the first sound in it, at most two of what ffmpeg reads.
    let channels: Int

    /// How much audio the file should give; nil where its header does not say.
    package let estimatedLength: SamplePosition?

    /// Channels that are read, 1 or 2.
    package let outputs: Int

    private let track: SoundTrack
    private var source: ByteSource
    private var part: SoundPart?
    private var account = SoundAccount()
    /// Samples of a channel that were given.
    private var given: Int64 = 0
    private var partStart: Int64 = 0

    /// Opens a file, or waits for a named pipe to end and opens what came.
    ///
    /// - Parameters:
    ///   - keeping: 2 keeps the channels of a file that has two apart.
    ///   - track: which tracks of a container are read.
    /// - Throws: `DeviceError` with `missing`, `denied`, `damaged` or `unsupported`.
    package convenience init(
        path: String, keeping: Int = 1, track: SoundTrack = .automatic
    ) throws(DeviceError) {
        try self.init(source: ByteSource(path: path), keeping: keeping, track: track)
    }

    /// Reads an open file or a pipe from where it stands; the descriptor stays the caller's. A pipe is read to its end
    /// first.
    package convenience init(
        descriptor: Int32, named name: String, keeping: Int = 1, track: SoundTrack = .automatic
    ) throws(DeviceError) {
        try self.init(source: ByteSource(descriptor: descriptor, named: name), keeping: keeping, track: track)
    }

    private init(source: ByteSource, keeping: Int, track: SoundTrack) throws(DeviceError) {
        let part = try Self.open(source, keeping: keeping, track: track)
        name = source.name
        rate = part.originalRate
        channels = part.channels
        estimatedLength = part.estimatedLength
        outputs = part.outputs
        self.track = track
        self.source = source
        self.part = part
    }

    /// Fills the buffer, whose size is a multiple of `outputs`; fewer samples are the last ones, and 0 is the end.
    ///
    /// - Returns: samples, those of both channels counted; silence in `gaps`.
    package func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> Int {
        var filled = 0
        while filled < buffer.count, let part {
            let room = UnsafeMutableBufferPointer(rebasing: buffer[filled...])
            let isDoubled = part.outputs < outputs
            let count = try part.read(
                into: isDoubled ? UnsafeMutableBufferPointer(rebasing: room[..<(room.count / 2)]) : room)
            if isDoubled {
                for index in stride(from: count - 1, through: 0, by: -1) {
                    room[2 * index + 1] = room[index]
                    room[2 * index] = room[index]
                }
            }
            filled += isDoubled ? 2 * count : count
            given += Int64((isDoubled ? 2 * count : count) / outputs)
            if count == 0 { try end(part) }
        }
        return filled
    }

    /// What was read against what the containers hold; complete once `read` has given 0.
    package var report: SoundAccount {
        var report = account
        if let part { report.add(part.account, at: SamplePosition(partStart)) }
        return report
    }

    /// What is missing, in one line; complete once `read` has given 0. What is there was read all the same.
    var damage: String? { report.damage }

    private func end(_ ended: SoundPart) throws(DeviceError) {
        account.add(ended.account, at: SamplePosition(partStart))
        part = nil
        partStart = given
        guard let following = ended.following else { return }
        do throws(DeviceError) {
            source = try source.window(from: following)
            part = try Self.open(source, keeping: outputs, track: track)
        } catch {
            account.complaints.append("what follows it \(error.reason)")
        }
    }

    private static func open(
        _ source: ByteSource, keeping: Int, track: SoundTrack
    ) throws(DeviceError) -> SoundPart {
        let head = try source.bytes(at: 0, count: 12)
        let isFamiliar = SoundPart.isFamiliar(head)
        if !isFamiliar, Ffmpeg.isInstalled, let decoded = try DecodedSound.decode(source, track: track) {
            return try SoundPart(decoded, keeping: keeping)
        }
        if Ffmpeg.isMovie(head) {
            guard Ffmpeg.isInstalled else { throw Ffmpeg.missing(source.name) }
            throw DeviceError(
                .damaged, "ffmpeg", on: source.name, "ffmpeg finds no sound in it",
                remedy: "use another copy, or convert it by hand")
        }
        do throws(DeviceError) {
            return try SoundPart(source, keeping: keeping)
        } catch {
            guard isFamiliar, Ffmpeg.isInstalled, error.operation == "sf_open",
                let decoded = try DecodedSound.decode(source, track: track)
            else { throw error }
            return try SoundPart(decoded, keeping: keeping)
        }
    }
}
