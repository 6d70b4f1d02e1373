import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition
@testable import System

@Suite("Head start") struct HeadStartTests {
    init() { signal(SIGPIPE, SIG_IGN) }

    /// Returns chunks of half a second, as from a microphone.
    private static func chunks(_ samples: [Int16]) -> [AudioChunk] {
        stride(from: 0, to: samples.count, by: 8_000).map { start in
            .samples(Array(samples[start..<min(samples.count, start + 8_000)]))
        }
    }

    private static func transcribe(
        _ source: any AudioSource, with pool: WorkerPool, decodesDuringSpeech: Bool = true
    ) async throws -> CollectingSink {
        let sink = CollectingSink()
        var settings = Transcriber.Settings()
        settings.decodesDuringSpeech = decodesDuringSpeech
        _ = try await Transcriber(pool: pool, settings: settings).run(source, into: sink)
        return sink
    }

    @Test("the transcript does not depend on the head start", arguments: ["plain", "holed"], [1, 2])
    func sameTranscript(mode: String, workers: Int) async throws {
        let seed = SeededGenerator().seed
        // Short and long bursts, and half a minute that is cut during speech, because its pauses are too short to end
        // an utterance.
        let breath = Array(TranscriberTests.bursts([8], seed: seed).dropFirst(8_000).dropLast(4_800))
        let chunks = Self.chunks(
            TranscriberTests.bursts([12, 60, 3], seed: seed) + (0..<30).flatMap { _ in breath }
                + TranscriberTests.bursts([45, 100, 20], seed: seed))
        let whole = try await Self.transcribe(
            ListSource(chunks), with: TranscriberTests.pool(mode, size: workers), decodesDuringSpeech: false)
        let early = try await Self.transcribe(
            ListSource(chunks), with: TranscriberTests.pool(mode, size: workers))
        #expect(early.segments == whole.segments, "seed \(seed)")
        #expect(whole.segments.count > 7 && early.faults.isEmpty)
        #expect(whole.segments.contains { $0.endedBy == .rotation })
        // A segment has an additional word if its seam was bridged.
        #expect(whole.segments.contains { $0.words.count == 2 } == (mode == "holed"))
    }

    // wait: a timeout; the source would hang if the worker receives audio too late
    @Test("a worker receives an utterance before its end", .timeLimit(.minutes(60)))
    func earlyAudio() async throws {
        let folder = TemporaryFolder()
        let fifo = folder.file("heard")
        try #require(mkfifo(fifo, 0o600) == 0)
        let samples = TranscriberTests.bursts([60])
        // The source holds back the end of the speech until the worker has received the beginning.
        let source = HeldSource(
            first: Self.chunks(Array(samples.prefix(88_000))), last: .samples(Array(samples.dropFirst(88_000))),
            fifo: fifo)
        let sink = try await Self.transcribe(source, with: TranscriberTests.pool("heard", fifo))
        #expect(sink.segments.map(\.words.count) == [1])
    }

    @Test("no word is lost if a worker crashes during a head start", arguments: ["deaf", "once", "late"], [1, 2])
    func crash(mode: String, workers: Int) async throws {
        let folder = TemporaryFolder()
        let sink = try await Self.transcribe(
            ListSource(Self.chunks(TranscriberTests.bursts([60, 5, 50]))),
            with: TranscriberTests.pool(mode, folder.file("died"), size: workers))
        #expect(sink.segments.map(\.words.count) == [1, 1, 1])
        #expect(sink.faults.isEmpty)
    }

    @Test("an utterance on which every worker crashes is marked as an error, and later utterances are transcribed")
    func repeatedCrash() async throws {
        let sink = try await Self.transcribe(
            ListSource(Self.chunks(TranscriberTests.bursts([5, 60, 6]))), with: TranscriberTests.pool("never", size: 1))
        #expect(sink.segments.map(\.endedBy) == [.silence, .error, .silence])
        #expect(sink.faults.count == 1)
    }

    // wait: a timeout; without a free worker, the second run would hang
    @Test("if a source fails during an utterance, the worker is released", .timeLimit(.minutes(60)))
    func sourceFailure() async throws {
        let pool = TranscriberTests.pool("plain", size: 1)
        let chunks = Self.chunks(Array(TranscriberTests.bursts([80]).prefix(88_000)))
        await #expect(throws: DeviceError.self) {
            _ = try await Self.transcribe(FailingSource(chunks), with: pool)
        }
        let sink = try await Self.transcribe(ListSource(Self.chunks(TranscriberTests.bursts([5]))), with: pool)
        #expect(sink.segments.map(\.words.count) == [1])
    }
}

/// Holds back its last chunk until something is written to a FIFO.
private final class HeldSource: AudioSource {
    private let first: ListSource
    private let last: ListSource
    private let fifo: String

    init(first: [AudioChunk], last: AudioChunk, fifo: String) {
        self.first = ListSource(first)
        self.last = ListSource([last])
        self.fifo = fifo
    }

    func next() async throws -> AudioChunk? {
        if let chunk = await first.next() { return chunk }
        guard let chunk = await last.next() else { return nil }
        let fifo = fifo
        try await onThread(named: "fifo") {
            let file = try FileDescriptor(opening: fifo, O_RDONLY)
            var byte: UInt8 = 0
            _ = Glibc.read(file.number, &byte, 1)
        }
        return chunk
    }
}

/// Returns its chunks, then throws.
private final class FailingSource: AudioSource {
    private let list: ListSource

    init(_ chunks: [AudioChunk]) { list = ListSource(chunks) }

    func next() async throws -> AudioChunk? {
        if let chunk = await list.next() { return chunk }
        throw DeviceError(.failed, "read", "the disk was removed")
    }
}
