import Synchronization
import Testing
import TestKit

@testable import Appliance
@testable import Archive
@testable import Core
@testable import Settings
@testable import System

@Suite("The recorder", .serialized) struct RecorderTests {
    private let folder = TemporaryFolder()

    /// Creates a recorder without a model, which stores only audio.
    private func recorder(_ microphone: (any MicrophoneProvider)? = nil) throws -> Recorder {
        var configuration = Configuration()
        configuration.capture.device = "tone:440"
        configuration.storage.directory = folder.path
        configuration.storage.reserveMegabytes = 1
        configuration.recognizer.engine = "pocketsphinx"
        configuration.recognizer.model = folder.file("no model")
        return try Recorder(
            configuration: configuration, archive: try SQLiteArchive(path: configuration.archivePath),
            microphone: microphone)
    }

    /// Creates a microphone that delivers 200 ms of audio, then nothing until `release`, then endless audio.
    private static func interruptedMicrophone(_ release: Wakeup) -> ScriptedMicrophone {
        let steps: [ScriptedMicrophone.Step] = [
            .samples(numbered(3_200)), .perform { release.wait() }, .forever(numbered(160)),
        ]
        return ScriptedMicrophone(isRealTime: true, steps)
    }

    /// Posts a command, finishes `posted`, and waits for the answer.
    private static func send(
        _ command: RecorderCommand, to recorder: Recorder, posted: AsyncStream<Void>.Continuation
    ) async -> Result<Recorder.Answer, DeviceError> {
        await withCheckedContinuation { reply in
            recorder.inbox.post(.command(command, .now, reply))
            posted.finish()
        }
    }

    @Test("stop, start, stop: the start is cancelled while the file is still being closed")
    func stopStartStop() async throws {
        let release = Wakeup()
        let recorder = try recorder(Self.interruptedMicrophone(release))
        async let running: Void = recorder.run()
        #expect(try await recorder.perform(.start).get().recording == 1)
        async let firstStop = recorder.perform(.stop)
        try await eventually("the stop") { recorder.snapshot.state == .stopping }
        let (posts, posted) = AsyncStream<Void>.makeStream()
        async let start = Self.send(.start, to: recorder, posted: posted)
        for await _ in posts {}
        async let secondStop = recorder.perform(.stop)
        let cancelled = await start
        #expect(throws: DeviceError.self) { try cancelled.get() }
        release.signal()
        #expect(try await firstStop.get().recording == 1)
        #expect(try await secondStop.get().recording == 1)
        #expect(recorder.snapshot.live == nil)
        await recorder.stop()
        await running
        #expect(try await recorder.archive.recordings().map(\.id) == [1])
    }

