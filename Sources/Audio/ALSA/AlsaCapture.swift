import Core
import Glibc
import System

/// An open ALSA capture device, converted to 16 kHz mono or stereo. Allocates nothing per block.
final class AlsaCapture: Microphone {
    /// Without audio for this time, a microphone counts as disconnected.
    private static let timeoutMilliseconds: Int32 = 2_000

    let configuration: NegotiatedHardware
    let maximumBlock: Int
    var channels: Int { converter.outputs }

    private enum Phase: Equatable {
        case running
        /// After an overrun: the converter still holds samples.
        case draining
        /// The number of lost samples, to be returned next.
        case lost(Int)
    }

    private let pcm: PCMHandle
    private let converter: ChannelConverter
    private let paces: Bool
    /// Whether no conversion is needed: 16 kHz, 16-bit, no mixing.
    private let isNative: Bool
    private let raw: UnsafeMutableRawBufferPointer
    private let frames: UnsafeMutableBufferPointer<Float>
    private var clock: CaptureClock
    private var pacer: Pacer
    private var phase = Phase.running
    /// The number of samples returned or reported lost since the start.
    private var returned: Int64 = 0

    init(
        _ pcm: PCMHandle, _ configuration: NegotiatedHardware, keeping: Int = 1, unpaced: Bool
    ) throws(DeviceError) {
        let period = max(1, configuration.periodFrames)
        converter = try ChannelConverter(
            rate: configuration.rate, channels: configuration.channels, keeping: keeping, block: period)
        try pcm.start()
        let start = MonotonicClock.nanoseconds
        clock = CaptureClock(rate: configuration.rate, start: start)
        pacer = Pacer(rate: configuration.rate, start: start, isClocked: configuration.hasCard)
        maximumBlock = converter.maximumOutput
        paces = !unpaced
        isNative =
            configuration.rate == SamplePosition.rate && configuration.channels == converter.outputs
            && configuration.sampleFormat == .s16 && Int16(1).littleEndian == 1
        let samples = period * configuration.channels
        raw = .allocate(byteCount: samples * configuration.sampleFormat.bytes, alignment: 16)
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

    /// Returns nil after an overrun, 0 while the converter fills.
    private func readRunning(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> Int? {
        // The null PCM, and a file PCM at the end of its file, count frames that they do not write.
        if !configuration.hasCard { raw.initializeMemory(as: UInt8.self, repeating: 0) }
        let read = try pcm.read(
            into: raw, frames: configuration.periodFrames, timeoutMilliseconds: Self.timeoutMilliseconds,
            clock: { MonotonicClock.nanoseconds })
        guard let read else {
            phase = .draining
            return nil
        }
        let now = MonotonicClock.nanoseconds
        clock.delivered(read, at: now)
        let produced = try isNative ? copy(read, into: buffer) : convert(read, into: buffer)
        returned += Int64(produced)
        if paces { sleep(pacer.pause(after: read, at: now)) }
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
        configuration.sampleFormat.decode(
            UnsafeRawBufferPointer(rebasing: raw[..<(samples * configuration.sampleFormat.bytes)]), into: frames)
        return try converter.convert(UnsafeBufferPointer(rebasing: frames[..<samples]), into: buffer).produced
    }

    private func restart() throws(DeviceError) {
        try converter.reset()
        try pcm.start()
        _ = clock.restarted(at: MonotonicClock.nanoseconds)
        // Counted from the start, so that rounding errors do not accumulate.
        let due = SamplePosition(seconds: Double(clock.frames) / Double(configuration.rate))
        phase = .lost(Int(max(0, due.samples - returned)))
    }

    private func sleep(_ nanoseconds: Int64) {
        guard nanoseconds > 0 else { return }
        MonotonicClock.sleep(until: MonotonicClock.nanoseconds + nanoseconds)
    }
}
