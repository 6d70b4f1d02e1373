import Core

/// Reads an audio file as 16 kHz mono or stereo, in constant memory.
///
/// libsndfile reads uncompressed audio and FLAC. ffmpeg, if installed, reads all other files and those that libsndfile
/// rejects. Concatenated files are read one after the other. `report` compares what was read with the containers. Use a
/// reader on only one thread.
package final class AudioFileReader {
    /// The expected length; nil if the header does not contain a length.
    package let estimatedLength: SamplePosition?

    /// The number of output channels, 1 or 2.
    package let outputs: Int

    private let track: SoundTrack
    private var source: ByteSource
    private var part: SoundPart?
    /// The report for the parts that have been read completely.
    private var completedReport = SoundReport()
    /// The number of samples per channel returned so far.
    private var returned: Int64 = 0
    private var partStart: Int64 = 0

    /// Opens a file. If it is a named pipe, reads it to its end first.
    ///
    /// - Parameters:
    ///   - keeping: 2 to keep the channels of a stereo file separate.
    ///   - track: Which tracks of a container to read.
    /// - Throws: `DeviceError` with `missing`, `denied`, `damaged` or `unsupported`.
    package convenience init(
        path: String, keeping: Int = 1, track: SoundTrack = .automatic
    ) throws(DeviceError) {
        try self.init(source: ByteSource(path: path), keeping: keeping, track: track)
    }

    /// Reads an open file or pipe from its current offset. The caller closes the descriptor. If it is a pipe, reads it
    /// to its end first.
    package convenience init(
        descriptor: Int32, named name: String, keeping: Int = 1, track: SoundTrack = .automatic
    ) throws(DeviceError) {
        try self.init(source: ByteSource(descriptor: descriptor, named: name), keeping: keeping, track: track)
    }

    private init(source: ByteSource, keeping: Int, track: SoundTrack) throws(DeviceError) {
        let part = try Self.open(source, keeping: keeping, track: track)
        estimatedLength = part.estimatedLength
        outputs = part.outputs
        self.track = track
        self.source = source
        self.part = part
    }

    /// Reads until the buffer is full or the file ends. The buffer's size must be a multiple of `outputs`. Gaps are
    /// silent.
    ///
    /// - Returns: The number of samples, counting all channels; 0 at the end.
    package func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> Int {
        var filled = 0
        while filled < buffer.count, let part {
            let rest = UnsafeMutableBufferPointer(rebasing: buffer[filled...])
            let isMonoPart = part.outputs < outputs
            let count = try part.read(
                into: isMonoPart ? UnsafeMutableBufferPointer(rebasing: rest[..<(rest.count / 2)]) : rest)
            if isMonoPart {
                for index in stride(from: count - 1, through: 0, by: -1) {
                    rest[2 * index + 1] = rest[index]
                    rest[2 * index] = rest[index]
                }
            }
            filled += isMonoPart ? 2 * count : count
            returned += Int64((isMonoPart ? 2 * count : count) / outputs)
            if count == 0 { try finish(part) }
        }
        return filled
    }

    /// Returns the remaining samples, interleaved.
    package func samples() throws(DeviceError) -> [Int16] {
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: SamplePosition.rate)
        defer { buffer.deallocate() }
        var samples: [Int16] = []
        while case let count = try read(into: buffer), count > 0 { samples += buffer[..<count] }
        return samples
    }

    /// Compares what was read with the containers. Complete once `read` has returned 0.
    package var report: SoundReport {
        var report = completedReport
        if let part { report.add(part.report, at: SamplePosition(partStart)) }
        return report
    }

    /// Returns the metadata by lowercase name. If ffmpeg is not installed, this is at most a date from libsndfile. Call
    /// this before `read`.
    func tags() throws(DeviceError) -> [String: String] {
        if Ffmpeg.isInstalled { return try ContainerDescription(source).tags }
        return part?.date.map { ["date": $0] } ?? [:]
    }

    private func finish(_ completedPart: SoundPart) throws(DeviceError) {
        completedReport.add(completedPart.report, at: SamplePosition(partStart))
        part = nil
        partStart = returned
        guard let followingOffset = completedPart.followingOffset else { return }
        do throws(DeviceError) {
            source = try source.window(from: followingOffset)
            part = try Self.open(source, keeping: outputs, track: track)
        } catch {
            completedReport.problems.append("the file concatenated to it \(error.reason)")
        }
    }

    private static func open(
        _ source: ByteSource, keeping: Int, track: SoundTrack
    ) throws(DeviceError) -> SoundPart {
        let head = try source.bytes(at: 0, count: 12)
        let isUncompressedOrFLAC = SoundPart.isUncompressedOrFLAC(head)
        if !isUncompressedOrFLAC, Ffmpeg.isInstalled, let decoded = try DecodedSound.decode(source, track: track) {
            return try SoundPart(decoded, keeping: keeping)
        }
        if Ffmpeg.isMovie(head) {
            guard Ffmpeg.isInstalled else { throw Ffmpeg.notInstalledError(source.name) }
            throw DeviceError(
                .damaged, "ffmpeg", on: source.name, "contains no audio that ffmpeg can find",
                remedy: "use another copy, or convert it yourself")
        }
        do throws(DeviceError) {
            return try SoundPart(source, keeping: keeping)
        } catch {
            guard isUncompressedOrFLAC, Ffmpeg.isInstalled, error.cause == .libsndfile,
                let decoded = try DecodedSound.decode(source, track: track)
            else { throw error }
            return try SoundPart(decoded, keeping: keeping)
        }
    }
}
