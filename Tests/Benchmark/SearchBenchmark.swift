import Archive
import Core
import Glibc
import Synchronization
import System
import TestKit

/// Measures a large archive: the duration of searches, and the delay from a start to the first sample while other
/// clients search and verify.
struct SearchBenchmark {
    private static let rounds = 50
    /// The maximum delays: from a start to the first sample, in milliseconds, and from the appliance's start until it
    /// is ready, in seconds.
    private static let targets = (firstSample: StartDelay.target, ready: 10.0)
    private static let queries = ["the", "th", "the of", "word77", "the word4321", "w", "don't", "zebra"]

    let harness: Harness
    /// The folder for the archive, on the card to measure.
    let target: String
    let segments: Int
    let recordings: Int
    /// Whether recordings have folders, and segments have words and alternatives: about 2 GB for a million segments.
    var isComplete = false

    func run() throws {
        let storage = "\(target)/search-\(getpid())"
        let copies = "\(target)/copies-\(getpid())"
        let socket = "\(harness.folder)/search-\(getpid()).sock"
        defer { _ = try? MeasuredProcess(["rm", "-rf", storage, copies]) }
        let began = MonotonicClock.seconds
        try makeFolder(storage)
        let folders = ArchiveFolders(harness: harness, storage: storage, count: recordings)
        let journalBytes = isComplete ? try folders.makeFirst() : 0
        try fill("\(storage)/archive.sqlite", journalBytes: journalBytes)
        if isComplete { try folders.copyFirst() }
        let seconds = formatted(MonotonicClock.seconds - began, 0)
        print("created \(segments) segments in \(recordings) recordings: \(seconds) s\n")
        sync()
        if isComplete { print("\(folders.describeSize()), \(try folders.dropCaches())\n") }
        let startTime = MonotonicClock.seconds
        let appliance = try start(storage: storage, socket: socket)
        defer { withExtendedLifetime(appliance.id) {} }
        try RecorderAnswer.wait(for: socket)
        print("start to the first answer: \(formatted(MonotonicClock.seconds - startTime, 2)) s\n")
        var missedTargets: [String] = []
        if isComplete {
            try waitUntilReady()
            let readySeconds = MonotonicClock.seconds - startTime
            print("start to ready: \(formatted(readySeconds, 2)) s (target \(formatted(Self.targets.ready, 0)))\n")
            if readySeconds > Self.targets.ready { missedTargets.append("ready after \(formatted(readySeconds, 1)) s") }
        } else {
            sleep(2)
        }
        var table = Table("\(segments) segments, \(recordings) recordings", "first time, s", "repeated, s", "hits")
        for query in Self.queries {
            var seconds: [Double] = []
            var hits = 0
            for _ in 0..<4 {
                let requestTime = MonotonicClock.seconds
                let line = #"{"command":"search","words":"\#(query)","limit":50}"#
                hits = try ask(socket, line: line).hits?.count ?? -1
                seconds.append(MonotonicClock.seconds - requestTime)
            }
            table.add([
                "search \(query)", formatted(seconds[0], 3), formatted(seconds.dropFirst().max() ?? 0, 3), "\(hits)",
            ])
        }
        let requestTime = MonotonicClock.seconds
        let count = try ask(socket, "list").recordings?.count ?? -1
        table.add(["list", formatted(MonotonicClock.seconds - requestTime, 3), "", "\(count)"])
        print(table.markdown)
        var latencies = Table(
            "a start (target \(formatted(Self.targets.firstSample, 0)) ms to its first sample)",
            "to the first sample: median, ms", "maximum",
            "to the answer: median, ms", "maximum")
        add("no other clients", try delays(socket), to: &latencies)
        let clients = LoadClients(socket)
        clients.start()
        if isComplete {
            let copy = try folders.export(to: copies, configuration: configuration)
            sleep(1)
            let underLoad = try delays(socket)
            add("three search, one verifies, one copies", underLoad, to: &latencies)
            let longest = underLoad.map(\.firstSample).max() ?? 0
            if longest > Self.targets.firstSample {
                missedTargets.append("first sample after \(formatted(longest, 0)) ms")
            }
            withExtendedLifetime(copy.id) {}
        } else {
            sleep(1)
            add("three search, one verifies", try delays(socket), to: &latencies)
        }
        print(latencies.markdown)
        print("answers to other clients: \(clients.stop())\n")
        kill(appliance.id, SIGTERM)
        while try !appliance.pipes.read(timeoutSeconds: 60).isEmpty {}
        guard missedTargets.isEmpty else {
            throw DeviceError(.failed, "benchmark", "missed targets: \(missedTargets.joined(separator: "; "))")
        }
    }

    private func delays(_ socket: String) throws -> [StartDelay] {
        try StartDelay.measure(rounds: Self.rounds, socket: socket)
    }

    private func add(_ label: String, _ delays: [StartDelay], to table: inout Table) {
        table.add([label] + StartDelay.cells(delays))
    }

