import Testing
import TestKit

@testable import Core

@Suite("The recorder's state machine with random inputs") struct RecorderPropertyTests {
    @Test("the invariants hold, whatever the order of inputs and effects", arguments: 0..<40)
    func anyOrder(_ round: Int) {
        var generator = SeededGenerator()
        let seed = generator.seed
        for _ in 0..<10 {
            var world = RecorderWorld()
            for _ in 0..<200 { world.step(&generator) }
            world.settle(&generator)
            for problem in world.problems.prefix(3) { Issue.record("seed \(seed): \(problem)") }
        }
    }
}
