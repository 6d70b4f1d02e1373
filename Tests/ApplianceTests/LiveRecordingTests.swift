import FoundationEssentials
import Synchronization
import Testing
import TestKit

@testable import Appliance
@testable import Archive
@testable import Audio
@testable import Core
@testable import Settings
@testable import System

@Suite struct LiveRecordingTests {
    let folder = TemporaryFolder()

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.storage.directory = folder.path
        configuration.storage.reserveMegabytes = 16
        return configuration
    }

    @Test(
        "a bookmark at the current position is saved and published; faults and syncs are reported"
    )
    func marks() async throws {
        let archive = try SQLiteArchive(path: configuration.archivePath)
        let hub = EventHub()
        var events = hub.events(withPartials: false).makeAsyncIterator()
        let (delivered, release) = (Wakeup(), Wakeup())
        let unplugged = DeviceError(.disconnected, "snd_pcm_readi", "scripted: is gone; plug it in")
        let microphone = ScriptedMicrophone(
            isRealTime: true,
            [
                .samples(numbered(3_000)), .perform { delivered.signal() }, .perform { release.wait() },
                .failure(unplugged),
            ] + [ScriptedMicrophone.Step](repeating: .refusal(unplugged), count: 1_000))
        let recording = try await LiveRecording(
            configuration: configuration, archive: archive,
            capture: RecordingSession(microphone, configuration: configuration), hub: hub)
        #expect(FileManager.default.fileExists(atPath: folder.file("ballast")))
        #expect(recording.observer.syncedAt == nil)
        #expect(recording.position == .zero)
        async let running = recording.run(pool: nil, alternatives: 1)
        try await waitForSignal(delivered)
        #expect(recording.microphoneIsAlive)
        let mark = try await recording.mark("here")
        #expect(mark == Bookmark(SamplePosition(3_000), text: "here"))
        release.signal()
        var reported: [Event] = []
        while let event = await events.next() {
            reported.append(event)
            if case .fault = event { break }
        }
        #expect(
            reported == [
                .state(.recording), .mark(recording: recording.id, mark: mark),
                .fault(
                    code: "disconnected",
                    message: "scripted: is gone; plug it in; the recording continues when it is back"),
            ])
        #expect(!recording.microphoneIsAlive)
        recording.stop(reason: .button)
        let outcome = try await running
        #expect(outcome.recording.reason == .button)
        #expect((recording.observer.syncedAt ?? .zero) > .zero)
        let (summary, timeline) = try #require(try await archive.transcript(of: recording.id))
        #expect(timeline.marks == [mark])
        #expect(summary.length == outcome.recording.length)
    }

    @Test("if less than the reserve is free, no recording starts and no number is used")
    func belowReserve() async throws {
        var configuration = configuration
        configuration.storage.reserveMegabytes = 1_000_000_000
        let archive = try SQLiteArchive(path: configuration.archivePath)
        do {
            _ = try await LiveRecording(
                configuration: configuration, archive: archive,
                capture: RecordingSession(ScriptedMicrophone([.samples([1])]), configuration: configuration),
                hub: EventHub())
            Issue.record("a recording began")
        } catch let error as DeviceError {
            #expect(error.code == .full)
        }
        #expect(try await archive.recordings() == [])
    }

    @Test("if the disk is full, saving how the recording ended waits for space, and the fault is reported once")
    func endsOnFullDisk() async throws {
        let archive = try SQLiteArchive(path: configuration.archivePath)
        let hub = EventHub()
        let events = hub.events(withPartials: false)
        let full = FullArchive(archive: archive, refusals: 2)
        let recording = try await LiveRecording(
            configuration: configuration, archive: full,
            capture: RecordingSession(ScriptedMicrophone([.samples(numbered(3_000))]), configuration: configuration),
            hub: hub)
        let outcome = try await recording.run(pool: nil, alternatives: 1, waitsForSpace: true)
        hub.finish()
        #expect(outcome.recording.length == SamplePosition(3_000))
        let (summary, _) = try #require(try await archive.transcript(of: recording.id))
        #expect(summary.length == SamplePosition(3_000) && summary.stopReason == .ended)
        var reported: [String] = []
        for await event in events { if case .fault(let code, _) = event { reported.append(code) } }
        #expect(reported == ["full"])
        #expect(await full.refusals == 0)
    }

    @Test("if the recording does not wait for space, a full disk is an error, and the audio is complete")
    func failsOnFullDisk() async throws {
        let archive = try SQLiteArchive(path: configuration.archivePath)
        let recording = try await LiveRecording(
            configuration: configuration, archive: FullArchive(archive: archive, refusals: 1),
            capture: RecordingSession(ScriptedMicrophone([.samples(numbered(3_000))]), configuration: configuration),
            hub: EventHub())
        do {
            _ = try await recording.run(pool: nil, alternatives: 1)
            Issue.record("a full disk was not reported")
        } catch let error as DeviceError {
            #expect(error.code == .full)
        }
        #expect(try RecordingRepair.run(path: recording.folder.audio).length == SamplePosition(3_000))
    }

    @Test("the start time of a recording is earlier by the length of the pre-roll")
    func preroll() async throws {
        let archive = try SQLiteArchive(path: configuration.archivePath)
        let before = MonotonicClock.wallSeconds
        let recording = try await LiveRecording(
            configuration: configuration, archive: archive,
            capture: RecordingSession(PrerollMicrophone(), configuration: configuration), hub: EventHub())
        let after = MonotonicClock.wallSeconds
        let start = try #require(try await archive.recordings().first).startedAt
        // wait: compares the order of three times, not their differences
        #expect(before - 1_000 <= start && start <= after - 1_000)
        #expect(recording.id == 1)
    }

    @Test("audio captured before the file exists is in the recording")
    func prerollSamples() async throws {
        let archive = try SQLiteArchive(path: configuration.archivePath)
        let delivered = Wakeup()
        let capture = RecordingSession(
            ScriptedMicrophone([.samples(numbered(3_000)), .perform { delivered.signal() }, .samples(numbered(2_000))]),
            configuration: configuration)
        async let captured: Void = capture.capture()
        try await waitForSignal(delivered)
        let recording = try await LiveRecording(
            configuration: configuration, archive: archive, capture: capture, hub: EventHub())
        let outcome = try await recording.run(pool: nil, alternatives: 1)
        try await captured
        #expect(outcome.recording.length == SamplePosition(5_000))
    }

    @Test("levels are reported only while there is a listener, which may be added during the recording")
    func levels() async throws {
        let archive = try SQLiteArchive(path: configuration.archivePath)
        let hub = EventHub()
        let (firstPart, secondPart, release) = (Wakeup(), Wakeup(), Wakeup())
        let microphone = ScriptedMicrophone(
            [.samples(numbered(16_000)), .perform { firstPart.signal() }, .perform { release.wait() }]
                + [.samples(numbered(16_000)), .perform { secondPart.signal() }, .perform { release.wait() }]
                + [.samples(numbered(16_000))])
        let recording = try await LiveRecording(
            configuration: configuration, archive: archive,
            capture: RecordingSession(microphone, configuration: configuration), hub: hub)
        async let running = recording.run(pool: nil, alternatives: 1)
        try await waitForSignal(firstPart)
        #expect(await recording.waitUntilWritten(upTo: SamplePosition(16_000)))
        do {
            var events = hub.events(withPartials: true).makeAsyncIterator()
            release.signal()
            var count = 0
            while count < 10, let event = await events.next() { if case .level = event { count += 1 } }
            #expect(count == 10)
        }
        #expect(!hub.wantsPartials)
        try await waitForSignal(secondPart)
        release.signal()
        #expect(try await running.recording.length == SamplePosition(48_000))
    }
}

