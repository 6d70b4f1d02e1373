import Configuration
import Core
import GpioPanel
import Panel
import Platform

/// Runs button and lamp on one thread, which sleeps until there is an edge, a lamp to change, or something told.
struct PanelService: Service {
    let name = "panel"
    let settings: Configuration.Panel
    let desk: PanelDesk

    /// Hears why there is no button, once for each reason.
    let failed: @Sendable (DeviceError) -> Void

    /// A button that cannot be had is tried for again so often; the lamp goes on meanwhile.
    private static let retry = Duration.seconds(5)

    func run() async throws {
        try await withTaskCancellationHandler {
            try await onThread(named: "panel") { try self.serve() }
        } onCancel: {
            desk.stop()
        }
    }

    func stop() async { desk.stop() }

    private func serve() throws {
        let lamp = try openLamp()
        var reason: DeviceError?
        var button = openButton(&reason)
        var triedAt = PanelDesk.now
        var lit = false
        defer { if lit { desk.shown(false, at: PanelDesk.now) } }
        while !desk.isStopping {
            // Before the machines are asked: what is told after that ends the wait below.
            desk.wakeup.clear()
            let now = PanelDesk.now
            if reason != nil, now - triedAt >= Self.retry {
                button = openButton(&reason)
                triedAt = now
            }
            let next = desk.next(at: now)
            if next.lit != lit {
                try lamp?.set(lit: next.lit)
                lit = next.lit
                desk.shown(lit, at: now)
            }
            let until = [next.until, reason.map { _ in triedAt + Self.retry }].compactMap { $0 }.min()
            let timeout = until.map { max($0 - PanelDesk.now, .zero) }
            guard let button else {
                desk.wakeup.waitWithoutClearing(timeout: timeout)
                continue
            }
            if let edge = try button.nextEdge(timeout: timeout ?? .seconds(86_400)) {
                desk.take(.edge(edge))
                continue
            }
            // The time is told only once no edge is waiting that came before it.
            let late = PanelDesk.now
            if let edge = try button.nextEdge(timeout: .zero) {
                desk.take(.edge(edge))
            } else {
                desk.take(.time(late))
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
            case .sim: button = SimulatedButton(desk: desk)
            case .gpioName, .gpioOffset:
                let line = try GpioButton(GpioLine(finding: settings.button), wakeup: desk.wakeup)
                (button, pressed) = (line, line.pressedAtStart)
            }
        } catch {
            reason = error
            if before != error { failed(error) }
        }
        desk.opened(
            button.map { _ in PanelButton(settings.gesture, pressed: pressed) }, simulated: settings.button == .sim)
        return button
    }
}

/// The button of a panel that is `sim:`; the control socket presses it.
private final class SimulatedButton: Button {
    private let desk: PanelDesk

    init(desk: PanelDesk) { self.desk = desk }

    func nextEdge(timeout: Duration) throws(DeviceError) -> ButtonEdge? {
        if let edge = desk.nextSimulated() { return edge }
        if timeout > .zero { desk.wakeup.waitWithoutClearing(timeout: timeout) }
        return desk.nextSimulated()
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
