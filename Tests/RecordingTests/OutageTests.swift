import Glibc
import Synchronization
import Testing
import TestKit

@testable import Audio
@testable import Core
@testable import System

/// A microphone that is unplugged during a recording, with a scripted clock.
@Suite struct OutageTests {
    let folder = TemporaryFolder()
    var path: String { folder.file("audio.wav") }
    let time = ManualTime()

    private static let unplugged = DeviceError(.disconnected, "snd_pcm_readi", status: ENODEV, "scripted: is gone")
    private static let missing = DeviceError(.missing, "snd_pcm_open", "scripted: is not there")

    private func session(
        _ steps: [ScriptedMicrophone.Step], length: SamplePosition? = nil, log: RecordingLog
    ) -> ScriptedRecording {
        var settings = RecordingSession.Settings()
        settings.realtimePriority = nil
        settings.length = length
        settings.clock = { [time] in time.nanoseconds }
        return ScriptedRecording(
            microphone: ScriptedMicrophone(isRealTime: true, steps), path: path, settings: settings, sink: log)
    }

    /// A block of 100 ms that arrives when it is complete.
    private func block(_ index: Int) -> [ScriptedMicrophone.Step] {
        [
            .perform { [time] in time.advance(milliseconds: 100) },
            .samples(numbered(from: index * 1600, 1600)),
        ]
    }

    @Test("the time without a microphone is one gap of the correct length, no matter which attempts fail")
    func comesBack() async throws {
        let log = RecordingLog()
        let wait: ScriptedMicrophone.Step = .perform { [time] in time.advance(milliseconds: 3_000) }
        let steps: [ScriptedMicrophone.Step] =
            block(0) + block(1) + [wait, .failure(Self.unplugged), .refusal(Self.missing), wait]
            + [.failure(Self.unplugged), wait] + block(2) + block(3) + [.ended]
        let result = try await session(steps, log: log).run()
        let end = Int64(3_200 + 9 * 16_000)
        #expect(result.gaps == [gap(3_200, end, .microphone)])
        #expect(result.reason == .ended)
        #expect(result.length == SamplePosition(end + 3_200))
        #expect(
            try samples(of: path)
                == numbered(3200) + [Int16](repeating: 0, count: 9 * 16_000) + numbered(from: 3200, 3200))
        let faults = log.entries.filter { [.fault("disconnected"), .recovered("disconnected")].contains($0) }
        #expect(faults == [.fault("disconnected"), .recovered("disconnected")])
        #expect(log.messages == ["scripted: is gone; the recording continues when it is back"])
    }

    @Test("a stop while the microphone is unplugged ends the recording immediately, with the gap up to then")
    func stopsWhileUnplugged() async throws {
        let stopper = SessionHolder()
        let log = RecordingLog { [time] entry in
            guard entry == .fault("disconnected") else { return }
            time.advance(milliseconds: 2_000)
            stopper.stop()
        }
        let refusals = [ScriptedMicrophone.Step](repeating: .refusal(Self.missing), count: 1_000)
        let session = session(block(0) + [.failure(Self.unplugged)] + refusals, log: log)
        stopper.session.withLock { $0 = session.session }
        let result = try await session.run()
        #expect(result.reason == .button)
        #expect(result.gaps == [gap(1_600, 33_600, .microphone)])
        #expect(result.length == SamplePosition(33_600))
        #expect(try RecordingReader(path: path).length == result.length)
    }

    @Test("a recording reaches its maximum length even while the microphone is unplugged")
    func lengthWhileUnplugged() async throws {
        let log = RecordingLog { [time] entry in
            if entry == .fault("disconnected") { time.advance(milliseconds: 60_000) }
        }
        let refusals = [ScriptedMicrophone.Step](repeating: .refusal(Self.missing), count: 1_000)
        let session = session(
            block(0) + [.failure(Self.unplugged)] + refusals, length: SamplePosition(16_000), log: log)
        let result = try await session.run()
        #expect(result.reason == .ended)
        #expect(result.gaps == [gap(1_600, 16_000, .microphone)])
        #expect(result.length == SamplePosition(16_000))
    }

    @Test(
        "a maximum length is exact to the sample, including losses and outages",
        arguments: [1_000, 2_500, 4_000, 30_000])
    func length(samples: Int64) async throws {
        let steps: [ScriptedMicrophone.Step] =
            block(0) + [.lost(1_000), .perform { [time] in time.advance(milliseconds: 1_000) }]
            + [.failure(Self.unplugged)] + block(1) + [.forever(numbered(1_600))]
        let result = try await session(steps, length: SamplePosition(samples), log: RecordingLog()).run()
        #expect(result.length == SamplePosition(samples))
        #expect(result.reason == .ended)
        #expect(try RecordingReader(path: path).length == result.length)
    }

    @Test("a microphone that is not real-time is not reopened: its failure ends the recording")
    func fileFails() async throws {
        let session = ScriptedRecording(
            microphone: ScriptedMicrophone([.samples([1]), .failure(Self.unplugged), .samples([2])]), path: path,
            sink: RecordingLog())
        let result = try await session.run()
        #expect(result.reason == .error)
        #expect(result.error == Self.unplugged)
        #expect(result.length == SamplePosition(1))
    }
}

/// Time that advances only on request.
final class ManualTime: Sendable {
    private let now = Atomic<Int64>(1_000_000_000)

    var nanoseconds: Int64 { now.load(ordering: .acquiring) }

    func advance(milliseconds: Int64) { now.wrappingAdd(milliseconds * 1_000_000, ordering: .acquiringAndReleasing) }
}
