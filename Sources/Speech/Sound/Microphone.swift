import Audio
import Core
import System

/// An ALSA microphone, as an asynchronous sequence of inputs for an analyzer. It replaces AVFAudio's `AVAudioEngine`.
///
/// The device is opened when the iteration starts and closed when it ends. If the device is unplugged, it is reopened
/// when it is plugged in again. While the consumer is busy, up to two minutes of audio are buffered; audio beyond that
/// is lost. After lost audio, the `bufferStartTime` of the next buffer shows where the audio continues.
public struct Microphone: AsyncSequence, Sendable {
    /// A buffer with its start time.
    public typealias Element = AnalyzerInput

    /// The name of the ALSA PCM.
    public let device: String

    /// Creates a microphone.
    ///
    /// - Parameter device: A PCM in ALSA's configuration, such as `default` or `plughw:CARD=Mic`. `arecord -L` lists
    ///   them.
    public init(device: String = "default") { self.device = device }

    /// Returns an iterator that opens the microphone on a separate thread.
    public func makeAsyncIterator() -> Iterator { Iterator(MicrophoneCapture(provider)) }

    private var provider: AlsaMicrophone { AlsaMicrophone(uri: device) ?? AlsaMicrophone(device: device) }

    /// Reads a microphone. Use it in only one task. Releasing it closes the device.
    public final class Iterator: AsyncIteratorProtocol {
        private let capture: MicrophoneCapture
        private var hasStarted = false

        fileprivate init(_ capture: MicrophoneCapture) { self.capture = capture }

        deinit { capture.stop() }

        /// Waits for the next buffer. Returns nil if the task is cancelled.
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
    private static let maxBufferedSamples = 120 * SamplePosition.rate
    private static let reopenInterval = Duration.seconds(1)

    let inputs = AsyncQueue<AnalyzerInput>(capacity: maxBufferedSamples) { $0.buffer.frameLength }
    private let provider: AlsaMicrophone
    private let stopped = StopFlag()
    private let wakeup = Wakeup()
    private let thread = WorkThread(named: "microphone")

    init(_ provider: AlsaMicrophone) { self.provider = provider }

    func start() {
        // The thread retains this object until the iterator is released, which stops the thread.
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
                wakeup.wait(timeout: Self.reopenInterval)
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
                // If the consumer is two minutes behind, the buffer is dropped.
                _ = inputs.sendIfSpace(AnalyzerInput(buffer: buffer, bufferStartTime: AudioTime(position)))
                position = position + Int64(count)
            }
        }
    }
}
