import Testing

@testable import Appliance
@testable import Core
@testable import System

@Suite("The recorder's state machine") struct RecorderStateTests {
    private static func columns(_ table: String) -> [[String]] {
        table.split(separator: "\n").map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).map { column in
                column.split(separator: " ").joined(separator: " ")
            }
        }
    }

    @Test("inputs lead to the effects, state and lamp in the table", arguments: RecorderMarbles.all)
    func marbles(_ marbles: RecorderMarbles) {
        let (found, expected) = (Self.columns(RecorderRig.run(marbles.table)), Self.columns(marbles.table))
        for (found, expected) in zip(found, expected) { #expect(found == expected, "\(marbles.name)") }
    }

    @Test("each press is interpreted in the state after the previous one, even if several arrive together")
    func presses() {
        var state = RecorderState()
        func press(at second: Int) -> [RecorderEffect] {
            let moment = RecorderMoment(monotonic: .seconds(90))
            var effects = state.handle(RecorderInput(.button(.pressed(at: .seconds(second))), at: moment))
            effects += state.handle(RecorderInput(.button(.released), at: moment))
            return effects.filter { if case .log = $0 { false } else { true } }
        }
        func apply(_ kind: RecorderInput.Kind) {
            _ = state.handle(RecorderInput(kind, at: RecorderMoment(monotonic: .seconds(90))))
        }
        apply(.started)
        apply(.maintenanceEnded(.done))
        #expect(press(at: 1).contains(.open(attempt: 1)) && state.willBeRecording)
        #expect(press(at: 2).isEmpty && !state.willBeRecording)
        apply(.opened(attempt: 1, recording: 1))
        #expect(press(at: 3).isEmpty && state.willBeRecording)
        apply(.closed(1))
        apply(.opened(attempt: 2, recording: 2))
        #expect(press(at: 4) == [.close(2, .button)])
    }

    @Test("a press acknowledges a fault and starts a recording")
    func acknowledgingPress() {
        var state = RecorderState()
        func apply(_ kind: RecorderInput.Kind, at second: Int) -> [RecorderEffect] {
            state.handle(RecorderInput(kind, at: RecorderMoment(monotonic: .seconds(second))))
        }
        _ = apply(.event(.fault(code: "full", message: "")), at: 1)
        #expect(state.isFaulted)
        #expect(apply(.button(.pressed(at: .seconds(2))), at: 2).contains(.open(attempt: 1)))
        #expect(!state.isFaulted)
    }

    @Test("a press does not acknowledge a later fault")
    func laterFault() {
        var state = RecorderState()
        func apply(_ kind: RecorderInput.Kind, at milliseconds: Int) {
            _ = state.handle(RecorderInput(kind, at: RecorderMoment(monotonic: .milliseconds(milliseconds))))
        }
        apply(.event(.fault(code: "full", message: "")), at: 1_000)
        apply(.event(.fault(code: "missing", message: "")), at: 2_010)
        func acknowledge(at press: Int, _ milliseconds: Int) {
            _ = state.handle(
                .acknowledge(at: .milliseconds(press)), at: RecorderMoment(monotonic: .milliseconds(milliseconds)))
        }
        acknowledge(at: 2_000, 2_020)
        #expect(state.isFaulted && state.lastFault?.code == "missing")
        acknowledge(at: 2_030, 2_050)
        #expect(!state.isFaulted && state.lastFault?.code == "missing")
    }

    @Test("a repeated fault is logged once but shown each time")
    func repeatedFault() {
        var state = RecorderState()
        var lines = 0
        for second in 1...5 {
            let moment = RecorderMoment(monotonic: .seconds(second))
            let effects = state.handle(RecorderInput(.event(.fault(code: "full", message: "x")), at: moment))
            lines += effects.count { if case .log(let line) = $0 { line.event == "fault" } else { false } }
            #expect(LampPattern(for: state).isFaulted)
            _ = state.handle(.acknowledge(at: .seconds(second)), at: moment)
            #expect(!LampPattern(for: state).isFaulted)
        }
        #expect(lines == 1)
    }

    @Test("the recorder is alive while bytes reach the disk, and then for as long as the ring buffer can hold sound")
    func alive() {
        var state = RecorderState()
        func apply(_ kind: RecorderInput.Kind, at time: Duration) {
            _ = state.handle(RecorderInput(kind, at: RecorderMoment(monotonic: time)))
        }
        let limit = RecorderState.stallLimit
        #expect(state.isAlive(at: limit * 9))
        apply(.command(.start, nil), at: .seconds(1))
        #expect(state.isAlive(at: .seconds(1) + limit - .seconds(1)) && !state.isAlive(at: .seconds(1) + limit))
        apply(.opened(attempt: 1, recording: 1), at: .seconds(5))
        #expect(state.isAlive(at: .seconds(4) + limit) && !state.isAlive(at: .seconds(5) + limit))
        apply(.checked(1, RecorderInput.HealthCheck(syncedAt: .seconds(9))), at: .seconds(10))
        apply(.command(.stop, nil), at: .seconds(11))
        #expect(state.isAlive(at: .seconds(8) + limit) && !state.isAlive(at: .seconds(9) + limit))
        apply(.closed(1), at: .seconds(12))
        #expect(state.isAlive(at: limit * 9))
    }

    @Test("failed maintenance is tried again with increasing delays, and reported once")
    func retriesMaintenance() {
        var state = RecorderState()
        let error = DeviceError(.missing, "model", "no model")
        var effects = state.handle(RecorderInput(.started, at: RecorderMoment(monotonic: .zero)))
        var delays: [Duration] = []
        var faults = 0
        for run in 1...9 {
            #expect(effects == [.maintenance])
            let moment = RecorderMoment(monotonic: .seconds(run))
            for effect in state.handle(RecorderInput(.maintenanceEnded(.failed(error)), at: moment)) {
                if case .wake(.maintenance(run: run), let delay) = effect { delays.append(delay) }
                if case .publish(.fault) = effect { faults += 1 }
            }
            // The timer of an earlier run has no effect.
            #expect(state.handle(RecorderInput(.due(.maintenance(run: run - 1)), at: moment)) == [])
            effects = state.handle(RecorderInput(.due(.maintenance(run: run)), at: moment))
        }
        #expect(delays.prefix(3) == [.seconds(60), .seconds(120), .seconds(240)])
        #expect(delays.count == 9 && delays.last == .seconds(3_600))
        #expect(faults == 1)
    }
}
