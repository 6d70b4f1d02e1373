import Testing
import TestKit

@testable import Appliance
@testable import Core
@testable import Settings

@Suite("The panel's thread") struct PanelServiceTests {
    private typealias Effects = AsyncStream<ButtonGesture.Effect>

    private func panel(
        _ change: (inout Configuration.Panel) -> Void = { _ in },
        failed: @escaping @Sendable (DeviceError) -> Void = { _ in }
    ) throws -> (PanelService, PanelController, Effects) {
        var settings = Configuration.Panel()
        (settings.button, settings.lamp) = (.sim, .sim)
        // However slow the machine, no press here is a long one.
        settings.holdMilliseconds = 600_000
        change(&settings)
        let (effects, told) = Effects.makeStream()
        let controller = try PanelController { told.yield($0) }
        return (PanelService(settings: settings, controller: controller, failed: failed), controller, effects)
    }

    private var faulted: PanelView {
        var view = PanelView()
        (view.lamp, view.isFaulted) = (LampPattern(faultSince: .zero), true)
        return view
    }

    /// Presses for longer than the debouncer asks, by what the panel itself says.
    private func press(_ controller: PanelController, _ effects: inout AsyncStream<ButtonGesture.Effect>.Iterator) async
        -> [ButtonGesture.Effect]
    {
        while !controller.simulate(pressed: true) { await Task.yield() }
        var found: [ButtonGesture.Effect] = []
        while let effect = await effects.next() {
            found.append(effect)
            if case .pressed = effect { continue }
            if case .acknowledge = effect { continue }
            break
        }
        _ = controller.simulate(pressed: false)
        return found
    }

    /// Leaves the contacts alone for longer than the debouncer's period; no event reports that.
    private func rest() async throws {
        // wait: the debouncer asks for 20 ms of rest; a slow machine only makes the rest longer
        try await Task.sleep(for: .milliseconds(60))
    }

    /// Presses and lets go; returns what came of it.
    private func tap(
        _ controller: PanelController, _ effects: inout AsyncStream<ButtonGesture.Effect>.Iterator
    ) async -> ButtonGesture.Effect? {
        _ = controller.simulate(pressed: true)
        guard case .pressed? = await effects.next() else { return nil }
        _ = controller.simulate(pressed: false)
        return await effects.next()
    }

    @Test("a press is answered by the lamp and means a start; the next means a stop")
    func startStop() async throws {
        let (service, controller, stream) = try panel()
        async let running: Void = service.run()
        var effects = stream.makeAsyncIterator()
        let first = await press(controller, &effects)
        guard case .pressed? = first.first, case .start? = first.last else { return #expect(Bool(false), "\(first)") }
        // The machine tells its effect before the thread has set the lamp.
        try await eventually("the lamp changes") { !controller.history.isEmpty }
        #expect(controller.history.first?.lit == true && controller.history.first?.shows == "blink")
        // Nobody has told the panel that a recording goes on.
        try await rest()
        _ = controller.simulate(pressed: true)
        #expect(await effects.next().map { if case .pressed = $0 { true } else { false } } == true)
        _ = controller.simulate(pressed: false)
        guard case .stop? = await effects.next() else { return #expect(Bool(false)) }
        controller.stop()
        try await running
    }

    @Test("what the recorder tells counts once it has heard what the button meant")
    func agreement() async throws {
        let (service, controller, stream) = try panel()
        async let running: Void = service.run()
        var effects = stream.makeAsyncIterator()
        #expect(await press(controller, &effects).count == 2)
        try await rest()
        // It is told of a time before the press: that nothing is being recorded is old, and the next press is a stop.
        controller.show(PanelView())
        let second = await tap(controller, &effects)
        guard case .stop? = second else { return #expect(Bool(false), "\(String(describing: second))") }
        // It has heard all four, and could not follow: one goes on, and the next press is a stop as well.
        var view = PanelView()
        (view.records, view.pressesHeard) = (true, 4)
        controller.show(view)
        let third = await tap(controller, &effects)
        guard case .stop? = third else { return #expect(Bool(false), "\(String(describing: third))") }
        controller.stop()
        try await running
    }

    @Test("what is pressed behind the end is told to nobody")
    func stopped() async throws {
        let (effects, told) = Effects.makeStream()
        let controller = try PanelController { told.yield($0) }
        controller.opened(PanelButton(), simulated: true)
        for end in [1, 3] {
            controller.take(.edge(ButtonEdge(pressed: true, time: .seconds(end))))
            controller.take(.edge(ButtonEdge(pressed: false, time: .seconds(end + 1))))
            controller.take(.time(.seconds(end + 1) + .milliseconds(500)))
            controller.stop()
        }
        told.finish()
        #expect(await effects.reduce(0) { count, _ in count + 1 } == 2)
    }

    @Test(
        "a button that is held makes a stick known within a minute after power-on, and no later", arguments: [58, 60])
    func claimed(pressedAt: Int) async throws {
        let controller = try PanelController { _ in }
        controller.opened(PanelButton(), simulated: true)
        let held = Duration.seconds(pressedAt + 1) + .milliseconds(500)
        #expect(!controller.claimHold(at: .seconds(1)))
        controller.take(.edge(ButtonEdge(pressed: true, time: .seconds(pressedAt))))
        controller.take(.time(held))
        #expect(controller.claimHold(at: held) == (pressedAt == 58))
        controller.take(.edge(ButtonEdge(pressed: false, time: held)))
        controller.take(.time(held + .milliseconds(500)))
        #expect(!controller.claimHold(at: held))
    }

    @Test("a fault blinks until a press acknowledges it, which starts as well")
    func acknowledge() async throws {
        let (service, controller, stream) = try panel()
        controller.show(faulted)
        async let running: Void = service.run()
        try await eventually("the lamp changes") { !controller.history.isEmpty }
        var effects = stream.makeAsyncIterator()
        let found = await press(controller, &effects)
        #expect(found.contains { if case .acknowledge = $0 { true } else { false } }, "\(found)")
        guard case .start? = found.last else { return #expect(Bool(false), "\(found)") }
        #expect(controller.history.contains { $0.lit && $0.shows == "fault" })
        controller.stop()
        try await running
    }

    @Test("a panel without a button cannot be pressed, and ends when it is told to")
    func none() async throws {
        let (service, controller, _) = try panel { ($0.button, $0.lamp) = (.none, .none) }
        async let running: Void = service.run()
        controller.show(faulted)
        try await eventually("the lamp changes") { !controller.history.isEmpty }
        #expect(!controller.simulate(pressed: true))
        controller.stop()
        try await running
    }

    @Test("a button whose line is not there is told of once, and the lamp goes on")
    func missing() async throws {
        let (failures, told) = AsyncStream<DeviceError>.makeStream()
        let (service, controller, _) = try panel(
            { $0.button = .gpioName("no such line anywhere") }, failed: { told.yield($0) })
        async let running: Void = service.run()
        var failure = failures.makeAsyncIterator()
        let first = await failure.next()
        #expect(first?.message.contains("no such line anywhere") ?? false)
        controller.show(faulted)
        try await eventually("the lamp changes") { !controller.history.isEmpty }
        #expect(controller.history.first?.shows == "fault")
        controller.stop()
        try await running
        told.finish()
        #expect(await failure.next() == nil)
    }

    @Test("a lamp whose line is not there is an error that names it")
    func missingLamp() async throws {
        let (service, _, _) = try panel { $0.lamp = .gpioName("no such line anywhere") }
        do {
            try await service.run()
            #expect(Bool(false), "it ran")
        } catch let error as DeviceError { #expect(error.message.contains("no such line anywhere")) }
    }
}
