import Core
import Glibc
import System

/// An open ALSA capture device whose audio is converted to 16 kHz, mono or stereo. Reading does not allocate.
final class AlsaCapture: Microphone {
    let configuration: NegotiatedHardware
    let maximumBlock: Int
    var channels: Int { converter.outputs }

    private enum Phase: Equatable {
        case running
        /// The device stopped because of an overrun or suspend. The converter may still have samples from before.
        case draining
        /// Samples were lost. `read` reports their number next.
        case lost(Int)
    }

    private let pcm: PCMHandle
    private let converter: ChannelConverter
    /// Whether no conversion is needed: 16 kHz, 16-bit, no mixing.
    private let isNative: Bool
    private let raw: UnsafeMutableRawBufferPointer
    private let frames: UnsafeMutableBufferPointer<Float>
    private var clock: CaptureClock
    /// Slows down a device without a clock; nil to read as fast as possible.
    private var pacer: Pacer?
    private var phase = Phase.running
    /// The number of samples returned or reported lost since the start.
    private var returned: Int64 = 0

    init(
        _ pcm: PCMHandle, _ configuration: NegotiatedHardware, keeping channels: Int, unpaced: Bool
    ) throws(DeviceError) {
        let period = max(1, configuration.periodFrames)
        converter = try ChannelConverter(
            rate: configuration.rate, channels: configuration.channels, keeping: channels, block: period)
        try pcm.start()
        let start = MonotonicClock.nanoseconds
        clock = CaptureClock(rate: configuration.rate, start: start)
        pacer = unpaced ? nil : Pacer(rate: configuration.rate, start: start, isClocked: configuration.hasCard)
        maximumBlock = converter.maximumOutput
        isNative =
            configuration.rate == SamplePosition.rate && configuration.channels == converter.outputs
            && configuration.sampleFormat == .s16 && Int16(1).littleEndian == 1
        let samples = period * configuration.channels
        raw = .allocate(byteCount: samples * configuration.sampleFormat.bytesPerSample, alignment: 16)
        frames = .allocate(capacity: samples)
        self.pcm = pcm
        self.configuration = configuration
    }

    deinit {
        raw.deallocate()
        frames.deallocate()
    }

    var channelsCancel: Bool { !isNative && converter.isCancelling }

    func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> CaptureBlock {
        while true {
            switch phase {
            case .running:
                if let count = try readRunning(into: buffer), count > 0 { return .samples(count) }
            case .draining:
                let count = try converter.flush(into: buffer)
                if count > 0 {
                    returned += Int64(count)
                    return .samples(count)
                }
                try restart()
            case .lost(let samples):
                phase = .running
                returned += Int64(samples)
                if samples > 0 { return .lost(samples: samples) }
            }
        }
    }

    /// Reads a block. Returns nil after an overrun or suspend, and 0 while the converter is filling its buffer.
    private func readRunning(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> Int? {
        // The null PCM, and a file PCM at the end of its file, report frames that they have not written to the buffer.
        if !configuration.hasCard { raw.initializeMemory(as: UInt8.self, repeating: 0) }
        guard let frameCount = try pcm.read(into: raw, frames: configuration.periodFrames) else {
            phase = .draining
            return nil
        }
        let now = MonotonicClock.nanoseconds
        clock.addFrames(frameCount, at: now)
        let produced = try isNative ? copy(frameCount, into: buffer) : convert(frameCount, into: buffer)
        returned += Int64(produced)
        if let pause = pacer?.pause(after: frameCount, at: now), pause > 0 {
            MonotonicClock.sleep(until: MonotonicClock.nanoseconds + pause)
        }
        return produced
    }

    private func copy(_ count: Int, into buffer: UnsafeMutableBufferPointer<Int16>) -> Int {
        UnsafeMutableRawBufferPointer(buffer).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: raw[..<(count * channels * MemoryLayout<Int16>.size)]))
        return count
    }

    private func convert(
        _ count: Int, into buffer: UnsafeMutableBufferPointer<Int16>
    ) throws(DeviceError) -> Int {
        let samples = count * configuration.channels
        let bytes = samples * configuration.sampleFormat.bytesPerSample
        configuration.sampleFormat.decode(UnsafeRawBufferPointer(rebasing: raw[..<bytes]), into: frames)
        return try converter.convert(UnsafeBufferPointer(rebasing: frames[..<samples]), into: buffer).produced
    }

    private func restart() throws(DeviceError) {
        try converter.reset()
        try pcm.start()
        _ = clock.handleRestart(at: MonotonicClock.nanoseconds)
        // Computed from the start, so that rounding errors do not accumulate.
        let expected = SamplePosition(seconds: Double(clock.frames) / Double(configuration.rate))
        phase = .lost(Int(max(0, expected.samples - returned)))
    }
}
