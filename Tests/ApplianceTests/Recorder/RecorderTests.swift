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

    /// A recorder without a model, which saves only audio.
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

    /// A microphone that delivers something, then nothing until released, then endless audio.
    private static func held(_ goOn: Wakeup) -> ScriptedMicrophone {
        let steps: [ScriptedMicrophone.Step] = [
            .samples(numbered(3_200)), .perform { goOn.wait() }, .forever(numbered(160)),
        ]
        return ScriptedMicrophone(isRealTime: true, steps)
    }

    /// Posts an order, finishes `posted`, and waits for the answer.
    private static func order(
        _ order: RecorderOrder, of recorder: Recorder, posted: AsyncStream<Void>.Continuation
    ) async -> Result<Recorder.Answer, DeviceError> {
        await withCheckedContinuation { reply in
            recorder.inbox.post(.order(order, .now, reply))
            posted.finish()
        }
    }

    @Test("stop, start, stop: the start is cancelled while the file is still being closed")
    func stopStartStop() async throws {
        let goOn = Wakeup()
        let recorder = try recorder(Self.held(goOn))
        async let running: Void = recorder.run()
        #expect(try await recorder.perform(.start).get().recording == 1)
        async let first = recorder.perform(.stop)
        try await eventually("the stop") { recorder.snapshot.state == .stopping }
        let (posts, posted) = AsyncStream<Void>.makeStream()
        async let second = Self.order(.start, of: recorder, posted: posted)
        for await _ in posts {}
        async let third = recorder.perform(.stop)
        let takenBack = await second
        #expect(throws: DeviceError.self) { try takenBack.get() }
        goOn.signal()
        #expect(try await first.get().recording == 1)
        #expect(try await third.get().recording == 1)
        #expect(recorder.snapshot.live == nil)
        await recorder.stop()
        await running
        #expect(try await recorder.archive.recordings().map(\.id) == [1])
    }

    @Test("a running recording is listed as such, with its length, and its text is incomplete")
    func listed() async throws {
        let goOn = Wakeup()
        let recorder = try recorder(Self.held(goOn))
        let handler = RecorderHandler(recorder: recorder)
        @Sendable func listed() async throws -> RecordingSummary? {
            try await handler.respond(to: .archive(.list, directory: nil)).recordings?.first
        }
        async let running: Void = recorder.run()
        #expect(try await listed() == nil)
        let started = try await handler.respond(to: .order(.start))
        #expect(started.line(after: .start) == "recording 1" && started.change == .started)
        let summary = try #require(try await listed())
        #expect(summary.live?.state == .recording && summary.live.map { $0.length > .zero } == true)
        let shown = try await handler.respond(to: .archive(.show(recording: 1), directory: nil)).transcript
        #expect(shown?.summary.live?.state == .recording && shown?.timeline.unwritten?.start == .zero)
        #expect(try await handler.respond(to: .order(.pause)).line(after: .pause) == "paused 1")
        #expect(try await listed()?.live?.state == .paused)
        #expect(try await handler.respond(to: .order(.start)).line(after: .start) == "recording 1, resumed")
        #expect(
            try await handler.respond(to: .order(.resume)).line(after: .resume) == "recording 1; nothing was paused")
        async let stop = handler.respond(to: .order(.stop))
        try await eventually("the stop") { recorder.snapshot.state == .stopping }
        #expect(try await listed()?.live?.state == .stopping)
        goOn.signal()
        let stopped = try await stop
        #expect(stopped.line(after: .stop) == "stopped 1" && stopped.change == .stopped)
        try await eventually("its end") { try await listed()?.stopReason == .command }
        #expect(try await listed()?.live == nil)
        await recorder.stop()
        await running
    }

    @Test("while a recording runs or is paused, doctor knows who uses the microphone")
    func microphoneIsOurs() async throws {
        let recorder = try recorder()
        var configuration = Configuration()
        configuration.control.socket = folder.file("control.sock")
        let socket = ControlSocket(configuration.control, handler: RecorderHandler(recorder: recorder)) { _ in }
        async let running: Void = recorder.run()
        async let serving: Void = socket.run()
        let asked = configuration
        func isOurs() async throws -> Bool { try await blocking { doctorMicrophoneIsOurs(asked) } }
        try await eventually("the socket") { isTaken(asked.control.socket) }
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

    @Test("three presses in a pause redact speech before the pause")
    func redactInPause() async throws {
        let (spoken, goOn, over) = (Wakeup(), Wakeup(), Wakeup())
        let wait: ScriptedMicrophone.Step = .perform {
            spoken.signal()
            goOn.wait()
        }
        // Two minutes, a pause of 70 s, and a little more, unpaced.
        func seconds(_ count: Int) -> [ScriptedMicrophone.Step] {
            [ScriptedMicrophone.Step](repeating: .samples(numbered(1_600)), count: 10 * count)
        }
        let end: ScriptedMicrophone.Step = .perform {
            spoken.signal()
            over.wait()
        }
        func heard() async throws { try await onThread(named: "test") { _ = spoken.wait() } }
        let microphone = ScriptedMicrophone(seconds(120) + [wait] + seconds(70) + [wait] + seconds(1) + [end, .ended])
        let recorder = try recorder(microphone)
        async let running: Void = recorder.run()
        #expect(try await recorder.perform(.start).get().recording == 1)
        try await heard()
        let live = try #require(recorder.snapshot.live)
        live.session.setPaused(true)
        goOn.signal()
        try await heard()
        // In the pause, then after it, as if the first of three presses had ended it.
        try await recorder.redactMinute(before: PanelController.now, of: 1)
        let before = SampleRange(SamplePosition(seconds: 60), SamplePosition(seconds: 120))
        #expect(try await recorder.archive.gaps(of: 1).redacted == [before])
        live.session.setPaused(false)
        goOn.signal()
        try await heard()
        try await recorder.redactMinute(before: PanelController.now - .milliseconds(2_000), of: 1)
        #expect(try await recorder.archive.gaps(of: 1).redacted == [before])
        over.signal()
        await recorder.stop()
        await running
    }

    @Test("every fault reaches status and lamp, even if there are many and a subscriber does not read")
    func floodOfFaults() async throws {
        let recorder = try recorder(ScriptedMicrophone([.ended]))
        // Nobody reads the journal, and a client reads nothing.
        let client = recorder.hub.events(withPartials: false)
        for number in 1...5_000 { recorder.hub.publish(.fault(code: "flood", message: "\(number)")) }
        async let running: Void = recorder.run()
        try await eventually("the last fault") { recorder.snapshot.lastFault?.message == "5000" }
        #expect(recorder.snapshot.state == .faulted)
        #expect(try await recorder.perform(.stop).get() == Recorder.Answer(state: .faulted))
        withExtendedLifetime(client) {}
        await recorder.stop()
        await running
        #expect(recorder.snapshot.lastFault?.message == "5000")
    }

    @Test("callers that wait during shutdown get an error, and so do later ones")
    func ends() async throws {
        let goOn = Wakeup()
        let recorder = try recorder(Self.held(goOn))
        async let running: Void = recorder.run()
        _ = try await recorder.perform(.start).get()
        async let stopped = recorder.perform(.stop)
        try await eventually("the stop") { recorder.snapshot.state == .stopping }
        async let queued = recorder.perform(.start)
        async let ended: Void = recorder.stop()
        let refused = await queued
        #expect(throws: DeviceError.self) { try refused.get() }
        goOn.signal()
        _ = await stopped
        await ended
        await running
        let late = await recorder.perform(.start)
        #expect(throws: DeviceError.self) { try late.get() }
        #expect(await recorder.isAlive())
        #expect(try await recorder.archive.recordings().map(\.stopReason) == [.command])
    }

    @Test("concurrent starts and stops end in the state of the last one, and each is answered once")
    func storm() async throws {
        let recorder = try recorder()
        async let running: Void = recorder.run()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    let order: RecorderOrder = number.isMultiple(of: 2) ? .toggle : .start
                    _ = await recorder.perform(order)
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
