import Core
import Panel
import TestKit
import Testing

@Suite("The panel's lamp") struct PanelLampTests {
    /// What the lamp shows at each moment that it asks for, and at the moments at which it is told something.
    private func history(_ inputs: [(Int, PanelLamp.Input)], until end: Int) -> [String] {
        var lamp = PanelLamp()
        var history: [String] = []
        var rest = inputs[...]
        var now = Duration.zero
        var lit = false
        while now <= .milliseconds(end) {
            while let (time, input) = rest.first, .milliseconds(time) <= now {
                lamp.handle(input, at: .milliseconds(time))
                rest = rest.dropFirst()
            }
            let next = lamp.next(at: now)
            if next.lit != lit {
                lit = next.lit
                history.append("\(lit ? "on" : "off") \(Int(now / .milliseconds(1)))")
            }
            let told = rest.first.map { Duration.milliseconds($0.0) }
            guard let following = [next.until, told].compactMap({ $0 }).min() else { break }
            #expect(following > now)
            now = following
        }
        return history
    }

    @Test("an idle lamp wakes nobody")
    func idle() {
        var lamp = PanelLamp()
        #expect(lamp.next(at: .zero).until == nil)
        #expect(history([], until: 100_000) == [])
    }

    @Test("it is steady from the first bytes on, and for 3 s from the last")
    func steady() {
        #expect(
            history(
                [(0, .recording(true)), (400, .written), (1_400, .written), (2_400, .written)], until: 60_000)
                == ["on 400", "off 5400"])
        #expect(
            history(
                [(0, .recording(true)), (400, .written), (5_000, .written), (6_000, .recording(false))], until: 9_000)
                == ["on 400", "off 3400", "on 5000", "off 6000"])
    }

    @Test("it says nothing of a recording whose microphone is dead")
    func microphone() {
        #expect(
            history(
                [
                    (0, .recording(true)), (400, .written), (1_000, .microphone(alive: false)), (1_400, .written),
                    (2_000, .microphone(alive: true)), (2_100, .recording(false)),
                ], until: 9_000) == ["on 400", "off 1000", "on 2000", "off 2100"])
    }

    @Test("a new recording has nothing of the one before")
    func anew() {
        #expect(
            history(
                [
                    (0, .recording(true)), (100, .written), (200, .microphone(alive: false)), (300, .recording(false)),
                    (400, .recording(true)), (900, .written), (1_000, .recording(false)),
                ], until: 9_000) == ["on 100", "off 200", "on 900", "off 1000"])
    }

    @Test("a press is answered at once, a mark by a longer blink")
    func blinks() {
        #expect(history([(1_000, .answer)], until: 9_000) == ["on 1000", "off 1060"])
        #expect(
            history([(0, .recording(true)), (0, .written), (1_000, .mark), (2_000, .recording(false))], until: 9_000)
                == ["on 0", "off 1000", "on 1200", "off 2000"])
    }

    @Test("a fault stays until it is acknowledged, and then what it hid shows again")
    func fault() {
        #expect(
            history(
                [
                    (0, .recording(true)), (0, .written), (1_000, .fault), (1_250, .acknowledge),
                    (2_000, .recording(false)),
                ],
                until: 9_000) == ["on 0", "off 1100", "on 1200", "off 2000"])
    }

    @Test("exporting, then safe to unplug for 3 s, then what is left to write")
    func export() {
        let found = history(
            [(0, .transcribing(true)), (0, .exporting(true)), (1_000, .exported), (6_000, .transcribing(false))],
            until: 20_000)
        #expect(
            found == [
                "on 0", "off 100", "on 250", "off 350", "on 1000",
                // One second more: the pulse begins with its light on.
                "off 5000",
            ] || found == ["on 0", "off 100", "on 250", "off 350", "on 1000", "off 5000", "on 6000"], "\(found)")
    }
}
