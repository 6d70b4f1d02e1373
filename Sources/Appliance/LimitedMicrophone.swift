import Core

/// A microphone that ends after so many samples, the lost ones included.
struct LimitedMicrophone: MicrophoneProvider {
    let base: any MicrophoneProvider
    let length: SamplePosition

    var name: String { base.name }
    var isRealTime: Bool { base.isRealTime }

    func open() throws(DeviceError) -> any Microphone { Capture(base: try base.open(), left: length.samples) }

    private final class Capture: Microphone {
        private let base: any Microphone
        private var left: Int64

        init(base: any Microphone, left: Int64) {
            self.base = base
            self.left = left
        }

        var maximumBlock: Int { base.maximumBlock }

        func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> CaptureBlock {
            guard left > 0 else { return .ended }
            switch try base.read(into: buffer) {
            case .samples(let count): return .samples(Int(take(count)))
            case .lost(let count): return .lost(samples: Int(take(count)))
            case .ended: return .ended
            }
        }

        private func take(_ count: Int) -> Int64 {
            let taken = min(left, Int64(count))
            left -= taken
            return taken
        }
    }
}
