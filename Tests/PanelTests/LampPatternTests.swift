import Testing

@testable import Core

@Suite("Lamp patterns") struct LampPatternTests {
    @Test(
        "each mode has its own pattern, no matter when it begins",
        arguments: [
            (LampPattern.Mode.off, "........................................................................"),
            (.steady, "########################################################################"),
            (.paused, "##..........................................................##.........."),
            (.pulse, "####################....................####################............"),
            (.doubleBlink, "##...##.............##...##.............##...##.............##...##....."),
            (.refused, "##...##...##..................##...##...##..................##...##...##"),
            (.done, "############################################################............"),
            (.open, "##....##....##..............................................##....##...."),
            (.doubleFlash, "##....##....................................................##....##...."),
        ])
    func modes(_ mode: LampPattern.Mode, _ picture: String) {
        for start in [Duration.zero, .milliseconds(12_345)] {
            let lamp = LampPattern([LampPattern.Layer(mode, since: start)])
            #expect(marbles(lamp, from: start, letters: 72) == picture)
        }
    }

    @Test("updating the lamp only when requested shows the same pattern, and a constant lamp requests no update")
    func schedule() {
        for mode in LampPattern.Mode.allCases {
            for blinksAt in [nil, Duration.milliseconds(1_300)] {
                var lamp = LampPattern([LampPattern.Layer(mode, since: .zero)])
                if let blinksAt { lamp = lamp.blinking(at: blinksAt, for: LampPattern.markBlink) }
                var picture = ""
                var now = Duration.zero
                while true {
                    let (lit, until) = lamp.next(after: now)
                    let end = min(until ?? .seconds(4), .seconds(4))
                    picture += String(repeating: lit ? "#" : ".", count: Int((end - now) / .milliseconds(50)))
                    // wait: simulated time
                    guard let until, until < .seconds(4) else { break }
                    #expect(until > now)
                    now = until
                }
                #expect(picture == marbles(lamp, letters: 80), "\(mode)")
            }
        }
        #expect(LampPattern().next(after: .zero).until == nil)
        let done = LampPattern([LampPattern.Layer(.done, since: .zero)])
        #expect(done.next(after: .zero).until == .seconds(3))
        #expect(done.next(after: .seconds(3)).until == nil)
    }

    @Test("a blink inverts the level, and overlapping blinks invert it once")
    func blink() {
        let length = LampPattern.markBlink
        let dark = LampPattern().blinking(at: .milliseconds(100), for: length)
        #expect(marbles(dark, letters: 10) == "..####....")
        let steady = LampPattern([LampPattern.Layer(.steady, since: .zero)])
        #expect(marbles(steady.blinking(at: .milliseconds(100), for: length), letters: 10) == "##....####")
        let twice = steady.blinking(at: .milliseconds(100), for: length).blinking(
            at: .milliseconds(250), for: LampPattern.pressBlink)
        #expect(marbles(twice, letters: 10) == "##.....###")
        #expect(twice.next(after: .zero).until == .milliseconds(100))
    }

    @Test("a fault blinks fast and hides everything else")
    func fault() {
        let lamp = LampPattern(
            [LampPattern.Layer(.steady, since: .zero)], faultSince: .zero,
            blinks: [.milliseconds(100) ..< .milliseconds(300)])
        #expect(lamp.isFaulted)
        #expect(marbles(lamp, letters: 12) == "##..##..##..")
        #expect(marbles(lamp, from: .seconds(100), letters: 12) == "##..##..##..")
        #expect(lamp.mode(at: .zero) == .steady)
    }

    @Test("when a layer ends, the next one is shown in the phase that it has reached by then")
    func layers() {
        let lamp = LampPattern([
            LampPattern.Layer(.steady, since: .zero, until: .milliseconds(300)),
            LampPattern.Layer(.doubleBlink, since: .zero, until: .seconds(1)),
        ])
        #expect(marbles(lamp, letters: 24) == "#######.................")
        #expect(lamp.next(after: .zero).until == .milliseconds(300))
        #expect(lamp.mode(at: .milliseconds(300)) == .doubleBlink && lamp.mode(at: .seconds(1)) == .off)
        #expect(lamp.next(after: .seconds(1)) == (false, nil))
    }
}
