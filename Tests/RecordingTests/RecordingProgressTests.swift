import Testing

@testable import Audio
@testable import Core

@Suite struct RecordingProgressTests {
    @Test("a follower that is behind gets an answer immediately")
    func behind() async {
        let progress = RecordingProgress(upTo: SamplePosition(10))
        #expect(await progress.next(after: .zero) == .available(upTo: SamplePosition(10)))
        progress.written(upTo: SamplePosition(20))
        progress.written(upTo: SamplePosition(15))
        #expect(await progress.next(after: SamplePosition(10)) == .available(upTo: SamplePosition(20)))
    }

    @Test("the end is reported after all progress before it")
    func end() async {
        let progress = RecordingProgress()
        progress.end(at: SamplePosition(5))
        #expect(await progress.next(after: .zero) == .available(upTo: SamplePosition(5)))
        #expect(await progress.next(after: SamplePosition(5)) == .ended(at: SamplePosition(5)))
        #expect(await RecordingProgress(hasEnded: true).next(after: .zero) == .ended(at: .zero))
    }

    @Test("each of many followers sees all progress in order")
    func manyFollowers() async {
        let progress = RecordingProgress()
        let results = await withTaskGroup(of: [Int64].self) { group in
            for _ in 1...8 {
                group.addTask {
                    var positions: [Int64] = []
                    while case .available(let end) = await progress.next(after: SamplePosition(positions.last ?? 0)) {
                        positions.append(end.samples)
                    }
                    return positions
                }
            }
            for position in 1...2000 {
                progress.written(upTo: SamplePosition(Int64(position)))
                if position % 10 == 0 { await Task.yield() }
            }
            progress.end(at: SamplePosition(2000))
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count == 8)
        for positions in results {
            #expect(positions.last == 2000)
            #expect(zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 })
        }
    }

    @Test("a cancelled follower is released; the others keep waiting")
    func cancelled() async {
        let progress = RecordingProgress()
        let waitingTask = Task { await progress.next(after: .zero) }
        let cancelledTask = Task { await progress.next(after: .zero) }
        cancelledTask.cancel()
        #expect(await cancelledTask.value == .cancelled)
        progress.written(upTo: SamplePosition(1))
        #expect(await waitingTask.value == .available(upTo: SamplePosition(1)))
        let cancelledBeforeWaiting = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await progress.next(after: SamplePosition(1))
        }
        #expect(await cancelledBeforeWaiting.value == .cancelled)
    }
}
