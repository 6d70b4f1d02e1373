import Glibc
import Synchronization
import Testing
import TestKit

@testable import Audio
@testable import Core
@testable import System

@Suite struct SampleRingTests {
    /// Empties the ring. Returns the samples, with nil for each lost one.
    private func drain(_ ring: SampleRing) -> [Int16?] {
        var output: [Int16?] = []
        while ring.consume({ append($0, to: &output) }) {}
        ring.release()
        return output
    }

    private func append(_ element: SampleRing.Element, to output: inout [Int16?]) {
        switch element {
        case .samples(let samples): output += samples.map { $0 }
        case .lost(let count, _): output += [Int16?](repeating: nil, count: count)
        }
    }

    private func put(_ samples: [Int16], into ring: SampleRing) -> Bool {
        samples.withUnsafeBufferPointer { ring.put($0) }
    }

    @Test("blocks that do not fit become one loss before the next block that fits")
    func dropsWholeBlocks() {
        let ring = SampleRing(capacity: 4)
        #expect(put([1, 2, 3], into: ring))
        #expect(!ring.hasSpace(for: 2))
        #expect(!put([4, 5], into: ring))
        #expect(!put([6, 7], into: ring))
        #expect(put([8], into: ring))
        #expect(drain(ring) == [1, 2, 3, nil, nil, nil, nil, 8])
        #expect(put([9, 10, 11, 12], into: ring))
        #expect(drain(ring) == [9, 10, 11, 12])
    }

    @Test("a loss after the last sample is reported once at the end, with its cause")
    func lossAtTheEnd() {
        let ring = SampleRing(capacity: 4)
        #expect(put([1], into: ring))
        ring.addLoss(5, cause: .overrun)
        #expect(drain(ring) == [1])
        var rest: [(Int, Gap.Cause)] = []
        for _ in 1...2 {
            ring.consumeRest { if case .lost(let count, let cause) = $0 { rest.append((count, cause)) } }
        }
        #expect(rest.map(\.0) == [5])
        #expect(rest.map(\.1) == [.overrun])
    }

    @Test("a loss with several causes is attributed to the disk if the disk was one of them", arguments: [true, false])
    func mixedCauses(diskFirst: Bool) {
        let ring = SampleRing(capacity: 1)
        if diskFirst { ring.addLoss(2, cause: .disk) }
        ring.addLoss(3, cause: .overrun)
        if !diskFirst { ring.addLoss(2, cause: .disk) }
        #expect(put([1], into: ring))
        var causes: [Gap.Cause] = []
        while ring.consume({ if case .lost(5, let cause) = $0 { causes.append(cause) } }) {}
        #expect(causes == [.disk])
    }

    @Test("samples stay in the ring if the consumer throws")
    func keepsSamplesAfterError() throws {
        let ring = SampleRing(capacity: 4)
        ring.addLoss(1, cause: .overrun)
        #expect(put([1, 2], into: ring))
        let failure = DeviceError(.full, "test", "a test")
        #expect(throws: failure) { _ = try ring.consume { _ in throw failure } }
        #expect(drain(ring) == [nil, 1, 2])
    }

    @Test("after a rewind, samples and losses that were not released are returned again")
    func rewinds() {
        let ring = SampleRing(capacity: 4)
        #expect(put([1], into: ring))
        #expect(drain(ring) == [1])
        ring.addLoss(2, cause: .overrun)
        #expect(put([2, 3], into: ring))
        var output: [Int16?] = []
        while ring.consume({ append($0, to: &output) }) {}
        #expect(put([4], into: ring))
        ring.addLoss(1, cause: .overrun)
        #expect(!ring.hasSpace(for: 2), "unreleased samples keep their slots")
        while ring.consume({ append($0, to: &output) }) {}
        ring.consumeRest { append($0, to: &output) }
        #expect(output == [nil, nil, 2, 3, 4, nil])
        ring.rewind()
        output = []
        while ring.consume({ append($0, to: &output) }) {}
        ring.consumeRest { append($0, to: &output) }
        ring.consumeRest { append($0, to: &output) }
        #expect(output == [nil, nil, 2, 3, 4, nil])
        ring.release()
        #expect(ring.hasSpace(for: 4))
        ring.rewind()
        #expect(!ring.consume { _ in })
    }