/// A microphone with 1,000 s of pre-roll that is never opened.
private struct PrerollMicrophone: MicrophoneProvider {
    let name = "preroll:"
    let isRealTime = true
    let prerollSeconds = 1_000.0

    func open() throws(DeviceError) -> any Microphone { throw DeviceError(.missing, "open", "preroll: a test") }
}

@Suite struct EventHubTests {
    private func rotation(_ number: Int) -> Event { .rotation(recording: 1, at: SamplePosition(Int64(number))) }
    private let level = Event.level(rms: -20, peak: -10)

    @Test("each listener gets all events in order, but volatile events only on request")
    func deliversInOrder() async {
        let hub = EventHub()
        let (withPartials, withoutPartials) = (hub.events(withPartials: true), hub.events(withPartials: false))
        for event in [rotation(1), level, rotation(2)] { hub.publish(event) }
        hub.finish()
        hub.publish(rotation(3))
        #expect(await withPartials.reduce(into: []) { $0.append($1) } == [rotation(1), level, rotation(2)])
        #expect(await withoutPartials.reduce(into: []) { $0.append($1) } == [rotation(1), rotation(2)])
    }

    @Test("a listener that does not read loses only volatile events at first")
    func dropsVolatile() async {
        let hub = EventHub()
        let events = hub.events(withPartials: true)
        for number in 0..<1_000 {
            hub.publish(rotation(number))
            for _ in 0..<10 { hub.publish(level) }
        }
        hub.finish()
        let received = await events.reduce(into: [Event]()) { $0.append($1) }
        #expect(received.count <= EventQueue.capacity)
        #expect(received.filter { $0 != level } == (0..<1_000).map(rotation))
    }

