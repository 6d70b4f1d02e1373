import Core
internal import CSndfile

/// The formats of exported audio.
package enum AudioFormat: String, Sendable, CaseIterable {
    case flac, wav

    /// The name of the file in a copy's folder.
    package var fileName: String { "audio.\(rawValue)" }
}

/// Encodes samples to FLAC or WAV in constant memory. Use an encoder on only one thread.
package final class AudioEncoder {
    private let name: String
    private let target: VirtualFile
    private var handle: OpaquePointer?

    /// Starts a file with 16 kHz, 16-bit audio.
    ///
    /// - Parameters:
    ///   - name: The file's name for errors.
    ///   - channels: 1 or 2.
    ///   - artist: The recorder's name.
    ///   - date: The wall time of the first sample, in RFC 3339 format.
    ///   - comment: The recording's number, its start time, and why it ended.
    ///   - track: The recording's number.
    package init(
        _ format: AudioFormat, into bytes: any SeekableBytes, named name: String, channels: Int = 1, title: String,
        artist: String = "", date: String = "", comment: String = "", track: Int = 0
    ) throws(DeviceError) {
        self.name = name
        target = VirtualFile(bytes)
        var info = SF_INFO()
        info.samplerate = Int32(SamplePosition.rate)
        info.channels = Int32(channels)
        // RF64 becomes a plain WAV unless it exceeds 4 GiB.
        info.format = Int32(SF_FORMAT_PCM_16) | Int32(format == .flac ? SF_FORMAT_FLAC : SF_FORMAT_RF64)
        handle = target.open(Int32(SFM_WRITE), &info)
        guard let handle else {
            throw target.failure
                ?? DeviceError(
                    .failed, "sf_open", "\(name): \(String(cString: sf_strerror(nil))); try the other format")
        }
        if format == .wav { sf_command(handle, Int32(SFC_RF64_AUTO_DOWNGRADE), nil, 1) }
        for (kind, text) in [
            (SF_STR_TITLE, title), (SF_STR_ARTIST, artist), (SF_STR_DATE, date), (SF_STR_COMMENT, comment),
            (SF_STR_TRACKNUMBER, String(track)), (SF_STR_SOFTWARE, "fieldscribe"),
        ] { sf_set_string(handle, Int32(kind), text) }
    }

    deinit { if let handle { sf_close(handle) } }

    /// Encodes complete interleaved frames, 16-bit, 16 kHz.
    ///
    /// - Throws: The target's `DeviceError`, or one with `failed`.
    package func append(_ samples: UnsafeBufferPointer<Int16>) throws(DeviceError) {
        let count = sf_write_short(handle, samples.baseAddress, Int64(samples.count))
        guard count == samples.count, target.failure == nil else { throw failure("sf_write") }
    }

    /// Completes the file's header.
    package func finish() throws(DeviceError) {
        let status = sf_close(handle)
        handle = nil
        guard status == 0, target.failure == nil else { throw failure("sf_close") }
    }

    private func failure(_ operation: String) -> DeviceError {
        target.failure
            ?? DeviceError(
                .failed, operation, on: name, "cannot be encoded",
                remedy: "set export.audio to the other format, flac or wav")
    }
}

/// Decodes a file that `AudioEncoder` has written. Use a decoder on only one thread.
package final class AudioDecoder {
    private let name: String
    private let source: VirtualFile
    private let handle: OpaquePointer
    package let channels: Int

    /// - Throws: `DeviceError` with `damaged` if the file is invalid.
    package init(_ bytes: any SeekableBytes, named name: String) throws(DeviceError) {
        self.name = name
        source = VirtualFile(bytes)
        var info = SF_INFO()
        guard let handle = source.open(Int32(SFM_READ), &info) else {
            throw source.failure
                ?? DeviceError(.damaged, "sf_open", "\(name): does not contain the audio that was written")
        }
        self.handle = handle
        channels = Int(info.channels)
    }

    deinit { sf_close(handle) }

    /// Reads until the buffer, whose size must be even, is full or the file ends. Returns the number of samples, counting
    /// all channels; 0 at the end.
    package func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> Int {
        let count = sf_read_short(handle, buffer.baseAddress, Int64(buffer.count))
        if let failure = source.failure { throw failure }
        guard sf_error(handle) == 0 else {
            throw DeviceError(.damaged, "sf_read", "\(name): cannot be decoded; use another stick")
        }
        return Int(max(0, count))
    }
}
