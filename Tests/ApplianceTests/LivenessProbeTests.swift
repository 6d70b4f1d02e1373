import Testing

@testable import Appliance

@Suite("The watchdog's liveness probe") struct LivenessProbeTests {
    private struct Step {
        var time: Int
        var event: String
        var isAlive: Bool
    }

    @Test(
        "the recorder counts as alive while it answers, and for a limited time without an answer"
    )
    func probe() {
        let limit = Int(RecorderState.stallLimit.components.seconds)
        // The disk may stall for the 30 s that the ring buffer holds.
        #expect(limit > 30)
        let probe = LivenessProbe()
        let steps = [
            Step(time: 0, event: "", isAlive: true), Step(time: 1, event: "ask", isAlive: true),
            Step(time: limit, event: "", isAlive: true), Step(time: limit + 1, event: "", isAlive: false),
            Step(time: limit + 2, event: "yes", isAlive: true), Step(time: limit + 3, event: "ask", isAlive: true),
            Step(time: limit + 4, event: "no", isAlive: false), Step(time: limit + 5, event: "ask", isAlive: false),
            Step(time: limit + 6, event: "yes", isAlive: true),
        ]
        for step in steps {
            switch step.event {
            case "ask": probe.begin(at: .seconds(step.time))
            case "yes": probe.finish(true)
            case "no": probe.finish(false)
            default: break
            }
            #expect(probe.isAlive(at: .seconds(step.time)) == step.isAlive, "at \(step.time) s")
        }
    }
}