    @Test("a release is needed once half of the slots are consumed")
    func needsRelease() {
        let ring = SampleRing(capacity: 4)
        #expect(put([1], into: ring))
        while ring.consume({ _ in }) {}
        #expect(!ring.needsRelease)
        #expect(put([2], into: ring))
        while ring.consume({ _ in }) {}
        #expect(ring.needsRelease)
        ring.release()
        #expect(!ring.needsRelease)
    }

    @Test("if there are more losses than markers, further blocks are also lost and counted")
    func markersRunOut() {
        let ring = SampleRing(capacity: 10_000)
        var (accepted, lost) = (0, 0)
        for _ in 0..<1000 {
            ring.addLoss(1, cause: .overrun)
            lost += 1
            if put([7], into: ring) { accepted += 1 } else { lost += 1 }
        }
        #expect(accepted < 1000)
        var output = drain(ring)
        ring.consumeRest { append($0, to: &output) }
        #expect(output.count { $0 == 7 } == accepted)
        #expect(output.count { $0 == nil } == lost)
        #expect(output.prefix(4) == [nil, 7, nil, 7])
    }

    @Test("two threads preserve order and count, no matter which blocks are dropped", arguments: [1, 7, 64, 1000])
    func twoThreads(capacity: Int) async throws {
        let ring = SampleRing(capacity: capacity)
        let blocks = 20_000
        let producedBlocks = Counter()
        let randomness = SeededGenerator()
        let seed = randomness.seed

        async let producerResult = onThread(named: "producer") {
            var random = randomness
            var (position, lost) = (0, 0)
            for _ in 0..<blocks {
                let count = Int.random(in: 0...(capacity + 1), using: &random)
                if Int.random(in: 0..<20, using: &random) == 0 {
                    ring.addLoss(count, cause: .overrun)
                    lost += count
                } else {
                    let block = numbered(from: position, count)
                    if !block.withUnsafeBufferPointer({ ring.put($0) }) { lost += count }
                }
                position += count
                producedBlocks.value.wrappingAdd(1, ordering: .releasing)
            }
            producedBlocks.value.store(.max, ordering: .releasing)
            return (position, lost)
        }
        async let consumerResult = onThread(named: "consumer") {
            var random = SeededGenerator(seed: ~seed)
            var (position, lost, mismatches) = (0, 0, 0)
            func check(_ element: SampleRing.Element) {
                switch element {
                case .samples(let samples):
                    if Array(samples) != numbered(from: position, samples.count) { mismatches += 1 }
                    position += samples.count
                case .lost(let count, _):
                    position += count
                    lost += count
                }
            }
            var ended = false
            while !ended {
                ended = producedBlocks.value.load(ordering: .acquiring) == .max
                while ring.consume(check) {
                    ring.release()
                    guard Int.random(in: 0..<50, using: &random) == 0 else { continue }
                    // Stall while the producer continues for some blocks, so that the ring fills up.
                    let now = producedBlocks.value.load(ordering: .acquiring)
                    while now != .max, producedBlocks.value.load(ordering: .acquiring) < now + 5 { sched_yield() }
                }
            }
            ring.consumeRest(check)
            return (position, lost, mismatches)
        }
        let (producedPosition, producedLost) = try await producerResult
        let (consumedPosition, consumedLost, mismatches) = try await consumerResult
        #expect(mismatches == 0, "seed \(seed)")
        #expect(consumedPosition == producedPosition, "seed \(seed)")
        #expect(consumedLost == producedLost, "seed \(seed)")
        #expect(consumedLost > 0 && consumedLost < consumedPosition, "seed \(seed)")
    }
}

private final class Counter: Sendable {
    let value = Atomic<Int>(0)
}
