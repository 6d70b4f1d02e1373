import Core
import Synchronization
import System

/// A microphone that buffers the last seconds, so that a recording begins before the button press.
///
/// While `run` runs, the base microphone stays open and its last seconds are kept in memory. One recording at a time
/// gets them, followed seamlessly by live audio. If `run` is not running, or for 0 seconds, `open` opens the base microphone.
package final class PrerollMicrophone: MicrophoneProvider {
    private let base: any MicrophoneProvider
    private let tape: PrerollTape
    private let seconds: Double

    /// Wakes the listening thread while it waits to reopen the base microphone.
    private let retry = Wakeup()
    private let stopping = Atomic<Bool>(false)

    /// - Parameter seconds: the length of the preroll; 0 for none.
    package init(_ base: any MicrophoneProvider, seconds: Double) {
        self.base = base
        self.seconds = base.isRealTime ? max(0, seconds) : 0
        tape = PrerollTape(keeping: Int(self.seconds * Double(SamplePosition.rate)), channels: base.channels)
    }

    package var name: String { base.name }
    package var isRealTime: Bool { base.isRealTime }
    package var isMonitored: Bool { base.isMonitored }
    package var channels: Int { base.channels }
    package var prerollSeconds: Double { Double(tape.kept) / Double(SamplePosition.rate) }

    /// Why the base microphone could not be opened or read; nil if it works or is not in use.
    package var failure: DeviceError? { tape.failure }

    /// Buffers audio until the task is cancelled. Reopens the base microphone whenever it fails.
    package func run() async throws {
        guard seconds > 0 else {
            // This loop ends when the task is cancelled.
            for await _ in AsyncStream<Never>.makeStream().stream {}
            return
        }
        stopping.store(false, ordering: .releasing)
        tape.set(.opening)
        try await withTaskCancellationHandler {
            try await onThread(named: "listening", realtimePriority: 20) { self.listen() }
        } onCancel: {
            stopping.store(true, ordering: .releasing)
            retry.signal()
        }
    }

    /// Opens the buffered microphone, beginning with the preroll.
    ///
    /// - Throws: `DeviceError` if the base microphone cannot be opened, or `busy` while a recording uses it.
    package func open() throws(DeviceError) -> any Microphone {
        // Try again: the base microphone may be back.
        if tape.failure != nil {
            tape.set(.opening)
            retry.signal()
        }
        if let played = try tape.play() { return played }
        return try base.open()
    }

    private var isStopping: Bool { stopping.load(ordering: .acquiring) }

    private func listen() {
        var delay = Capture.firstDelay
        while !isStopping {
            do throws(DeviceError) {
                let microphone = try base.open()
                tape.begin(channels: min(microphone.channels, base.channels))
                try read(microphone) { delay = Capture.firstDelay }
            } catch {
                tape.set(.failed(error))
                if !isStopping { retry.wait(timeout: .nanoseconds(delay)) }
                delay = min(2 * delay, Capture.longestDelay)
            }
        }
        tape.set(.off)
    }

    private func read(_ microphone: any Microphone, heard: () -> Void) throws(DeviceError) {
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(
            capacity: max(1, microphone.maximumBlock * microphone.channels))
        buffer.initialize(repeating: 0)
        defer { buffer.deallocate() }
        var isCancelling = false
        tape.put(isCancelling: false)
        while !isStopping {
            defer {
                if microphone.channelsCancel != isCancelling {
                    isCancelling.toggle()
                    tape.put(isCancelling: isCancelling)
                }
            }
            switch try microphone.read(into: buffer) {
            case .samples(let count):
                tape.put(UnsafeBufferPointer(rebasing: buffer.prefix(max(0, count) * microphone.channels)))
                heard()
            case .lost(let count): tape.lose(count)
            case .ended:
                throw DeviceError(
                    .disconnected, "read", on: "microphone \(base.name)", "has ended",
                    remedy: "plug it in again, or name another one")
            }
        }
    }
}
