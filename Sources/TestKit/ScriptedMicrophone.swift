import Core

/// A microphone that plays a script, step by step; after the last step it has ended.
package struct ScriptedMicrophone: MicrophoneProvider {
    package enum Step: Sendable {
        case samples([Int16])
        /// The same block again and again, so that only a stop ends the recording.
        case forever([Int16])
        case lost(Int)
        case failure(DeviceError)
        case ended
        /// Runs on the thread that reads; where it waits, the microphone is silent for as long.
        case perform(@Sendable () -> Void)
    }

    package let name = "scripted:"
    package let isRealTime: Bool
    private let steps: [Step]
    private let refusal: DeviceError?

    /// A microphone that opens and plays `steps`.
    package init(isRealTime: Bool = false, _ steps: [Step]) {
        self.isRealTime = isRealTime
        self.steps = steps
        refusal = nil
    }

    /// A microphone that cannot be opened.
    package init(refusing refusal: DeviceError) {
        isRealTime = true
        steps = []
        self.refusal = refusal
    }

    package func open() throws(DeviceError) -> any Microphone {
        if let refusal { throw refusal }
        return Player(steps)
    }

    private final class Player: Microphone {
        let maximumBlock: Int
        private let steps: [Step]
        private var next = 0
        private var offset = 0

        init(_ steps: [Step]) {
            self.steps = steps
            maximumBlock = 1600
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
                    next += 1
                    return .lost(samples: count)
                case .failure(let error): throw error
                case .ended: return .ended
                case .perform(let body): body()
                }
                next += 1
            }
            return .ended
        }

        private func copy(_ samples: [Int16], into buffer: UnsafeMutableBufferPointer<Int16>) -> CaptureBlock {
            let part = samples[offset...].prefix(min(buffer.count, maximumBlock))
            offset += part.count
            _ = buffer.update(from: part)
            return .samples(part.count)
        }
    }
}
