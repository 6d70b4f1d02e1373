import Core
import Glibc
import System

/// A microphone that plays an endless sine wave with peaks at -20 dBFS, in real time or as fast as it is read.
struct ToneMicrophone: MicrophoneProvider {
    let name: String
    private let frequency: Double
    private let isFast: Bool

    /// Parses `tone:HZ` or `tone+fast:HZ`.
    ///
    /// - Throws: `DeviceError` with `unsupported` unless the frequency is above 0 and below half the sample rate.
    init?(uri: String) throws(DeviceError) {
        guard let colon = uri.firstIndex(of: ":") else { return nil }
        let scheme = uri[..<colon]
        guard scheme == "tone" || scheme == "tone+fast" else { return nil }
        guard let frequency = Double(uri[uri.index(after: colon)...]), frequency > 0, frequency < 8_000 else {
            throw DeviceError(
                .unsupported, "tone", on: uri, "is not a valid frequency",
                remedy: "use 1 to 7999 Hz, for example tone:440")
        }
        name = uri
        self.frequency = frequency
        isFast = scheme == "tone+fast"
    }

    var isRealTime: Bool { !isFast }

    func open() throws(DeviceError) -> any Microphone {
        ToneCapture(frequency: frequency, isFast: isFast)
    }
}

private final class ToneCapture: Microphone {
    let maximumBlock = SamplePosition.rate / 10
    private let step: Double
    private let isFast: Bool
    /// The phase in periods, 0 to 1.
    private var phase = 0.0
    private var metronome = Metronome(start: MonotonicClock.nanoseconds)

    init(frequency: Double, isFast: Bool) {
        step = frequency / Double(SamplePosition.rate)
        self.isFast = isFast
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> CaptureBlock {
        let count = min(maximumBlock, buffer.count)
        for index in 0..<count {
            buffer[index] = Int16((3_276.8 * sin(2 * .pi * phase)).rounded())
            phase += step
            if phase >= 1 { phase -= 1 }
        }
        if !isFast { metronome.wait(forNext: count) }
        return .samples(count)
    }
}
