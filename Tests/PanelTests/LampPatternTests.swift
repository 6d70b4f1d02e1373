import Panel
import Testing

@Suite("Lamp patterns") struct LampPatternTests {
    @Test(
        "each mode has its picture, whenever it begins",
        arguments: [
            (LampPattern.Mode.off, "........................................................................"),
            (.steady, "########################################################################"),
            (.pulse, "####################....................####################............"),
            (.doubleBlink, "##...##.............##...##.............##...##.............##...##....."),
            (.done, "############################################################............"),
        ])
    func modes(_ mode: LampPattern.Mode, _ picture: String) {
        for start in [Duration.zero, .milliseconds(12_345)] {
            var lamp = LampPattern()
            lamp.show(mode, at: start)
            #expect(marbles(lamp, from: start, letters: 72) == picture)
        }
    }

    @Test("a lamp that is called only when it asks shows the same, and one that rests does not ask")
    func schedule() {
        for mode in LampPattern.Mode.allCases {
            for blinksAt in [nil, Duration.milliseconds(1_300)] {
                var lamp = LampPattern()
                lamp.show(mode, at: .zero)
                if let blinksAt { lamp.blink(at: blinksAt) }
                var picture = ""
                var now = Duration.zero
                while true {
                    let (lit, until) = lamp.next(after: now)
                    let end = min(until ?? .seconds(4), .seconds(4))
                    picture += String(repeating: lit ? "#" : ".", count: Int((end - now) / .milliseconds(50)))
                    guard let until, until < .seconds(4) else { break }
                    #expect(until > now)
                    now = until
                }
                #expect(picture == marbles(lamp, letters: 80), "\(mode)")
            }
        }
        #expect(LampPattern().next(after: .zero).until == nil)
        var done = LampPattern()
        done.show(.done, at: .zero)
        #expect(done.next(after: .zero).until == .seconds(3))
        #expect(done.next(after: .seconds(3)).until == nil)
    }

    @Test("a blink is the other level, once")
    func blink() {
        var lamp = LampPattern()
        lamp.blink(at: .milliseconds(100))
        #expect(marbles(lamp, letters: 10) == "..####....")
        lamp.show(.steady, at: .zero)
        #expect(marbles(lamp, letters: 10) == "##....####")
        lamp.blink(at: .milliseconds(250), for: LampPattern.answerBlink)
        #expect(marbles(lamp, letters: 10) == "#####..###")
    }

    @Test("a fault blinks fast over all else until it is acknowledged")
    func fault() {
        var lamp = LampPattern()
        lamp.show(.steady, at: .zero)
        lamp.fault(at: .zero)
        lamp.blink(at: .milliseconds(100))
        #expect(lamp.isFaulted)
        #expect(marbles(lamp, letters: 12) == "##..##..##..")
        // Telling of it again, or of something else, does not start it anew.
        lamp.fault(at: .milliseconds(100))
        lamp.show(.off, at: .milliseconds(100))
        #expect(marbles(lamp, from: .seconds(100), letters: 12) == "##..##..##..")
        lamp.acknowledge()
        #expect(!lamp.isFaulted && lamp.mode == .off)
        #expect(lamp.next(after: .seconds(101)) == (false, nil))
    }

    @Test("showing the same again does not start it anew")
    func same() {
        var lamp = LampPattern()
        lamp.show(.pulse, at: .zero)
        lamp.show(.pulse, at: .milliseconds(500))
        #expect(lamp.next(after: .milliseconds(900)) == (true, .seconds(1)))
    }
}
