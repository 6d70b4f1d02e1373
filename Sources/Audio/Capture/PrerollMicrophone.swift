import Core
import Synchronization
import System

/// A microphone that buffers the last seconds, so that a recording can begin before the button is pressed.
///
/// While `run` is running, the base microphone stays open and its last seconds are kept in memory. One recording at a
/// time gets them, followed seamlessly by live audio. If `run` is not running or there is no preroll, `open` opens the
/// base microphone directly.
package final class PrerollMicrophone: MicrophoneProvider {
    private let base: any MicrophoneProvider
    private let preroll: PrerollBuffer
    private let seconds: Double

    /// Wakes the listening thread when it is waiting to reopen the base microphone.
    private let retry = Wakeup()
    private let stopping = Atomic<Bool>(false)

    /// - Parameter seconds: The length of the preroll; 0 for none. Only a real-time microphone can have a preroll.
    package init(_ base: any MicrophoneProvider, seconds: Double) {
        self.base = base
        self.seconds = base.isRealTime ? max(0, seconds) : 0
        preroll = PrerollBuffer(keeping: Int(self.seconds * Double(SamplePosition.rate)), channels: base.channels)
    }

    package var name: String { base.name }
    package var isRealTime: Bool { base.isRealTime }
    package var isMonitored: Bool { base.isMonitored }
    package var channels: Int { base.channels }
    package var prerollSeconds: Double { Double(preroll.availableSamples) / Double(SamplePosition.rate) }

    /// The error if the base microphone could not be opened or read; nil if it works or is not in use.
    package var failure: DeviceError? { preroll.failure }

    /// Buffers audio until the task is cancelled. Reopens the base microphone whenever it fails.
    package func run() async throws {
        guard seconds > 0 else {
            // Wait until the task is cancelled.
            for await _ in AsyncStream<Never>.makeStream().stream {}
            return
        }
        stopping.store(false, ordering: .releasing)
        preroll.set(.opening)
        try await withTaskCancellationHandler {
            try await onThread(named: "listening", realtimePriority: 20) { self.listen() }
        } onCancel: {
            stopping.store(true, ordering: .releasing)
            retry.signal()
        }
    }

    /// Opens the buffered microphone, starting with the preroll.
    ///
    /// - Throws: `DeviceError` if the base microphone cannot be opened, or `busy` while a recording uses it.
    package func open() throws(DeviceError) -> any Microphone {
        // Try again, because the base microphone may be back.
        if preroll.failure != nil {
            preroll.set(.opening)
            retry.signal()
        }
        if let player = try preroll.play() { return player }
        return try base.open()
    }

    private var isStopping: Bool { stopping.load(ordering: .acquiring) }

    private func listen() {
        var delay = Capture.initialDelay
        while !isStopping {
            do throws(DeviceError) {
                let microphone = try base.open()
                preroll.begin(channels: min(microphone.channels, base.channels))
                try read(microphone) { delay = Capture.initialDelay }
            } catch {
                preroll.set(.failed(error))
                if !isStopping { retry.wait(timeout: .nanoseconds(delay)) }
                delay = min(2 * delay, Capture.maximumDelay)
            }
        }
        preroll.set(.off)
    }

    private func read(_ microphone: any Microphone, onSamples: () -> Void) throws(DeviceError) {
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(
            capacity: max(1, microphone.maximumBlock * microphone.channels))
        buffer.initialize(repeating: 0)
        defer { buffer.deallocate() }
        var isCancelling = false
        preroll.set(isCancelling: false)
        while !isStopping {
            defer {
                if microphone.channelsCancel != isCancelling {
                    isCancelling.toggle()
                    preroll.set(isCancelling: isCancelling)
                }
            }
            switch try microphone.read(into: buffer) {
            case .samples(let count):
                preroll.append(UnsafeBufferPointer(rebasing: buffer.prefix(max(0, count) * microphone.channels)))
                onSamples()
            case .lost(let count): preroll.addLoss(count)
            case .ended:
                throw DeviceError(
                    .disconnected, "read", on: "microphone \(base.name)", "stopped delivering audio",
                    remedy: "plug it in again, or choose another microphone")
            }
        }
    }
}