    @Test("a running recording is listed with its state and length, and its transcript is incomplete")
    func runningRecording() async throws {
        let release = Wakeup()
        let recorder = try recorder(Self.interruptedMicrophone(release))
        let handler = RecorderHandler(recorder: recorder)
        @Sendable func listedRecording() async throws -> RecordingSummary? {
            try await handler.respond(to: .archive(.list, directory: nil)).recordings?.first
        }
        async let running: Void = recorder.run()
        #expect(try await listedRecording() == nil)
        let started = try await handler.respond(to: .command(.start))
        #expect(started.line(after: .start) == "recording 1" && started.change == .started)
        let summary = try #require(try await listedRecording())
        #expect(summary.live?.state == .recording && summary.live.map { $0.length > .zero } == true)
        let shown = try await handler.respond(to: .archive(.show(recording: 1), directory: nil)).transcript
        #expect(shown?.summary.live?.state == .recording && shown?.timeline.untranscribed?.start == .zero)
        #expect(try await handler.respond(to: .command(.pause)).line(after: .pause) == "paused 1")
        #expect(try await listedRecording()?.live?.state == .paused)
        #expect(try await handler.respond(to: .command(.start)).line(after: .start) == "recording 1, resumed")
        #expect(
            try await handler.respond(to: .command(.resume)).line(after: .resume) == "recording 1; nothing was paused")
        async let stop = handler.respond(to: .command(.stop))
        try await eventually("the stop") { recorder.snapshot.state == .stopping }
        #expect(try await listedRecording()?.live?.state == .stopping)
        release.signal()
        let stopped = try await stop
        #expect(stopped.line(after: .stop) == "stopped 1" && stopped.change == .stopped)
        try await eventually("the recording's end") { try await listedRecording()?.stopReason == .command }
        #expect(try await listedRecording()?.live == nil)
        await recorder.stop()
        await running
    }

    @Test("while a recording runs or is paused, doctor knows that Fieldscribe uses the microphone")
    func microphoneIsOurs() async throws {
        let recorder = try recorder()
        var configuration = Configuration()
        configuration.control.socket = folder.file("control.sock")
        let socket = ControlSocket(configuration.control, handler: RecorderHandler(recorder: recorder)) { _ in }
        async let running: Void = recorder.run()
        async let serving: Void = socket.run()
        let configurationCopy = configuration
        func isOurs() async throws -> Bool { try await blocking { doctorMicrophoneIsOurs(configurationCopy) } }
        try await eventually("the socket") { pathExists(configurationCopy.control.socket) }
        #expect(try await !isOurs())
        _ = try await recorder.perform(.start).get()
        #expect(try await isOurs())
        _ = try await recorder.perform(.pause).get()
        #expect(try await isOurs())
        _ = try await recorder.perform(.stop).get()
        #expect(try await !isOurs())
        await socket.stop()
        await recorder.stop()
        try await serving
        await running
    }

    @Test("during a pause, redacting the last minute redacts the speech before the pause")
    func redactInPause() async throws {
        let (delivered, release, finish) = (Wakeup(), Wakeup(), Wakeup())
        let wait: ScriptedMicrophone.Step = .perform {
            delivered.signal()
            release.wait()
        }
        // Two minutes of sound, a pause of 70 s, and one more second, as fast as possible.
        func seconds(_ count: Int) -> [ScriptedMicrophone.Step] {
            [ScriptedMicrophone.Step](repeating: .samples(numbered(1_600)), count: 10 * count)
        }
        let end: ScriptedMicrophone.Step = .perform {
            delivered.signal()
            finish.wait()
        }
        func waitForSound() async throws { try await onThread(named: "test") { _ = delivered.wait() } }
        let microphone = ScriptedMicrophone(seconds(120) + [wait] + seconds(70) + [wait] + seconds(1) + [end, .ended])
        let recorder = try recorder(microphone)
        async let running: Void = recorder.run()
        #expect(try await recorder.perform(.start).get().recording == 1)
        try await waitForSound()
        let live = try #require(recorder.snapshot.live)
        live.session.setPaused(true)
        release.signal()
        try await waitForSound()
        // Redacts during the pause, and then after it, as if the first of three presses had ended the pause.
        try await recorder.redactMinute(before: PanelController.now, of: 1)
        let lastMinute = SampleRange(SamplePosition(seconds: 60), SamplePosition(seconds: 120))
        #expect(try await recorder.archive.gaps(of: 1).redacted == [lastMinute])
        live.session.setPaused(false)
        release.signal()
        try await waitForSound()
        try await recorder.redactMinute(before: PanelController.now - .milliseconds(2_000), of: 1)
        #expect(try await recorder.archive.gaps(of: 1).redacted == [lastMinute])
        finish.signal()
        await recorder.stop()
        await running
    }

    @Test("faults reach the status and the lamp, even if there are many and a subscriber does not read")
    func floodOfFaults() async throws {
        let recorder = try recorder(ScriptedMicrophone([.ended]))
        // Nobody reads the log, and this subscriber does not read its events.
        let subscriber = recorder.hub.events(withPartials: false)
        for number in 1...5_000 { recorder.hub.publish(.fault(code: "flood", message: "\(number)")) }
        async let running: Void = recorder.run()
        try await eventually("the last fault") { recorder.snapshot.lastFault?.message == "5000" }
        #expect(recorder.snapshot.state == .faulted)
        #expect(try await recorder.perform(.stop).get() == Recorder.Answer(state: .faulted))
        withExtendedLifetime(subscriber) {}
        await recorder.stop()
        await running
        #expect(recorder.snapshot.lastFault?.message == "5000")
    }

    @Test("a start that waits during a shutdown fails, and so does a later one")
    func shutdown() async throws {
        let release = Wakeup()
        let recorder = try recorder(Self.interruptedMicrophone(release))
        async let running: Void = recorder.run()
        _ = try await recorder.perform(.start).get()
        async let stopped = recorder.perform(.stop)
        try await eventually("the stop") { recorder.snapshot.state == .stopping }
        async let queued = recorder.perform(.start)
        async let ended: Void = recorder.stop()
        let refused = await queued
        #expect(throws: DeviceError.self) { try refused.get() }
        release.signal()
        _ = await stopped
        await ended
        await running
        let late = await recorder.perform(.start)
        #expect(throws: DeviceError.self) { try late.get() }
        #expect(await recorder.isAlive())
        #expect(try await recorder.archive.recordings().map(\.stopReason) == [.command])
    }

    @Test("concurrent starts and toggles are all answered, and a final stop leaves the recorder idle")
    func concurrentCommands() async throws {
        let recorder = try recorder()
        async let running: Void = recorder.run()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    let command: RecorderCommand = number.isMultiple(of: 2) ? .toggle : .start
                    _ = await recorder.perform(command)
                }
            }
            for await _ in group {}
        }
        _ = try await recorder.perform(.stop).get()
        #expect(recorder.snapshot.live == nil && recorder.snapshot.state != .recording)
        await recorder.stop()
        await running
    }
}
