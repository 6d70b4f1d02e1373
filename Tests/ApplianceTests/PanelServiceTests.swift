import Core
import Panel
import Testing

@testable import Appliance
@testable import Configuration

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
        let desk = try PanelController { told.yield($0) }
        return (PanelService(settings: settings, controller: desk, failed: failed), desk, effects)
    }

    private var faulted: PanelView {
        var view = PanelView()
        (view.lamp, view.isFaulted) = (LampPattern(faultSince: .zero), true)
        return view
    }

    /// Presses for longer than the debouncer asks, by what the panel itself says.
    private func press(_ desk: PanelController, _ effects: inout AsyncStream<ButtonGesture.Effect>.Iterator) async
        -> [ButtonGesture.Effect]
    {
        while !desk.simulate(pressed: true) { await Task.yield() }
        var found: [ButtonGesture.Effect] = []
        while let effect = await effects.next() {
            found.append(effect)
            if case .pressed = effect { continue }
            if case .acknowledge = effect { continue }
            break
        }
        _ = desk.simulate(pressed: false)
        return found
    }

    /// Presses and lets go; returns what came of it.
    private func tap(
        _ desk: PanelController, _ effects: inout AsyncStream<ButtonGesture.Effect>.Iterator
    ) async -> ButtonGesture.Effect? {
        _ = desk.simulate(pressed: true)
        guard case .pressed? = await effects.next() else { return nil }
        _ = desk.simulate(pressed: false)
        return await effects.next()
    }

    @Test("a press is answered by the lamp and means a start; the next means a stop")
    func startStop() async throws {
        let (service, desk, stream) = try panel()
        async let running: Void = service.run()
        var effects = stream.makeAsyncIterator()
        let first = await press(desk, &effects)
        guard case .pressed? = first.first, case .start? = first.last else { return #expect(Bool(false), "\(first)") }
        // The machine tells its effect before the thread has set the lamp.
        while desk.history.isEmpty { await Task.yield() }
        #expect(desk.history.first?.lit == true && desk.history.first?.shows == "blink")
        // The button has to come to rest, of which nothing is told. That a recording goes on, nobody has told the panel.
        try await Task.sleep(for: .milliseconds(60))
        _ = desk.simulate(pressed: true)
        #expect(await effects.next().map { if case .pressed = $0 { true } else { false } } == true)
        _ = desk.simulate(pressed: false)
        guard case .stop? = await effects.next() else { return #expect(Bool(false)) }
        desk.stop()
        try await running
    }

    @Test("what the recorder tells counts once it has heard what the button meant")
    func agreement() async throws {
        let (service, desk, stream) = try panel()
        async let running: Void = service.run()
        var effects = stream.makeAsyncIterator()
        #expect(await press(desk, &effects).count == 2)
        try await Task.sleep(for: .milliseconds(60))
        // It is told of a time before the press: that nothing is being recorded is old, and the next press is a stop.
        desk.show(PanelView())
        let second = await tap(desk, &effects)
        guard case .stop? = second else { return #expect(Bool(false), "\(String(describing: second))") }
        try await Task.sleep(for: .milliseconds(60))
        // It has heard all four, and could not follow: one goes on, and the next press is a stop as well.
        var view = PanelView()
        (view.records, view.pressesHeard) = (true, 4)
        desk.show(view)
        let third = await tap(desk, &effects)
        guard case .stop? = third else { return #expect(Bool(false), "\(String(describing: third))") }
        desk.stop()
        try await running
    }

    @Test("what is pressed behind the end is told to nobody")
    func stopped() async throws {
        let (effects, told) = Effects.makeStream()
        let desk = try PanelController { told.yield($0) }
        desk.opened(PanelButton(), simulated: true)
        for end in [1, 3] {
            desk.take(.edge(ButtonEdge(pressed: true, time: .seconds(end))))
            desk.take(.edge(ButtonEdge(pressed: false, time: .seconds(end + 1))))
            desk.take(.time(.seconds(end + 1) + .milliseconds(500)))
            desk.stop()
        }
        told.finish()
        #expect(await effects.reduce(0) { count, _ in count + 1 } == 2)
    }

    @Test("a fault blinks until a press acknowledges it, which starts as well")
    func acknowledge() async throws {
        let (service, desk, stream) = try panel()
        desk.show(faulted)
        async let running: Void = service.run()
        while desk.history.isEmpty { await Task.yield() }
        var effects = stream.makeAsyncIterator()
        let found = await press(desk, &effects)
        #expect(found.contains { if case .acknowledge = $0 { true } else { false } }, "\(found)")
        guard case .start? = found.last else { return #expect(Bool(false), "\(found)") }
        #expect(desk.history.contains { $0.lit && $0.shows == "fault" })
        desk.stop()
        try await running
    }

    @Test("a panel without a button cannot be pressed, and ends when it is told to")
    func none() async throws {
        let (service, desk, _) = try panel { ($0.button, $0.lamp) = (.none, .none) }
        async let running: Void = service.run()
        desk.show(faulted)
        while desk.history.isEmpty { await Task.yield() }
        #expect(!desk.simulate(pressed: true))
        desk.stop()
        try await running
    }

    @Test("a button whose line is not there is told of once, and the lamp goes on")
    func missing() async throws {
        let (failures, told) = AsyncStream<DeviceError>.makeStream()
        let (service, desk, _) = try panel(
            { $0.button = .gpioName("no such line anywhere") }, failed: { told.yield($0) })
        async let running: Void = service.run()
        var failure = failures.makeAsyncIterator()
        let first = await failure.next()
        #expect(first?.message.contains("no such line anywhere") ?? false)
        desk.show(faulted)
        while desk.history.isEmpty { await Task.yield() }
        #expect(desk.history.first?.shows == "fault")
        desk.stop()
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
