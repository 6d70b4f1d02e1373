import Testing
import TestKit

@testable import Core

@Suite("Debouncing") struct DebouncerTests {
    /// Returns the changes that edges have caused when the time reaches `end`. All times are in milliseconds.
    private func changes(_ edges: [(Int, Bool)], until end: Int, dropped: Set<Int> = []) -> [Debouncer.Change] {
        var debouncer = Debouncer(period: .milliseconds(20))
        var changes: [Debouncer.Change] = []
        for (time, pressed) in edges {
            let edge = ButtonEdge(
                pressed: pressed, time: .milliseconds(time), dropped: dropped.contains(time) ? 1 : 0)
            changes += debouncer.handle(.edge(edge))
        }
        return changes + debouncer.handle(.time(.milliseconds(end)))
    }

    @Test("a level that has lasted long enough counts from its first edge")
    func stableLevel() {
        #expect(changes([(100, true)], until: 119) == [])
        #expect(changes([(100, true)], until: 120) == [.init(pressed: true, time: .milliseconds(100))])
        #expect(
            changes([(100, true), (103, false), (104, true)], until: 124)
                == [.init(pressed: true, time: .milliseconds(104))])
        #expect(changes([(100, true), (119, false)], until: 500) == [])
    }

    @Test("a press reported late, together with its release, is not missed")
    func lateReport() {
        #expect(
            changes([(100, true), (150, false)], until: 500)
                == [
                    .init(pressed: true, time: .milliseconds(100)), .init(pressed: false, time: .milliseconds(150)),
                ])
    }

    @Test("if edges were dropped, the level before them does not count")
    func droppedEdges() {
        #expect(changes([(100, true), (300, false)], until: 500, dropped: [300]) == [])
        #expect(
            changes([(100, true), (300, true)], until: 500) == [.init(pressed: true, time: .milliseconds(300))])
    }

    @Test("a wake-up is requested only while a new level is being debounced")
    func wakeAt() {
        var debouncer = Debouncer(period: .milliseconds(20))
        #expect(debouncer.wakeAt == nil)
        _ = debouncer.handle(.edge(ButtonEdge(pressed: true, time: .milliseconds(100))))
        #expect(debouncer.wakeAt == .milliseconds(120))
        #expect(debouncer.settledTime(at: .milliseconds(110)) == .milliseconds(100))
        _ = debouncer.handle(.edge(ButtonEdge(pressed: false, time: .milliseconds(105))))
        #expect(debouncer.wakeAt == nil)
        #expect(debouncer.settledTime(at: .milliseconds(110)) == .milliseconds(110))
    }

    @Test(
        "a minute of bouncing at 10 kHz is not a press, and a thousand presses with bouncing contacts all count",
        arguments: [0, 1_000])
    func bouncing(_ presses: Int) {
        var generator = SeededGenerator()
        var debouncer = Debouncer(period: .milliseconds(20))
        var expected: [Debouncer.Change] = []
        var changes: [Debouncer.Change] = []
        var level = false
        var time = Duration.zero
        func bounce(for length: Duration, endingWith finalLevel: Bool) {
            let end = time + length
            while time < end || level != finalLevel {
                time += .microseconds(Int.random(in: 50...150, using: &generator))
                level.toggle()
                changes += debouncer.handle(.edge(ButtonEdge(pressed: level, time: time)))
            }
        }
        if presses == 0 { bounce(for: .seconds(60), endingWith: false) }
        for _ in 0..<presses {
            for pressed in [true, false] {
                bounce(for: .milliseconds(Int.random(in: 1...10, using: &generator)), endingWith: pressed)
                expected.append(.init(pressed: pressed, time: time))
                time += .milliseconds(Int.random(in: 20...29, using: &generator))
                // Sometimes the time is reported before the next edge.
                if Bool.random(using: &generator) { changes += debouncer.handle(.time(time)) }
            }
        }
        changes += debouncer.handle(.time(time + .seconds(1)))
        #expect(changes == expected, "seed \(generator.seed)")
    }
}
