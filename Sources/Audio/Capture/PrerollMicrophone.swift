import Core
import Synchronization
import System

/// A microphone that listens before it is recorded: a recording from it begins with the seconds before the press.
///
/// While `run` runs it keeps the base microphone open and its last seconds in memory; recordings, one at a time, take
/// them and then what follows, without a joint. Opened while nobody runs it, or for 0 seconds, it is the base microphone
/// itself, which is then closed while idle.
package final class PrerollMicrophone: MicrophoneProvider {
    private static let firstPause: Int64 = 100_000_000
    private static let longestPause: Int64 = 2_000_000_000

    private let base: any MicrophoneProvider
    private let tape: PrerollTape
    private let seconds: Double

    /// Wakes a listener that waits to open the base microphone again.
    private let again = Wakeup()
    private let stopping = Atomic<Bool>(false)

    /// - Parameter seconds: kept from before a recording begins; 0 for none.
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

    /// Why it cannot listen now; nil where it can, or need not.
    package var failure: DeviceError? { tape.failure }

    /// Listens until the task is cancelled, and opens the base microphone again whenever that fails.
    package func run() async throws {
        guard seconds > 0 else {
            // Ends when the task is cancelled.
            for await _ in AsyncStream<Never>.makeStream().stream {}
            return
        }
        stopping.store(false, ordering: .releasing)
        tape.expect()
        try await withTaskCancellationHandler {
            try await onThread(named: "listening", realtimePriority: 20) { self.listen() }
        } onCancel: {
            stopping.store(true, ordering: .releasing)
            again.signal()
        }
    }

    /// Opens what it hears, with what it has kept.
    ///
    /// - Throws: `DeviceError`: what keeps the base microphone from opening, or `busy` while a recording has it.
    package func open() throws(DeviceError) -> any Microphone {
        // A base that was not there when it was last tried may be there now.
        if tape.failure != nil {
            tape.expect()
            again.signal()
        }
        if let played = try tape.play() { return played }
        return try base.open()
    }

    private var isStopping: Bool { stopping.load(ordering: .acquiring) }

    private func listen() {
        var pause = Self.firstPause
        while !isStopping {
            do throws(DeviceError) {
                let microphone = try base.open()
                tape.begin(channels: min(microphone.channels, base.channels))
                try read(microphone) { pause = Self.firstPause }
            } catch {
                tape.fail(error)
                if !isStopping { again.wait(timeout: .nanoseconds(pause)) }
                pause = min(2 * pause, Self.longestPause)
            }
        }
        tape.end()
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
