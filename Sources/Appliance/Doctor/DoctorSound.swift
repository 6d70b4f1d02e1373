import Core
import Glibc
import Settings
import System

/// Measures the configured microphone for a few seconds.
func doctorSound(_ configuration: Configuration, seconds: Double) async -> Result<DoctorFacts.Sound, DeviceError> {
    await measured("doctor") {
        let microphone = try configuration.microphone().open()
        var meter = SoundMeter()
        var channels = ChannelMeter(channels: microphone.channels)
        try listen(to: microphone, seconds: seconds) {
            meter.append($0)
        } frames: {
            channels.append($0)
        } lost: {
            meter.addLost($0)
        }
        var sound = meter.sound
        channels.update(&sound)
        sound.channelsCancel = microphone.channelsCancel
        return sound
    }
}

/// Reads from a microphone for a few seconds, or until it delivers no more sound. Call this on the thread that opened
/// the microphone.
///
/// - Parameters:
///   - samples: called with the samples, with all channels mixed into one.
///   - frames: called with the interleaved samples before they are mixed.
///   - lost: called with the number of samples that the device has lost.
func listen(
    to microphone: any Microphone, seconds: Double, samples: (UnsafeBufferPointer<Int16>) -> Void,
    frames: (UnsafeBufferPointer<Int16>) -> Void = { _ in }, lost: (Int) -> Void
) throws(DeviceError) {
    let channels = microphone.channels
    let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: channels * microphone.maximumBlock)
    let mixed = UnsafeMutableBufferPointer<Int16>.allocate(capacity: microphone.maximumBlock)
    defer {
        buffer.deallocate()
        mixed.deallocate()
    }
    var samplesLeft = SamplePosition(seconds: seconds).samples
    while samplesLeft > 0 {
        switch try microphone.read(into: buffer) {
        case .samples(let count):
            let frameCount = min(count, Int(samplesLeft))
            let interleaved = UnsafeBufferPointer(rebasing: buffer[..<(frameCount * channels)])
            frames(interleaved)
            Frames.mix(interleaved, channels: channels, into: mixed)
            samples(UnsafeBufferPointer(rebasing: mixed[..<frameCount]))
            samplesLeft -= Int64(count)
        case .lost(let count):
            lost(count)
            samplesLeft -= Int64(count)
        case .ended: return
        }
    }
}

/// Runs blocking code on a separate thread. Returns an error as a value.
func measured<Value: Sendable>(
    _ name: String, _ body: @escaping @Sendable () throws -> Value
) async -> Result<Value, DeviceError> {
    do { return .success(try await onThread(named: name, body)) } catch {
        return .failure(DeviceError(wrapping: error))
    }
}

/// Finds channels with a constant value, and whether all channels are identical.
private struct ChannelMeter {
    let channels: Int
    private var ranges: [(low: Int16, high: Int16)?]
    private var differs = false

    init(channels: Int) {
        self.channels = channels
        ranges = Array(repeating: nil, count: channels)
    }

    mutating func append(_ frames: UnsafeBufferPointer<Int16>) {
        for index in frames.indices {
            let (channel, sample) = (index % channels, frames[index])
            ranges[channel] = ranges[channel].map { (min($0.low, sample), max($0.high, sample)) } ?? (sample, sample)
            if channel > 0, sample != frames[index - channel] { differs = true }
        }
    }

    func update(_ sound: inout DoctorFacts.Sound) {
        sound.channels = channels
        guard channels > 1, ranges.contains(where: { $0 != nil }) else { return }
        sound.stuckChannel = ranges.firstIndex { $0.map { $0.low == $0.high } ?? true }.map { $0 + 1 }
        sound.channelsIdentical = !differs
    }
}

private struct SoundMeter {
    private var count = 0
    private var sum = 0
    private var squares = 0.0
    private var peak = 0
    private var fullScaleCount = 0
    private var lostCount = 0
    private var range: (low: Int16, high: Int16)?

    mutating func append(_ samples: UnsafeBufferPointer<Int16>) {
        for sample in samples {
            let value = Int(sample)
            sum += value
            squares += Double(value * value)
            peak = max(peak, abs(value))
            if sample == .max || sample == .min { fullScaleCount += 1 }
            range = range.map { (min($0.low, sample), max($0.high, sample)) } ?? (sample, sample)
        }
        count += samples.count
    }

    mutating func addLost(_ count: Int) { lostCount += count }

    var sound: DoctorFacts.Sound {
        var sound = DoctorFacts.Sound()
        sound.lost = lostCount
        guard count > 0, let range else { return sound }
        let mean = Double(sum) / Double(count)
        sound.seconds = Double(count) / Double(SamplePosition.rate)
        sound.rms = decibels((squares / Double(count) - mean * mean).squareRoot())
        sound.peak = decibels(Double(peak))
        sound.isStuck = range.low == range.high
        sound.clipped = Double(fullScaleCount) / Double(count)
        return sound
    }

    private func decibels(_ amplitude: Double) -> Double {
        amplitude > 0 ? max(-100, 20 * log10(amplitude / 32_768)) : -100
    }
}
