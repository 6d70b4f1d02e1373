import Core
import Settings
import System

/// Runs the button and the lamp on one thread, which sleeps until an edge, a due change of the lamp, or a wakeup.
struct PanelService: Service {
    let name = "panel"
    let settings: Configuration.Panel
    let controller: PanelController

    /// Called if the button cannot be opened, unless the last attempt failed with the same error.
    let reportFailure: @Sendable (DeviceError) -> Void

    /// The pause between two attempts to open the button. The lamp works meanwhile.
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
        var failure: DeviceError?
        var button = openButton(&failure)
        var attemptedAt = PanelController.now
        var lit = false
        defer { if lit { controller.addLampChange(lit: false, at: PanelController.now) } }
        while !controller.isStopping {
            // The wakeup is cleared before the state is read, so that a later signal ends the wait below.
            controller.wakeup.clear()
            let now = PanelController.now
            if failure != nil, now - attemptedAt >= Self.retryInterval {
                button = openButton(&failure)
                attemptedAt = now
            }
            let next = controller.next(at: now)
            if next.lit != lit {
                try lamp?.set(lit: next.lit)
                lit = next.lit
                controller.addLampChange(lit: lit, at: now)
            }
            let until = [next.until, failure.map { _ in attemptedAt + Self.retryInterval }].compactMap { $0 }.min()
            let timeout = until.map { max($0 - PanelController.now, .zero) }
            guard let button else {
                controller.wakeup.waitWithoutClearing(timeout: timeout)
                continue
            }
            if let edge = try button.nextEdge(timeout: timeout ?? .seconds(86_400)) {
                controller.handle(.edge(edge))
                continue
            }
            // The current time is passed on only if no earlier edge is waiting.
            let current = PanelController.now
            if let edge = try button.nextEdge(timeout: .zero) {
                controller.handle(.edge(edge))
            } else {
                controller.handle(.time(current))
            }
        }
    }

    /// Opens the button. Returns nil if there is none or it cannot be opened. Sets `failure` to the error, or to nil if
    /// there was none, and reports a new error.
    private func openButton(_ failure: inout DeviceError?) -> (any Button)? {
        var (button, pressed): ((any Button)?, Bool) = (nil, false)
        let previousFailure = failure
        failure = nil
        do throws(DeviceError) {
            switch settings.button {
            case .none: break
            case .sim: button = SimulatedButton(controller: controller)
            case .gpioName, .gpioOffset:
                let gpioButton = try GpioButton(GpioLine(finding: settings.button), wakeup: controller.wakeup)
                (button, pressed) = (gpioButton, gpioButton.pressedAtStart)
            }
        } catch {
            failure = error
            if previousFailure != error { reportFailure(error) }
        }
        controller.setButton(
            button.map { _ in PanelButton(settings.gesture, pressed: pressed) }, isSimulated: settings.button == .sim)
        return button
    }
}

protocol Button: AnyObject {
    /// Waits for the next edge.
    ///
    /// - Returns: the edge, or nil after the timeout or a wakeup.
    /// - Throws: `DeviceError`, with `disconnected` if the chip was unplugged.
    func nextEdge(timeout: Duration) throws(DeviceError) -> ButtonEdge?
}

/// The button for `panel.button = sim:`, which clients of the control socket press.
private final class SimulatedButton: Button {
    private let controller: PanelController

    init(controller: PanelController) { self.controller = controller }

    func nextEdge(timeout: Duration) throws(DeviceError) -> ButtonEdge? {
        if let edge = controller.nextSimulatedEdge() { return edge }
        if timeout > .zero { controller.wakeup.waitWithoutClearing(timeout: timeout) }
        return controller.nextSimulatedEdge()
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