    /// Creates the database, and fills it with SQL, because it would take hours to commit so many segments separately.
    ///
    /// - Parameter journalBytes: the size of each recording's journal.
    private func fill(_ path: String, journalBytes: Int64) throws {
        do { _ = try SQLiteArchive(path: path) }
        let perRecording = max(1, segments / max(1, recordings))
        // In a complete archive, each recording has one second of audio, so all its segments are within that second.
        let (length, step) = isComplete ? (16_000, max(1, 16_000 / perRecording)) : (perRecording * 80_000, 80_000)
        // Every other word is one of nine common words. The rest are rarer, as in a natural language.
        let sql = """
            PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; BEGIN;
            DELETE FROM recording;
            CREATE TEMP TABLE common (id INTEGER PRIMARY KEY, word TEXT);
            INSERT INTO common VALUES (0, 'the'), (1, 'of'), (2, 'and'), (3, 'to'), (4, 'in'), (5, 'that'), (6, 'it'),
                (7, 'was'), (8, 'the'), (9, 'don''t');
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(recordings))
            INSERT INTO recording (id, started_at, clock, microphone, length_samples, transcribed_samples, stop_reason, state,
                journal_bytes)
            SELECT i, 1.7e9 + i * 100, 'synchronized', 'm', \(length), \(length), '\(isComplete ? "ended" : "button")',
                '\(isComplete ? "present" : "missing")', \(journalBytes) FROM n;
            INSERT INTO pass (id, recording, engine, version, model, profile, complete)
            SELECT id, id, 'e', '1', 'm', 'live', 1 FROM recording;
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(perRecording * recordings - 1))
            INSERT INTO segment (pass, number, start_sample, end_sample, text, ended_by)
            SELECT i / \(perRecording) + 1, i % \(perRecording) + 1, i % \(perRecording) * \(step),
                i % \(perRecording) * \(step) + \(step * 7 / 8),
                (SELECT word FROM common WHERE id = abs(random() + i) % 10) || ' word' || (abs(random() + i) % 20000) || ' '
                || (SELECT word FROM common WHERE id = abs(random() + i) % 10) || ' word' || (abs(random() + i) % 200) || ' '
                || (SELECT word FROM common WHERE id = abs(random() + i) % 10) || ' word' || (abs(random() + i) % 2000) || ' '
                || (SELECT word FROM common WHERE id = abs(random() + i) % 10) || ' word' || (abs(random() + i) % 20000),
                'silence'
            FROM n;
            \(isComplete ? Self.wordsAndAlternatives : "")
            COMMIT;
            """
        try execute(sql, on: path)
    }

    /// SQL that adds eight words and sixteen alternatives to each segment.
    private static let wordsAndAlternatives = """
        INSERT INTO word (segment, number, start_sample, end_sample, text, confidence)
        WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w WHERE n < 8)
        SELECT id, n, start_sample + n, start_sample + n, 'word' || (id * n % 20000), 0.5 FROM segment CROSS JOIN w;
        INSERT INTO alternative (segment, number, text, confidence)
        WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w WHERE n < 16)
        SELECT id, n, text || ' ' || n, 0.25 FROM segment CROSS JOIN w;
        """

    private var configuration: String { "\(harness.folder)/search.conf" }

    /// The file for the appliance's log.
    private var logFile: String { "\(harness.folder)/search.log" }

    private func waitUntilReady() throws {
        for _ in 0..<60_000 {
            if String(decoding: try content(ofFile: logFile), as: UTF8.self).contains(">ready ") { return }
            usleep(5_000)
        }
        throw DeviceError(.failed, "benchmark", "the appliance did not become ready; see \(logFile)")
    }

    private func start(storage: String, socket: String) throws -> ChildProcess {
        try durableReplace(
            path: configuration,
            with: """
                [capture]
                device = tone:440
                [panel]
                button = sim:
                lamp = sim:
                [storage]
                directory = \(storage)
                [control]
                socket = \(socket)
                [export]
                audio = wav

                """)
        return try ChildProcess(
            "/bin/sh",
            arguments: ["-c", "exec '\(harness.fieldscribe)' run --config '\(configuration)' 2>'\(logFile)'"])
    }
}

/// Clients that send requests without pauses.
private final class LoadClients: Sendable {
    private let socket: String
    private let shouldStop = Atomic(false)
    private let answers = Atomic<Int>(0)
    private let running = Atomic<Int>(0)

    init(_ socket: String) { self.socket = socket }

    func start() {
        let search = #"{"command":"search","words":"the","limit":50}"#
        for line in [search, search, search, #"{"command":"verify"}"#] {
            running.wrappingAdd(1, ordering: .relaxed)
            Task.detached { [self] in
                _ = try? await onThread(named: "client") {
                    while !self.shouldStop.load(ordering: .relaxed) {
                        if SocketClient(self.socket)?.ask(line) != nil {
                            self.answers.wrappingAdd(1, ordering: .relaxed)
                        }
                    }
                }
                running.wrappingSubtract(1, ordering: .relaxed)
            }
        }
    }

    /// Stops the clients; returns the number of answers that they received.
    func stop() -> Int {
        shouldStop.store(true, ordering: .relaxed)
        while running.load(ordering: .relaxed) > 0 { usleep(10_000) }
        return answers.load(ordering: .relaxed)
    }
}
