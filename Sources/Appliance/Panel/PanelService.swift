import Core
import Settings
import System

/// Runs the button and the lamp on one thread, which sleeps until an edge, a due change of the lamp, or a wakeup.
struct PanelService: Service {
    let name = "panel"
    let settings: Configuration.Panel
    let controller: PanelController

    /// Called if the button cannot be opened, once for each different error.
    let failed: @Sendable (DeviceError) -> Void

    /// The interval for retrying a button that cannot be opened. The lamp works meanwhile.
    private static let retryInterval = Duration.seconds(5)

    func run() async throws {
        try await withTaskCancellationHandler {
            try await onThread(named: "panel") { try self.serve() }
        } onCancel: {
            controller.stop()
        }
    }

    func stop() async { controller.stop() }

    private func serve() throws {
        let lamp = try GpioLamp.open(settings.lamp)
        var reason: DeviceError?
        var button = openButton(&reason)
        var triedAt = PanelController.now
        var lit = false
        defer { if lit { controller.shown(false, at: PanelController.now) } }
        while !controller.isStopping {
            // Cleared before the state is read: a later signal then ends the wait below.
            controller.wakeup.clear()
            let now = PanelController.now
            if reason != nil, now - triedAt >= Self.retryInterval {
                button = openButton(&reason)
                triedAt = now
            }
            let next = controller.next(at: now)
            if next.lit != lit {
                try lamp?.set(lit: next.lit)
                lit = next.lit
                controller.shown(lit, at: now)
            }
            let until = [next.until, reason.map { _ in triedAt + Self.retryInterval }].compactMap { $0 }.min()
            let timeout = until.map { max($0 - PanelController.now, .zero) }
            guard let button else {
                controller.wakeup.waitWithoutClearing(timeout: timeout)
                continue
            }
            if let edge = try button.nextEdge(timeout: timeout ?? .seconds(86_400)) {
                controller.handle(.edge(edge))
                continue
            }
            // The time is passed on only if no earlier edge is waiting.
            let late = PanelController.now
            if let edge = try button.nextEdge(timeout: .zero) {
                controller.handle(.edge(edge))
            } else {
                controller.handle(.time(late))
            }
        }
    }

    /// Opens the button; returns nil if there is none, or if it cannot be opened, which is reported.
    private func openButton(_ reason: inout DeviceError?) -> (any Button)? {
        var (button, pressed): ((any Button)?, Bool) = (nil, false)
        let previous = reason
        reason = nil
        do throws(DeviceError) {
            switch settings.button {
            case .none: break
            case .sim: button = SimulatedButton(controller: controller)
            case .gpioName, .gpioOffset:
                let line = try GpioButton(GpioLine(finding: settings.button), wakeup: controller.wakeup)
                (button, pressed) = (line, line.pressedAtStart)
            }
        } catch {
            reason = error
            if previous != error { failed(error) }
        }
        controller.opened(
            button.map { _ in PanelButton(settings.gesture, pressed: pressed) }, simulated: settings.button == .sim)
        return button
    }
}

/// The panel's button.
protocol Button: AnyObject {
    /// Waits for the next edge.
    ///
    /// - Returns: the edge, or nil after the timeout or a wakeup.
    /// - Throws: `DeviceError`, with `disconnected` if the chip was unplugged.
    func nextEdge(timeout: Duration) throws(DeviceError) -> ButtonEdge?
}

/// The button of a panel with `button = sim:`, which clients of the control socket press.
private final class SimulatedButton: Button {
    private let controller: PanelController

    init(controller: PanelController) { self.controller = controller }

    func nextEdge(timeout: Duration) throws(DeviceError) -> ButtonEdge? {
        if let edge = controller.nextSimulated() { return edge }
        if timeout > .zero { controller.wakeup.waitWithoutClearing(timeout: timeout) }
        return controller.nextSimulated()
    }
}

extension Configuration.Panel {
    /// The durations of gestures. `RecorderLoop` passes the button's style to `ButtonInterpreter`.
    var gesture: ButtonGesture.Settings {
        var gesture = ButtonGesture.Settings()
        gesture.hold = .milliseconds(holdMilliseconds)
        gesture.longHold = shutdown ? .seconds(5) : nil
        return gesture
    }
}
