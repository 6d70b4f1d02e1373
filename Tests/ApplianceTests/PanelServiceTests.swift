import Testing
import TestKit

@testable import Appliance
@testable import Core
@testable import Settings

@Suite("The panel service") struct PanelServiceTests {
    private typealias Events = AsyncStream<ButtonGesture.Event>

    private func panel(
        _ change: (inout Configuration.Panel) -> Void = { _ in },
        reportFailure: @escaping @Sendable (DeviceError) -> Void = { _ in }
    ) throws -> (PanelService, PanelController, Events) {
        var settings = Configuration.Panel()
        (settings.button, settings.lamp) = (.sim, .sim)
        // No press counts as a hold, even on a slow machine.
        settings.holdMilliseconds = 600_000
        change(&settings)
        let (events, reports) = Events.makeStream()
        let controller = try PanelController { reports.yield($0) }
        let service = PanelService(settings: settings, controller: controller, reportFailure: reportFailure)
        return (service, controller, events)
    }

    private let faultPattern = LampPattern(faultSince: .zero)

    /// Waits until the debouncer's period has ended, which no event reports.
    private func settle() async throws {
        // wait: the debouncer needs 20 ms without edges; a slow machine only waits longer
        try await Task.sleep(for: .milliseconds(60))
    }

    @Test("a press and its release are reported, and the lamp blinks for the press")
    func press() async throws {
        let (service, controller, stream) = try panel()
        async let running: Void = service.run()
        var events = stream.makeAsyncIterator()
        while !controller.simulate(pressed: true) { await Task.yield() }
        #expect(await events.next().map { if case .pressed = $0 { true } else { false } } == true)
        // The gesture is reported before the thread has set the lamp.
        try await eventually("the lamp changes") { !controller.history.isEmpty }
        #expect(controller.history.first?.lit == true && controller.history.first?.shows == "blink")
        _ = controller.simulate(pressed: false)
        #expect(await events.next() == .released)
        try await settle()
        _ = controller.simulate(pressed: true)
        #expect(await events.next().map { if case .pressed = $0 { true } else { false } } == true)
        _ = controller.simulate(pressed: false)
        #expect(await events.next() == .released)
        controller.stop()
        try await running
    }

    @Test("presses after a stop are not reported")
    func pressesAfterStop() async throws {
        let (events, reports) = Events.makeStream()
        let controller = try PanelController { reports.yield($0) }
        controller.setButton(PanelButton(), isSimulated: true)
        for start in [1, 3] {
            controller.handle(.edge(ButtonEdge(pressed: true, time: .seconds(start))))
            controller.handle(.edge(ButtonEdge(pressed: false, time: .seconds(start + 1))))
            controller.handle(.time(.seconds(start + 1) + .milliseconds(500)))
            controller.stop()
        }
        reports.finish()
        var received: [ButtonGesture.Event] = []
        for await event in events { received.append(event) }
        #expect(received == [.pressed(at: .seconds(1)), .held, .released])
    }

    @Test(
        "a held button can be claimed, but only within a minute after power-on", arguments: [58, 60])
    func claimedHold(pressedAt: Int) async throws {
        let controller = try PanelController { _ in }
        controller.setButton(PanelButton(), isSimulated: true)
        let holdTime = Duration.seconds(pressedAt + 1) + .milliseconds(500)
        #expect(!controller.claimHold(at: .seconds(1)))
        controller.handle(.edge(ButtonEdge(pressed: true, time: .seconds(pressedAt))))
        controller.handle(.time(holdTime))
        #expect(controller.claimHold(at: holdTime) == (pressedAt == 58))
        controller.handle(.edge(ButtonEdge(pressed: false, time: holdTime)))
        controller.handle(.time(holdTime + .milliseconds(500)))
        #expect(!controller.claimHold(at: holdTime))
    }

    @Test("a press is reported while a fault blinks")
    func fault() async throws {
        let (service, controller, stream) = try panel()
        controller.show(faultPattern)
        async let running: Void = service.run()
        try await eventually("the lamp changes") { !controller.history.isEmpty }
        var events = stream.makeAsyncIterator()
        while !controller.simulate(pressed: true) { await Task.yield() }
        #expect(await events.next().map { if case .pressed = $0 { true } else { false } } == true)
        #expect(controller.history.contains { $0.lit && $0.shows == "fault" })
        controller.stop()
        try await running
    }

    @Test("a panel without a button cannot be pressed but can be stopped")
    func noPanel() async throws {
        let (service, controller, _) = try panel { ($0.button, $0.lamp) = (.none, .none) }
        async let running: Void = service.run()
        controller.show(faultPattern)
        try await eventually("the lamp changes") { !controller.history.isEmpty }
        #expect(!controller.simulate(pressed: true))
        controller.stop()
        try await running
    }

    @Test("a missing button line is reported once, and the lamp still works")
    func missingButton() async throws {
        let (failures, reported) = AsyncStream<DeviceError>.makeStream()
        let (service, controller, _) = try panel(
            { $0.button = .gpioName("no such line anywhere") }, reportFailure: { reported.yield($0) })
        async let running: Void = service.run()
        var failure = failures.makeAsyncIterator()
        let first = await failure.next()
        #expect(first?.message.contains("no such line anywhere") ?? false)
        controller.show(faultPattern)
        try await eventually("the lamp changes") { !controller.history.isEmpty }
        #expect(controller.history.first?.shows == "fault")
        controller.stop()
        try await running
        reported.finish()
        #expect(await failure.next() == nil)
    }

    @Test("the error for a missing lamp line names the line")
    func missingLamp() async throws {
        let (service, _, _) = try panel { $0.lamp = .gpioName("no such line anywhere") }
        do {
            try await service.run()
            Issue.record("the service ran")
        } catch let error as DeviceError { #expect(error.message.contains("no such line anywhere")) }
    }
}
