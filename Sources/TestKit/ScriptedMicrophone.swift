import Core
import Synchronization

/// A microphone that plays a script, and ends after the last step.
package struct ScriptedMicrophone: MicrophoneProvider {
    package enum Step: Sendable {
        /// Delivers samples, interleaved if there are two channels.
        case samples([Int16])
        /// Delivers the same samples again and again, so that the recording lasts until it is stopped.
        case forever([Int16])
        case lost(Int)
        /// Reading fails. The next opening continues with the next step.
        case failure(DeviceError)
        /// Opening fails. This can be the first step, or follow a failure or another refusal.
        case refusal(DeviceError)
        case ended
        /// Runs a closure on the reading thread. The microphone delivers nothing while it blocks.
        case perform(@Sendable () -> Void)
    }

    package let name = "scripted:"
    package let isRealTime: Bool
    package let isMonitored: Bool
    package let channels: Int
    private let script: Script
    private let actualChannels: Int

    /// Creates a microphone that plays `steps`. When it is reopened, it continues after the step that failed.
    ///
    /// - Parameters:
    ///   - channels: the requested number of channels.
    ///   - actualChannels: the number of channels that the microphone delivers; nil for the requested number.
    package init(
        isRealTime: Bool = false, isMonitored: Bool = false, channels: Int = 1, actualChannels: Int? = nil,
        _ steps: [Step]
    ) {
        self.channels = channels
        self.actualChannels = actualChannels ?? channels
        self.isRealTime = isRealTime
        self.isMonitored = isMonitored
        script = Script(steps)
    }

    package func open() throws(DeviceError) -> any Microphone {
        if let refusal = script.refusal() { throw refusal }
        return Player(script, channels: actualChannels)
    }

    private final class Script: Sendable {
        let steps: [Step]
        private let next = Mutex(0)

        init(_ steps: [Step]) { self.steps = steps }

        var index: Int { next.withLock { $0 } }

        func advance() { next.withLock { $0 += 1 } }

        /// Returns the error for the current opening if the next step is a refusal, and skips that step.
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
            let block = samples[offset...].prefix(min(buffer.count, maximumBlock * channels))
            offset += block.count
            _ = buffer.update(from: block)
            return .samples(block.count / channels)
        }
    }
}
