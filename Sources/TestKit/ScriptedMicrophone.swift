import Core
import Synchronization

/// A microphone that plays a script; after the last step it has ended.
package struct ScriptedMicrophone: MicrophoneProvider {
    package enum Step: Sendable {
        /// Interleaved if there are two channels.
        case samples([Int16])
        /// Repeats a block, so that only a stop ends the recording.
        case forever([Int16])
        case lost(Int)
        /// Fails; the rest is for the next opening.
        case failure(DeviceError)
        /// The next opening fails; the first step, or after a failure or another refused opening.
        case refusal(DeviceError)
        case ended
        /// Runs on the reading thread; the microphone is silent while it blocks.
        case perform(@Sendable () -> Void)
    }

    package let name = "scripted:"
    package let isRealTime: Bool
    package let isMonitored: Bool
    package let channels: Int
    private let script: Script
    private let gives: Int

    /// A microphone that plays `steps`; reopened, it continues after the step that failed.
    ///
    /// - Parameters:
    ///   - channels: The requested number.
    ///   - gives: The actual number; nil for the requested one.
    package init(
        isRealTime: Bool = false, isMonitored: Bool = false, channels: Int = 1, gives: Int? = nil, _ steps: [Step]
    ) {
        self.channels = channels
        self.gives = gives ?? channels
        self.isRealTime = isRealTime
        self.isMonitored = isMonitored
        script = Script(steps)
    }

    package func open() throws(DeviceError) -> any Microphone {
        if let refusal = script.refusal() { throw refusal }
        return Player(script, channels: gives)
    }

    private final class Script: Sendable {
        let steps: [Step]
        private let next = Mutex(0)

        init(_ steps: [Step]) { self.steps = steps }

        var index: Int { next.withLock { $0 } }

        func advance() { next.withLock { $0 += 1 } }

        /// Returns the error of the next opening, if the script has one.
        func refusal() -> DeviceError? {
            guard index < steps.count, case .refusal(let error) = steps[index] else { return nil }
            advance()
            return error
        }
    }

    private final class Player: Microphone {
        let maximumBlock = 1600
        let channels: Int
        private let script: Script
        private var steps: [Step] { script.steps }
        private var next: Int { script.index }
        private var offset = 0

        init(_ script: Script, channels: Int) {
            self.script = script
            self.channels = channels
        }

        func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> CaptureBlock {
            while next < steps.count {
                switch steps[next] {
                case .samples(let samples):
                    if offset < samples.count { return copy(samples, into: buffer) }
                    offset = 0
                case .forever(let samples):
                    if offset >= samples.count { offset = 0 }
                    return copy(samples, into: buffer)
                case .lost(let count):
                    script.advance()
                    return .lost(samples: count)
                case .failure(let error):
                    script.advance()
                    throw error
                case .refusal(let error): throw error
                case .ended: return .ended
                case .perform(let body): body()
                }
                script.advance()
            }
            return .ended
        }

        private func copy(_ samples: [Int16], into buffer: UnsafeMutableBufferPointer<Int16>) -> CaptureBlock {
            let part = samples[offset...].prefix(min(buffer.count, maximumBlock * channels))
            offset += part.count
            _ = buffer.update(from: part)
            return .samples(part.count / channels)
        }
    }
}
