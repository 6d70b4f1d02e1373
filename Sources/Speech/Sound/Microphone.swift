import Audio
import Core
import System

/// An ALSA microphone, as an asynchronous sequence of inputs for an analyzer. The device is opened when the sequence is
/// iterated, and closed when the iteration ends. Up to two minutes of sound are buffered while the consumer is busy;
/// later losses, and those while the device is unplugged, appear as a later `bufferStartTime`. A device that disappears
/// is opened again when it is back. It replaces AVFAudio's `AVAudioEngine`.
public struct Microphone: AsyncSequence, Sendable {
    /// A buffer and its place in time.
    public typealias Element = AnalyzerInput

    /// The PCM's name.
    public let device: String

    /// - Parameter device: a PCM of ALSA's configuration: `default`, `plughw:CARD=Mic`; `arecord -L` lists them.
    public init(device: String = "default") { self.device = device }

    /// Opens the microphone on a thread of its own.
    public func makeAsyncIterator() -> Iterator { Iterator(MicrophoneCapture(provider)) }

    private var provider: AlsaMicrophone { AlsaMicrophone(uri: device) ?? AlsaMicrophone(device: device) }

    /// Reads a microphone. Use it in one task; releasing it closes the device.
    public final class Iterator: AsyncIteratorProtocol {
        private let capture: MicrophoneCapture
        private var hasStarted = false

        fileprivate init(_ capture: MicrophoneCapture) { self.capture = capture }

        deinit { capture.stop() }

        /// Waits for the next sound; nil once the task is cancelled.
        ///
        /// - Throws: ``SFSpeechError`` with `microphoneUnavailable` if the device cannot be opened.
        public func next() async throws -> AnalyzerInput? {
            if !hasStarted {
                hasStarted = true
                capture.start()
            }
            do { return try await capture.inputs.next() } catch {
                throw SFSpeechError(error, orElse: .microphoneUnavailable)
            }
        }
    }
}

/// The thread that reads a microphone.
private final class MicrophoneCapture: Sendable {
    /// Two minutes.
    private static let maxKept = 120 * SamplePosition.rate
    private static let reopening = Duration.seconds(1)

    let inputs = AsyncQueue<AnalyzerInput>(capacity: maxKept) { $0.buffer.frameLength }
    private let provider: AlsaMicrophone
    private let stopped = StopFlag()
    private let wakeup = Wakeup()
    private let thread = WorkThread(named: "microphone")

    init(_ provider: AlsaMicrophone) { self.provider = provider }

    func start() {
        // The thread retains this object until the released iterator stops it.
        thread.start { [self] in run() }
    }

    func stop() {
        stopped.raise()
        wakeup.signal()
        inputs.cancel()
    }

    private func run() {
        var position = SamplePosition.zero
        var hasOpened = false
        while !stopped.isRaised {
            do {
                let microphone = try provider.open()
                hasOpened = true
                try read(microphone, &position)
                return inputs.finish()
            } catch {
                guard hasOpened else { return inputs.finish(throwing: error) }
                let began = MonotonicClock.nanoseconds
                wakeup.wait(timeout: Self.reopening)
                let waited = SamplePosition(seconds: Double(MonotonicClock.nanoseconds - began) / 1e9)
                position = position + waited.samples
            }
        }
    }

    private func read(_ microphone: any Core.Microphone, _ position: inout SamplePosition) throws {
        var block = [Int16](repeating: 0, count: microphone.maximumBlock * microphone.channels)
        while !stopped.isRaised {
            switch try block.withUnsafeMutableBufferPointer({ try microphone.read(into: $0) }) {
            case .lost(let samples): position = position + Int64(samples)
            case .ended: return
            case .samples(let count):
                let buffer = AudioBuffer(
                    int16: Array(block[..<(count * microphone.channels)]), channelCount: microphone.channels)
                // Dropped if the consumer is two minutes behind.
                _ = inputs.sendIfRoom(AnalyzerInput(buffer: buffer, bufferStartTime: AudioTime(position)))
                position = position + Int64(count)
            }
        }
    }
}
