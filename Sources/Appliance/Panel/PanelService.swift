import Core
import Settings
import System

/// Runs button and lamp on one thread, which sleeps until there is an edge, a change of the lamp, or a signal.
struct PanelService: Service {
    let name = "panel"
    let settings: Configuration.Panel
    let controller: PanelController

    /// Called with the reason if there is no button, once for each reason.
    let failed: @Sendable (DeviceError) -> Void

    /// How often a button that cannot be opened is tried again. The lamp works meanwhile.
    private static let retry = Duration.seconds(5)

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
            // Cleared before reading the state: a later signal ends the wait below.
            controller.wakeup.clear()
            let now = PanelController.now
            if reason != nil, now - triedAt >= Self.retry {
                button = openButton(&reason)
                triedAt = now
            }
            let next = controller.next(at: now)
            if next.lit != lit {
                try lamp?.set(lit: next.lit)
                lit = next.lit
                controller.shown(lit, at: now)
            }
            let until = [next.until, reason.map { _ in triedAt + Self.retry }].compactMap { $0 }.min()
            let timeout = until.map { max($0 - PanelController.now, .zero) }
            guard let button else {
                controller.wakeup.waitWithoutClearing(timeout: timeout)
                continue
            }
            if let edge = try button.nextEdge(timeout: timeout ?? .seconds(86_400)) {
                controller.handle(.edge(edge))
                continue
            }
            // Pass the time only when no earlier edge is waiting.
            let late = PanelController.now
            if let edge = try button.nextEdge(timeout: .zero) {
                controller.handle(.edge(edge))
            } else {
                controller.handle(.time(late))
            }
        }
    }

    /// Opens the button; nil if there is none, or if it cannot be opened, which is reported.
    private func openButton(_ reason: inout DeviceError?) -> (any Button)? {
        var (button, pressed): ((any Button)?, Bool) = (nil, false)
        let before = reason
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
            if before != error { failed(error) }
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
    /// - Returns: nil if none came in time, or another thread ended the wait.
    /// - Throws: `DeviceError`, with `disconnected` when the chip is gone.
    func nextEdge(timeout: Duration) throws(DeviceError) -> ButtonEdge?
}

/// The button of a panel with `button = sim:`; the control socket presses it.
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
    /// The durations; `RecorderLoop` passes the style to `ButtonInterpreter`.
    var gesture: ButtonGesture.Settings {
        var gesture = ButtonGesture.Settings()
        gesture.hold = .milliseconds(holdMilliseconds)
        gesture.longHold = shutdown ? .seconds(5) : nil
        return gesture
    }
}
