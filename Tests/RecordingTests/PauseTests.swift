import Glibc
import Testing
import TestKit

@testable import Audio
@testable import Core
@testable import System

/// A recording with pauses and a scripted clock.
@Suite struct PauseTests {
    let folder = TemporaryFolder()
    var path: String { folder.file("audio.wav") }
    let time = ManualTime()
    let holder = SessionHolder()

    private static let unplugged = DeviceError(.disconnected, "snd_pcm_readi", status: ENODEV, "scripted: is gone")

    private func run(_ steps: [ScriptedMicrophone.Step], log: RecordingLog = RecordingLog()) async throws
        -> RecordingResult
    {
        var settings = RecordingSession.Settings()
        settings.realtimePriority = nil
        settings.clock = { [time] in time.nanoseconds }
        let session = ScriptedRecording(
            microphone: ScriptedMicrophone(isRealTime: true, steps), path: path, settings: settings, sink: log)
        holder.session.withLock { $0 = session.session }
        return try await session.run()
    }

    /// A block of 100 ms that arrives when it is complete.
    private func block(_ index: Int) -> [ScriptedMicrophone.Step] {
        [
            .perform { [time] in time.advance(milliseconds: 100) },
            .samples(numbered(from: index * 1600, 1600)),
        ]
    }

    private func setPaused(_ isPaused: Bool) -> ScriptedMicrophone.Step {
        .perform { [holder] in holder.session.withLock { $0 }?.setPaused(isPaused) }
    }

    @Test("a pause becomes one gap with silence of exactly its length")
    func becomesGap() async throws {
        let steps = [
            block(0), [setPaused(true)], block(1), block(2), [setPaused(false)], block(3), [.ended],
        ].flatMap { $0 }
        let result = try await run(steps)
        #expect(result.gaps == [gap(1_600, 4_800, .paused)])
        let silence = [Int16](repeating: 0, count: 3_200)
        #expect(try samples(of: path) == numbered(1_600) + silence + numbered(from: 4_800, 1_600))
    }

    @Test("a recording that ends during a pause ends where the pause began")
    func endsPaused() async throws {
        let result = try await run([block(0), [setPaused(true)], block(1), block(2), [.ended]].flatMap { $0 })
        #expect(result.gaps == [])
        #expect(result.length == SamplePosition(1_600))
        #expect(try samples(of: path) == numbered(1_600))
    }

    @Test("an outage during a pause belongs to the pause; an outage outside it is a separate gap")
    func outages() async throws {
        let wait: ScriptedMicrophone.Step = .perform { [time] in time.advance(milliseconds: 1_000) }
        let outage: [ScriptedMicrophone.Step] = [.failure(Self.unplugged), wait]
        let steps = [
            block(0), [setPaused(true)], outage, block(1), [setPaused(false)], block(2), outage, block(3), [.ended],
        ].flatMap { $0 }
        let result = try await run(steps)
        #expect(result.gaps == [gap(1_600, 19_200, .paused), gap(20_800, 36_800, .microphone)])
        #expect(result.length == SamplePosition(38_400))
    }

    @Test("samples lost during a pause belong to the pause; samples lost after it do not")
    func overruns() async throws {
        let lost: [ScriptedMicrophone.Step] = [.lost(800), setPaused(false), .lost(400)]
        let steps = [block(0), [setPaused(true)], block(1), lost, block(2), [.ended]].flatMap { $0 }
        let result = try await run(steps)
        #expect(result.gaps == [gap(1_600, 4_000, .paused), gap(4_000, 4_400, .overrun)])
        #expect(try samples(of: path).suffix(1_600) == numbered(from: 3_200, 1_600))
    }

    @Test("after a rewind, the ring returns pauses and other losses again, but never a final pause")
    func rewinds() throws {
        let ring = SampleRing(capacity: 100)
        func put(_ count: Int) { [Int16](repeating: 7, count: count).withUnsafeBufferPointer { _ = ring.put($0) } }
        put(3)
        ring.addLoss(5, cause: .paused)
        ring.addLoss(2, cause: .overrun)
        put(1)
        ring.addLoss(9, cause: .paused)
        for _ in 1...2 {
            var elements: [String] = []
            let append = { (element: SampleRing.Element) in
                switch element {
                case .samples(let samples): elements.append("\(samples.count)")
                case .lost(let count, let cause): elements.append("\(cause.rawValue) \(count)")
                }
            }
            while ring.consume(append) {}
            ring.consumeRest(append)
            #expect(elements == ["3", "paused 5", "overrun 2", "1"])
            ring.rewind()
        }
    }
}
