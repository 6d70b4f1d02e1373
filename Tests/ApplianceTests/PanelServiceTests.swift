import Core
import Panel
import Testing

@testable import Appliance

@Suite("The panel's thread") struct PanelServiceTests {
    private func panel(
        _ change: (inout Configuration.Panel) -> Void = { _ in },
        failed: @escaping @Sendable (DeviceError) -> Void = { _ in }
    ) throws -> (PanelService, PanelDesk) {
        var settings = Configuration.Panel()
        (settings.button, settings.lamp) = (.sim, .sim)
        // However slow the machine, no press here is a long one.
        settings.holdMilliseconds = 600_000
        change(&settings)
        let desk = try PanelDesk()
        return (PanelService(settings: settings, desk: desk, failed: failed, isRecording: { false }), desk)
    }

    /// Presses for longer than the debouncer asks, by what the panel itself says.
    private func press(_ desk: PanelDesk, _ effects: inout AsyncStream<ButtonGesture.Effect>.Iterator) async
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

    @Test("a press is answered by the lamp and means a start; the next means a stop")
    func startStop() async throws {
        let (service, desk) = try panel()
        async let running: Void = service.run()
        var effects = desk.effects.makeAsyncIterator()
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
        #expect(await effects.next() == nil)
    }

    @Test("a fault blinks until a press acknowledges it, which starts as well")
    func acknowledge() async throws {
        let (service, desk) = try panel()
        desk.tell(.fault)
        async let running: Void = service.run()
        while desk.history.isEmpty { await Task.yield() }
        var effects = desk.effects.makeAsyncIterator()
        let found = await press(desk, &effects)
        #expect(found.contains(.acknowledge), "\(found)")
        #expect(!desk.isFaulted)
        #expect(desk.history.contains { $0.lit && $0.shows == "fault" })
        desk.stop()
        try await running
    }

    @Test("a panel without a button cannot be pressed, and ends when it is told to")
    func none() async throws {
        let (service, desk) = try panel { ($0.button, $0.lamp) = (.none, .none) }
        async let running: Void = service.run()
        desk.tell(.fault)
        while desk.history.isEmpty { await Task.yield() }
        #expect(!desk.simulate(pressed: true))
        desk.stop()
        try await running
    }

    @Test("a button whose line is not there is told of once, and the lamp goes on")
    func missing() async throws {
        let (failures, told) = AsyncStream<DeviceError>.makeStream()
        let (service, desk) = try panel({ $0.button = .gpioName("no such line anywhere") }, failed: { told.yield($0) })
        async let running: Void = service.run()
        var failure = failures.makeAsyncIterator()
        let first = await failure.next()
        #expect(first?.message.contains("no such line anywhere") ?? false)
        desk.tell(.fault)
        while desk.history.isEmpty { await Task.yield() }
        #expect(desk.history.first?.shows == "fault")
        desk.stop()
        try await running
        told.finish()
        #expect(await failure.next() == nil)
    }

    @Test("a lamp whose line is not there is an error that names it")
    func missingLamp() async throws {
        let (service, _) = try panel { $0.lamp = .gpioName("no such line anywhere") }
        do {
            try await service.run()
            #expect(Bool(false), "it ran")
        } catch let error as DeviceError { #expect(error.message.contains("no such line anywhere")) }
    }
}