    @Test("a listener that falls too far behind gets its queued events, and then its sequence ends")
    func dropsSlowListener() async {
        let hub = EventHub()
        let (slow, other) = (hub.events(withPartials: false), hub.events(withPartials: false))
        for number in 0..<EventQueue.capacity { hub.publish(rotation(number)) }
        var iterator = other.makeAsyncIterator()
        for number in 0..<EventQueue.capacity { #expect(await iterator.next() == rotation(number)) }
        for number in EventQueue.capacity..<2_000 { hub.publish(rotation(number)) }
        #expect(await slow.reduce(into: [Event]()) { $0.append($1) } == (0..<EventQueue.capacity).map(rotation))
        #expect(await iterator.next() == rotation(EventQueue.capacity))
    }

    @Test("the interceptor gets all published events, even if listeners are far behind")
    func interceptor() async {
        let received = Mutex<[Event]>([])
        let hub = EventHub { event in received.withLock { $0.append(event) } }
        let slow = hub.events(withPartials: false)
        for number in 0..<2 * EventQueue.capacity { hub.publish(rotation(number)) }
        hub.forward(rotation(9_999))
        #expect(received.withLock { $0 } == (0..<2 * EventQueue.capacity).map(rotation))
        #expect(await slow.reduce(0) { count, _ in count + 1 } == EventQueue.capacity)
    }

    @Test("an event, the end of the hub, and a cancellation resume a waiting listener")
    func resumesListeners() async {
        let hub = EventHub()
        async let first = hub.events(withPartials: false).first { _ in true }
        while !hub.hasListeners { await Task.yield() }
        hub.publish(rotation(1))
        #expect(await first == rotation(1))
        while hub.hasListeners { await Task.yield() }

        let cancelled = Task { await hub.events(withPartials: true).first { _ in true } }
        while !hub.wantsPartials { await Task.yield() }
        cancelled.cancel()
        #expect(await cancelled.value == nil)
        #expect(!hub.hasListeners)

        let ended = Task { await hub.events(withPartials: false).first { _ in true } }
        while !hub.hasListeners { await Task.yield() }
        hub.finish()
        #expect(await ended.value == nil)
    }
}

/// A real archive that first fails a few times to save how a recording ended, as on a full disk.
private actor FullArchive: Archive {
    private let archive: SQLiteArchive
    private(set) var refusals: Int

    init(archive: SQLiteArchive, refusals: Int) {
        self.archive = archive
        self.refusals = refusals
    }

    func endRecording(_ id: Int, length: SamplePosition, reason: StopReason) async throws {
        if refusals > 0 {
            refusals -= 1
            throw DeviceError(.full, "sqlite3_step", "archive: no space is left; free space on that disk")
        }
        try await archive.endRecording(id, length: length, reason: reason)
    }

    func checkLocation() async throws { try archive.checkLocation() }

    func beginRecording(startedAt: Double, clock: RecordingSummary.Clock, microphone: String) async throws -> Int {
        try await archive.beginRecording(startedAt: startedAt, clock: clock, microphone: microphone)
    }
    func discard(recording id: Int) async throws { try await archive.discard(recording: id) }
    func beginPass(recording: Int, engine: EngineDescription, profile: String) async throws -> Int {
        try await archive.beginPass(recording: recording, engine: engine, profile: profile)
    }
    func setEngine(_ engine: EngineDescription, ofPass pass: Int, recording: Int) async throws {
        try await archive.setEngine(engine, ofPass: pass, recording: recording)
    }
    func endPass(_ pass: Int, recording: Int) async throws { try await archive.endPass(pass, recording: recording) }
    func commit(_ segments: [Segment], adaptation: AdaptationState?, pass: Int, recording: Int) async throws {
        try await archive.commit(segments, adaptation: adaptation, pass: pass, recording: recording)
    }
    func markTranscribed(upTo position: SamplePosition, recording: Int) async throws {
        try await archive.markTranscribed(upTo: position, recording: recording)
    }
    func add(_ gap: Gap, recording: Int) async throws { try await archive.add(gap, recording: recording) }
    func add(_ mark: Bookmark, recording: Int) async throws { try await archive.add(mark, recording: recording) }
    func recordings() async throws -> [RecordingSummary] { try await archive.recordings() }
    func passes(of recording: Int) async throws -> [PassSummary] { try await archive.passes(of: recording) }
    func transcript(of recording: Int, pass: Int) async throws -> (RecordingSummary, Timeline)? {
        try await archive.transcript(of: recording, pass: pass)
    }
    func transcript(of recording: Int) async throws -> (RecordingSummary, Timeline)? {
        try await archive.transcript(of: recording)
    }
    func shownPass(of recording: Int) async throws -> PassSummary? { try await archive.shownPass(of: recording) }
    func search(_ words: String, limit: Int) async throws -> [SearchHit] {
        try await archive.search(words, limit: limit)
    }
    func history(of recording: Int?) async throws -> [HistoryLine] { try await archive.history(of: recording) }
}
