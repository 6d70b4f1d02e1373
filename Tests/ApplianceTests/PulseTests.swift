import Testing

@testable import Appliance

@Suite("The watchdog's pulse") struct PulseTests {
    private struct Step {
        var time: Int
        var event: String
        var beats: Bool
    }

    @Test(
        "it beats while the recorder answers, tolerates a stalled disk, and stops when bytes no longer reach the disk"
    )
    func pulse() {
        let limit = Int(RecorderState.stallLimit.components.seconds)
        // The ring bridges 30 s of a disk that stalls.
        #expect(limit > 30)
        let pulse = Pulse()
        let steps = [
            Step(time: 0, event: "", beats: true), Step(time: 1, event: "ask", beats: true),
            Step(time: limit, event: "", beats: true), Step(time: limit + 1, event: "", beats: false),
            Step(time: limit + 2, event: "yes", beats: true), Step(time: limit + 3, event: "ask", beats: true),
            Step(time: limit + 4, event: "no", beats: false), Step(time: limit + 5, event: "ask", beats: false),
            Step(time: limit + 6, event: "yes", beats: true),
        ]
        for step in steps {
            switch step.event {
            case "ask": pulse.ask(at: .seconds(step.time))
            case "yes": pulse.answer(true)
            case "no": pulse.answer(false)
            default: break
            }
            #expect(pulse.beats(at: .seconds(step.time)) == step.beats, "at \(step.time) s")
        }
    }
}
