import Glibc
import Synchronization
import Testing
import TestKit

@testable import Audio
@testable import Core
@testable import System

@Suite struct PrerollTests {
    let folder = TemporaryFolder()

    private func settings() -> RecordingSession.Settings {
        var settings = RecordingSession.Settings()
        settings.realtimePriority = nil
        return settings
    }

    /// Keeps the preroll buffer running during `body`.
    private func running(_ microphone: PrerollMicrophone, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await microphone.run() }
            try await body()
            group.cancelAll()
        }
    }

    @Test("each of several recordings begins with the preroll, and no sample is lost or repeated")
    func beginsWithPreroll() async throws {
        let (ready, proceed) = (Wakeup(), Wakeup())
        var script: [ScriptedMicrophone.Step] = []
        for round in 0..<3 {
            script += [
                .samples(numbered(from: round * 48_000, 32_000)), .perform { ready.signal() },
                .perform { proceed.wait() },
                .samples(numbered(from: round * 48_000 + 32_000, 16_000)),
            ]
        }
        script += [.perform { proceed.wait() }]
        let microphone = PrerollMicrophone(ScriptedMicrophone(isRealTime: true, script), seconds: 1)
        #expect(microphone.prerollSeconds == 0)
        try await running(microphone) {
            for round in 0..<3 {
                try await waitForSignal(ready)
                #expect(microphone.prerollSeconds == 1)
                let path = folder.file("\(round).wav")
                // The script continues once the preroll has been written.
                let log = RecordingLog { if $0 == .written(16_000) { proceed.signal() } }
                var settings = settings()
                settings.length = SamplePosition(32_000)
                let session = ScriptedRecording(microphone: microphone, path: path, settings: settings, sink: log)
                let result = try await session.run()
                #expect(result.gaps == [])
                #expect(result.length == SamplePosition(32_000))
                #expect(try samples(of: path) == numbered(from: round * 48_000 + 16_000, 32_000))
            }
            proceed.signal()
        }
    }

    @Test("a loss while idle shortens the preroll; a loss while recording is a gap")
    func losses() async throws {
        let (ready, proceed) = (Wakeup(), Wakeup())
        let microphone = PrerollMicrophone(
            ScriptedMicrophone(
                isRealTime: true,
                [
                    .samples(numbered(8_000)), .lost(500), .samples(numbered(from: 8_500, 1_500)),
                    .perform { ready.signal() }, .perform { proceed.wait() }, .lost(700),
                    .samples(numbered(from: 10_700, 300)), .perform { proceed.wait() },
                ]), seconds: 1)
        try await running(microphone) {
            try await waitForSignal(ready)
            let log = RecordingLog { if $0 == .written(1_500) { proceed.signal() } }
            var settings = settings()
            settings.length = SamplePosition(2_500)
            let path = folder.file("audio.wav")
            let result = try await ScriptedRecording(
                microphone: microphone, path: path, settings: settings, sink: log
            ).run()
            #expect(result.gaps == [gap(1_500, 2_200, .overrun)])
            #expect(
                try samples(of: path)
                    == numbered(from: 8_500, 1_500) + [Int16](repeating: 0, count: 700) + numbered(from: 10_700, 300))
            proceed.signal()
        }
    }

    @Test("a microphone that fails during a recording is reopened, and the outage is a gap")
    func outage() async throws {
        let unplugged = DeviceError(.disconnected, "snd_pcm_readi", "scripted: is gone")
        let (ready, proceed) = (Wakeup(), Wakeup())
        let microphone = PrerollMicrophone(
            ScriptedMicrophone(
                isRealTime: true,
                [
                    .samples(numbered(1_000)), .perform { ready.signal() }, .perform { proceed.wait() },
                    .samples(numbered(from: 1_000, 500)), .failure(unplugged), .refusal(unplugged),
                    .samples(numbered(from: 1_500, 500)), .perform { proceed.wait() },
                ]), seconds: 1)
        try await running(microphone) {
            try await waitForSignal(ready)
            let stopper = SessionHolder()
            let log = RecordingLog { entry in
                if entry == .written(1_000) { proceed.signal() }
                // The samples after the gap are the last ones.
                if entry == .recovered("disconnected") { stopper.stop() }
            }
            let path = folder.file("audio.wav")
            let session = ScriptedRecording(microphone: microphone, path: path, settings: settings(), sink: log)
            stopper.session.withLock { $0 = session.session }
            let result = try await session.run()
            #expect(result.reason == .button)
            #expect(result.gaps.map(\.cause) == [.microphone])
            let lost = try #require(result.gaps.first)
            #expect(lost.range.start == SamplePosition(1_500))
            #expect(result.length == lost.range.end + 500)
            let reader = try RecordingReader(path: path)
            #expect(try samples(of: reader, at: .zero, count: 1_500) == numbered(1_500))
            #expect(try samples(of: reader, at: lost.range.end, count: 600) == numbered(from: 1_500, 500))
            proceed.signal()
        }
    }

    @Test("if there is no preroll or `run` is not running, the base microphone is used", arguments: [0.0, 5.0])
    func usesBaseMicrophone(seconds: Double) async throws {
        let microphone = PrerollMicrophone(
            ScriptedMicrophone(isRealTime: true, [.samples(numbered(100))]), seconds: seconds)
        let session = ScriptedRecording(
            microphone: microphone, path: folder.file("audio.wav"), settings: settings(), sink: RecordingLog())
        let result = try await session.run()
        #expect(result == RecordingResult(length: SamplePosition(100), reason: .ended))
    }

    @Test("if there is no preroll, `run` does not open the microphone, and returns on cancellation")
    func runsWithoutPreroll() async throws {
        let opened = Atomic<Bool>(false)
        let script: [ScriptedMicrophone.Step] = [.perform { opened.store(true, ordering: .relaxed) }]
        let microphone = PrerollMicrophone(ScriptedMicrophone(isRealTime: true, script), seconds: 0)
        try await running(microphone) { #expect(microphone.failure == nil) }
        let wasOpened = opened.load(ordering: .relaxed)
        #expect(!wasOpened)
    }

    @Test("a microphone that cannot be opened reports why each time")
    func cannotOpen() async throws {
        let missing = DeviceError(.missing, "snd_pcm_open", "scripted: is not there; plug it in")
        let refusals = [ScriptedMicrophone.Step](repeating: .refusal(missing), count: 1_000)
        let microphone = PrerollMicrophone(ScriptedMicrophone(isRealTime: true, refusals), seconds: 1)
        try await running(microphone) {
            for _ in 1...2 {
                let session = ScriptedRecording(
                    microphone: microphone, path: folder.file("audio.wav"), settings: settings(), sink: RecordingLog())
                await #expect(throws: missing) { try await session.run() }
                #expect(microphone.failure == missing)
            }
        }
    }

    @Test("two recordings cannot use the microphone at the same time")
    func busy() async throws {
        let (ready, proceed) = (Wakeup(), Wakeup())
        let microphone = PrerollMicrophone(
            ScriptedMicrophone(
                isRealTime: true,
                [.samples(numbered(100)), .perform { ready.signal() }, .perform { proceed.wait() }, .samples([1])]),
            seconds: 1)
        try await running(microphone) {
            try await blocking {
                ready.wait()
                let first = try microphone.open()
                let error = thrown { _ = try microphone.open() }
                #expect(error?.code == .busy)
                #expect(first.prerollSamples == 100)
            }
            try await blocking {
                let second = try microphone.open()
                #expect(second.prerollSamples == 100)
            }
            proceed.signal()
        }
    }
}
