import Testing

@testable import Core

@Suite("The panel's button") struct PanelButtonTests {
    private func edge(_ pressed: Bool, _ milliseconds: Int) -> PanelButton.Input {
        .edge(ButtonEdge(pressed: pressed, time: .milliseconds(milliseconds)))
    }

    @Test("a press is reported 20 ms after the contacts have settled")
    func settledPress() {
        var button = PanelButton()
        #expect(button.wakeAt == nil)
        #expect(button.handle(edge(true, 1_000)) == [])
        #expect(button.handle(edge(false, 1_001)) == [])
        #expect(button.handle(edge(true, 1_002)) == [])
        #expect(button.wakeAt == .milliseconds(1_022))
        #expect(button.handle(.time(.milliseconds(1_022))) == [.pressed(at: .milliseconds(1_002))])
    }

    @Test("a release just before the hold time is not a hold, even if the contacts settle after that time")
    func releaseBeforeHold() {
        var button = PanelButton()
        _ = button.handle(edge(true, 0))
        _ = button.handle(.time(.milliseconds(20)))
        #expect(button.wakeAt == .seconds(1))
        #expect(button.handle(edge(false, 990)) == [])
        #expect(button.handle(.time(.milliseconds(1_005))) == [])
        #expect(button.handle(.time(.milliseconds(1_010))) == [.released])
    }

    @Test("contacts that bounce after a hold do not delay it")
    func bounceAfterHold() {
        var button = PanelButton()
        _ = button.handle(edge(true, 0))
        _ = button.handle(.time(.milliseconds(500)))
        #expect(button.handle(edge(false, 1_001)) == [.held])
        #expect(button.handle(edge(true, 1_002)) == [])
        #expect(button.handle(edge(false, 2_000)) == [])
        #expect(button.handle(.time(.milliseconds(2_020))) == [.released])
        #expect(button.wakeAt == nil)
    }

    @Test("a button that is pressed at the start is reported as stuck with the first input")
    func pressedAtStart() {
        var button = PanelButton(pressed: true)
        #expect(button.wakeAt == .zero)
        #expect(button.handle(.time(.seconds(1))) == [.stuck])
        #expect(button.wakeAt == nil)
        #expect(button.handle(edge(false, 2_000)) == [])
        #expect(button.handle(.time(.seconds(3))) == [.unstuck])
    }
}
