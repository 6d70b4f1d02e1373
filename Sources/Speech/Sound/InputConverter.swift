import Audio
import Core
import Recognition

/// Converts one input's buffers to chunks at 16 kHz, with gaps for missing audio. Use it in only one task at a time.
struct InputConverter {
    private var converter: BufferConverter?
    private var format: AudioBuffer.Format?
    /// Where the audio in this format starts, and its number of frames so far.
    private var formatStart: SamplePosition
    private var formatFrames: Int64 = 0
    /// The end of the audio returned so far.
    private(set) var position: SamplePosition

    init(start: SamplePosition) { (formatStart, position) = (start, start) }

    /// The end of the input so far. `position` lags behind it by the audio in the resampler.
    private var inputEnd: SamplePosition {
        guard let format else { return position }
        return formatStart + formatFrames * Int64(SamplePosition.rate) / Int64(format.sampleRate)
    }

    /// Returns a buffer's audio, preceded by any remaining audio of the previous buffer.
    ///
    /// - Throws: `DeviceError` with `unsupported` if the format cannot be converted, or `damaged` if the buffer starts
    ///   before the end of the previous one.
    mutating func chunks(of input: AnalyzerInput) throws(DeviceError) -> [AudioChunk] {
        var chunks: [AudioChunk] = []
        if input.missing > 0 {
            chunks = try finish()
            chunks.append(skip(to: position + input.missing))
        } else if let start = input.bufferStartTime?.position {
            guard start >= inputEnd - Self.tolerance else {
                throw DeviceError(
                    .damaged, "append", on: "audio input",
                    "starts at \(start.seconds) s, but the previous buffer ended at \(inputEnd.seconds) s",
                    remedy: "pass buffers in chronological order")
            }
            if start > inputEnd + Self.tolerance {
                chunks = try finish()
                chunks.append(skip(to: start))
            }
        }
        let samples = try convert(input.buffer, after: &chunks)
        formatFrames += Int64(input.buffer.frameLength)
        if !samples.isEmpty { append(samples, to: &chunks) }
        return chunks
    }

    /// Returns any remaining audio at the end of the input.
    mutating func finish() throws(DeviceError) -> [AudioChunk] {
        var chunks: [AudioChunk] = []
        if let rest = try converter?.finish(), !rest.isEmpty { append(rest, to: &chunks) }
        (converter, format) = (nil, nil)
        return chunks
    }

    /// 20 ms. Times from other clocks may be rounded, so smaller differences are not gaps.
    private static let tolerance = Int64(SamplePosition.rate / 50)

    private mutating func convert(
        _ buffer: AudioBuffer, after chunks: inout [AudioChunk]
    ) throws(DeviceError) -> [Int16] {
        if buffer.format != format {
            chunks += try finish()
            if buffer.format != .native {
                converter = try BufferConverter(rate: buffer.sampleRate, channels: buffer.channelCount)
            }
            (format, formatStart, formatFrames) = (buffer.format, position, 0)
        }
        switch (buffer.samples, converter) {
        case (.int16(let samples), nil): return samples
        case (.int16(let samples), let converter?): return try converter.convert(samples)
        case (.float32(let samples), let converter): return try converter?.convert(samples) ?? []
        }
    }

    private mutating func skip(to start: SamplePosition) -> AudioChunk {
        defer { position = start }
        return .gap(Gap(SampleRange(position, start), cause: .overrun))
    }

    private mutating func append(_ samples: [Int16], to chunks: inout [AudioChunk]) {
        chunks.append(.samples(samples))
        position = position + Int64(samples.count)
    }
}
