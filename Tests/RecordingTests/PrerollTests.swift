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

    /// Listens while `body` runs.
    private func listening(_ microphone: PrerollMicrophone, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await microphone.run() }
            try await body()
            group.cancelAll()
        }
    }

    @Test("a recording begins with the preroll, without a lost or doubled sample, repeatedly")
    func joint() async throws {
        let (heard, goOn) = (Wakeup(), Wakeup())
        var script: [ScriptedMicrophone.Step] = []
        for turn in 0..<3 {
            script += [
                .samples(numbered(from: turn * 48_000, 32_000)), .perform { heard.signal() }, .perform { goOn.wait() },
                .samples(numbered(from: turn * 48_000 + 32_000, 16_000)),
            ]
        }
        script += [.perform { goOn.wait() }]
        let microphone = PrerollMicrophone(ScriptedMicrophone(isRealTime: true, script), seconds: 1)
        #expect(microphone.prerollSeconds == 0)
        try await listening(microphone) {
            for turn in 0..<3 {
                try await signalled(heard)
                #expect(microphone.prerollSeconds == 1)
                let path = folder.file("\(turn).wav")
                // Its first samples are in the past; the script continues once they are written.
                let log = RecordingLog { if $0 == .written(16_000) { goOn.signal() } }
                var settings = settings()
                settings.length = SamplePosition(32_000)
                let session = ScriptedRecording(microphone: microphone, path: path, settings: settings, sink: log)
                let result = try await session.run()
                #expect(result.gaps == [])
                #expect(result.length == SamplePosition(32_000))
                #expect(try samples(of: path) == numbered(from: turn * 48_000 + 16_000, 32_000))
            }
            goOn.signal()
        }
    }

    @Test("a loss while idle shortens the preroll; a loss while recording is a gap")
    func losses() async throws {
        let (heard, goOn) = (Wakeup(), Wakeup())
        let microphone = PrerollMicrophone(
            ScriptedMicrophone(
                isRealTime: true,
                [
                    .samples(numbered(8_000)), .lost(500), .samples(numbered(from: 8_500, 1_500)),
                    .perform { heard.signal() }, .perform { goOn.wait() }, .lost(700),
                    .samples(numbered(from: 10_700, 300)), .perform { goOn.wait() },
                ]), seconds: 1)
        try await listening(microphone) {
            try await signalled(heard)
            let log = RecordingLog { if $0 == .written(1_500) { goOn.signal() } }
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
            goOn.signal()
        }
    }

    @Test("a microphone that fails during a recording is an outage, and is reopened")
    func outage() async throws {
        let unplugged = DeviceError(.disconnected, "snd_pcm_readi", "scripted: is gone")
        let (heard, goOn) = (Wakeup(), Wakeup())
        let microphone = PrerollMicrophone(
            ScriptedMicrophone(
                isRealTime: true,
                [
                    .samples(numbered(1_000)), .perform { heard.signal() }, .perform { goOn.wait() },
                    .samples(numbered(from: 1_000, 500)), .failure(unplugged), .refusal(unplugged),
                    .samples(numbered(from: 1_500, 500)), .perform { goOn.wait() },
                ]), seconds: 1)
        try await listening(microphone) {
            try await signalled(heard)
            let stopper = Stopper()
            let log = RecordingLog { entry in
                if entry == .written(1_000) { goOn.signal() }
                // The rest comes after the gap, at the end.
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
            goOn.signal()
        }
    }

    @Test("with 0 seconds, or while not running, it is the base microphone", arguments: [0.0, 5.0])
    func closed(seconds: Double) async throws {
        let microphone = PrerollMicrophone(
            ScriptedMicrophone(isRealTime: true, [.samples(numbered(100))]), seconds: seconds)
        let session = ScriptedRecording(
            microphone: microphone, path: folder.file("audio.wav"), settings: settings(), sink: RecordingLog())
        let result = try await session.run()
        #expect(result == RecordingResult(length: SamplePosition(100), reason: .ended))
    }

    @Test("run with 0 seconds leaves the microphone closed and ends on cancellation")
    func runsClosed() async throws {
        let opened = Atomic<Bool>(false)
        let script: [ScriptedMicrophone.Step] = [.perform { opened.store(true, ordering: .relaxed) }]
        let microphone = PrerollMicrophone(ScriptedMicrophone(isRealTime: true, script), seconds: 0)
        try await listening(microphone) { #expect(microphone.failure == nil) }
        let wasOpened = opened.load(ordering: .relaxed)
        #expect(!wasOpened)
    }

    @Test("a microphone that cannot be opened reports why each time")
    func refuses() async throws {
        let missing = DeviceError(.missing, "snd_pcm_open", "scripted: is not there; plug it in")
        let refusals = [ScriptedMicrophone.Step](repeating: .refusal(missing), count: 1_000)
        let microphone = PrerollMicrophone(ScriptedMicrophone(isRealTime: true, refusals), seconds: 1)
        try await listening(microphone) {
            for _ in 1...2 {
                let session = ScriptedRecording(
                    microphone: microphone, path: folder.file("audio.wav"), settings: settings(), sink: RecordingLog())
                await #expect(throws: missing) { try await session.run() }
                #expect(microphone.failure == missing)
            }
        }
    }

    @Test("two recordings cannot use it at the same time")
    func busy() async throws {
        let (heard, goOn) = (Wakeup(), Wakeup())
        let microphone = PrerollMicrophone(
            ScriptedMicrophone(
                isRealTime: true,
                [.samples(numbered(100)), .perform { heard.signal() }, .perform { goOn.wait() }, .samples([1])]),
            seconds: 1)
        try await listening(microphone) {
            try await blocking {
                heard.wait()
                let first = try microphone.open()
                let error = thrown { _ = try microphone.open() }
                #expect(error?.code == .busy)
                #expect(first.prerollSamples == 100)
            }
            try await blocking {
                let second = try microphone.open()
                #expect(second.prerollSamples == 100)
            }
            goOn.signal()
        }
    }
}
