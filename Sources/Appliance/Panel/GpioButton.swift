import Core

/// A button between a GPIO line and ground. Only the thread that opened it may use it.
final class GpioButton: Button {
    let pressedAtStart: Bool

    private let request: LineRequest
    private let wakeup: EventDescriptor
    private var pressed: Bool
    private var sequence: UInt64 = 0

    /// - Parameter wakeup: interrupts the wait for an edge when signalled; the caller clears it.
    /// - Throws: `DeviceError` with `missing`, `busy`, `denied` or `disconnected`.
    init(_ line: GpioLine, wakeup: EventDescriptor) throws(DeviceError) {
        self.wakeup = wakeup
        request = try LineRequest(line, .input)
        pressed = try request.value()
        pressedAtStart = pressed
    }

    func nextEdge(timeout: Duration) throws(DeviceError) -> ButtonEdge? {
        let start = PanelController.now
        while true {
            let remaining = timeout - (PanelController.now - start)
            if let edge = try request.edge(within: remaining, or: wakeup) { return buttonEdge(edge) }
            guard PanelController.now - start >= timeout || wakeup.isSignalled else { continue }
            // If the kernel dropped the last edge, only the level shows it. An edge that has arrived meanwhile takes
            // precedence.
            guard try request.value() != pressed else { return nil }
            if let edge = try request.edge(within: .zero, or: wakeup) { return buttonEdge(edge) }
            pressed.toggle()
            return ButtonEdge(pressed: pressed, time: PanelController.now, dropped: 1)
        }
    }

    private func buttonEdge(_ edge: LineRequest.Edge) -> ButtonEdge {
        let dropped = edge.sequence > sequence + 1 ? Int(edge.sequence - sequence - 1) : 0
        sequence = edge.sequence
        pressed = edge.rising
        return ButtonEdge(pressed: edge.rising, time: edge.time, dropped: dropped)
    }
}
