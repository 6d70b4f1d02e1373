import Equipment
import Configuration
import Core
import Glibc
import Platform

/// Listens to the configured microphone for some seconds.
func doctorSound(_ configuration: Configuration, seconds: Double) async -> Result<DoctorFacts.Sound, DeviceError> {
    await measured("doctor") {
        let microphone = try configuration.microphone().open()
        var meter = SoundMeter()
        try listen(to: microphone, seconds: seconds) {
            meter.take($0)
        } lost: {
            meter.lost($0)
        }
        return meter.sound
    }
}

/// Reads a microphone for so long, or until it ends, on the thread that opened it.
func listen(
    to microphone: any Microphone, seconds: Double, take: (UnsafeBufferPointer<Int16>) -> Void, lost: (Int) -> Void
) throws(DeviceError) {
    let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: microphone.maximumBlock)
    defer { buffer.deallocate() }
    var left = SamplePosition(seconds: seconds).samples
    while left > 0 {
        switch try microphone.read(into: buffer) {
        case .samples(let count):
            take(UnsafeBufferPointer(rebasing: buffer[..<min(count, Int(left))]))
            left -= Int64(count)
        case .lost(let count):
            lost(count)
            left -= Int64(count)
        case .ended: return
        }
    }
}

/// Runs what blocks on a thread of its own, and takes its error as a value.
func measured<Value: Sendable>(
    _ name: String, _ body: @escaping @Sendable () throws -> Value
) async -> Result<Value, DeviceError> {
    do { return .success(try await onThread(named: name, body)) } catch let error as DeviceError {
        return .failure(error)
    } catch { return .failure(DeviceError(.failed, name, on: name, "\(error)", remedy: "see the log")) }
}

private struct SoundMeter {
    private var count = 0
    private var sum = 0
    private var squares = 0.0
    private var peak = 0
    private var fullScale = 0
    private var lost = 0
    private var range: (low: Int16, high: Int16)?

    mutating func take(_ samples: UnsafeBufferPointer<Int16>) {
        for sample in samples {
            let value = Int(sample)
            sum += value
            squares += Double(value * value)
            peak = max(peak, abs(value))
            if sample == .max || sample == .min { fullScale += 1 }
            range = range.map { (min($0.low, sample), max($0.high, sample)) } ?? (sample, sample)
        }
        count += samples.count
    }

    mutating func lost(_ samples: Int) { lost += samples }

    var sound: DoctorFacts.Sound {
        var sound = DoctorFacts.Sound()
        sound.lost = lost
        guard count > 0, let range else { return sound }
        let mean = Double(sum) / Double(count)
        sound.seconds = Double(count) / Double(SamplePosition.rate)
        sound.rms = decibels((squares / Double(count) - mean * mean).squareRoot())
        sound.peak = decibels(Double(peak))
        sound.isStuck = range.low == range.high
        sound.clipped = Double(fullScale) / Double(count)
        return sound
    }

    private func decibels(_ amplitude: Double) -> Double {
        amplitude > 0 ? max(-100, 20 * log10(amplitude / 32_768)) : -100
    }
}
