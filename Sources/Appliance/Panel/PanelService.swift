import Core
import Settings
import System

/// Runs button and lamp on one thread, which sleeps until there is an edge, a lamp to change, or something told.
struct PanelService: Service {
    let name = "panel"
    let settings: Configuration.Panel
    let controller: PanelController

    /// Hears why there is no button, once for each reason.
    let failed: @Sendable (DeviceError) -> Void

    /// A button that cannot be had is tried for again so often; the lamp goes on meanwhile.
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
        let lamp = try openLamp()
        var reason: DeviceError?
        var button = openButton(&reason)
        var triedAt = PanelController.now
        var lit = false
        defer { if lit { controller.shown(false, at: PanelController.now) } }
        while !controller.isStopping {
            // Before the machines are asked: what is told after that ends the wait below.
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
                controller.take(.edge(edge))
                continue
            }
            // The time is told only once no edge is waiting that came before it.
            let late = PanelController.now
            if let edge = try button.nextEdge(timeout: .zero) {
                controller.take(.edge(edge))
            } else {
                controller.take(.time(late))
            }
        }
    }

    private func openLamp() throws(DeviceError) -> (any Lamp)? {
        switch settings.lamp {
        case .none, .sim: nil
        case .gpioName, .gpioOffset: try GpioLamp(GpioLine(finding: settings.lamp))
        }
    }

    /// The button; nil where there is none, or it cannot be had, which is told.
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

/// The button of a panel that is `sim:`; the control socket presses it.
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
    /// What presses mean, by this configuration.
    var gesture: ButtonGesture.Settings {
        var gesture = ButtonGesture.Settings()
        gesture.style = style
        gesture.hold = .milliseconds(holdMilliseconds)
        gesture.shutdown = shutdown ? .seconds(5) : nil
        return gesture
    }
}
