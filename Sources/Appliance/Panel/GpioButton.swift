import Core
import Glibc
import System

/// A button between a GPIO line and ground. Used and freed on the thread that opened it.
final class GpioButton: Button {
    /// Whether the button was down when it was opened.
    let pressedAtStart: Bool

    private let request: LineRequest
    private let wakeup: EventDescriptor?
    private var pressed: Bool
    private var sequence: UInt64 = 0

    /// Takes the line.
    ///
    /// - Parameter wakeup: ends the wait for an edge when it is signalled; whoever waits clears it.
    /// - Throws: `DeviceError` with `missing`, `busy`, `denied` or `disconnected`.
    init(_ line: GpioLine, wakeup: EventDescriptor? = nil) throws(DeviceError) {
        self.wakeup = wakeup
        request = try LineRequest(line, .input)
        pressed = try request.value()
        pressedAtStart = pressed
    }

    func nextEdge(timeout: Duration) throws(DeviceError) -> ButtonEdge? {
        let start = Self.now
        while true {
            let rest = timeout - (Self.now - start)
            if let edge = try request.edge(within: rest, or: wakeup) { return told(edge) }
            guard Self.now - start >= timeout || wakeup?.isSignalled ?? false else { continue }
            // Where the kernel dropped the last edge, the level alone tells of it; an edge that came just now is read.
            guard try request.value() != pressed else { return nil }
            if let edge = try request.edge(within: .zero) { return told(edge) }
            pressed.toggle()
            return ButtonEdge(pressed: pressed, time: Self.now, dropped: 1)
        }
    }

    private func told(_ edge: LineRequest.Edge) -> ButtonEdge {
        let dropped = edge.sequence > sequence + 1 ? Int(edge.sequence - sequence - 1) : 0
        sequence = edge.sequence
        pressed = edge.rising
        return ButtonEdge(pressed: edge.rising, time: edge.time, dropped: dropped)
    }

    private static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
