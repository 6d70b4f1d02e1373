import Archive
import Core
import Glibc
import Synchronization
import System
import TestKit

/// Measures a large archive: how long searches take, and from a press to the first sample while others search and
/// verify.
struct SearchBenchmark {
    private static let rounds = 50
    /// The maximum time from a start to its first sample, in milliseconds, and from the appliance's start to ready, in seconds.
    private static let targets = (heard: StartDelay.target, ready: 10.0)
    private static let queries = ["the", "th", "the of", "word77", "the word4321", "w", "don't", "zebra"]

    let workshop: Workshop
    /// The archive's folder, on the card to measure.
    let target: String
    let segments: Int
    let recordings: Int
    /// Whether recordings have folders, and segments words and alternatives: about 2 GB for a million.
    var isWhole = false

    func run() throws {
        let storage = "\(target)/search-\(getpid())"
        let copies = "\(target)/copies-\(getpid())"
        let socket = "\(workshop.folder)/search-\(getpid()).sock"
        defer { _ = try? MeasuredProcess(["rm", "-rf", storage, copies]) }
        let began = MonotonicClock.seconds
        try makeFolder(storage)
        let folders = ArchiveFolders(workshop: workshop, storage: storage, count: recordings)
        let journal = isWhole ? try folders.first() : 0
        try fill("\(storage)/archive.sqlite", journal: journal)
        if isWhole { try folders.others() }
        print("made \(segments) segments in \(recordings) recordings: \(shown(MonotonicClock.seconds - began, 0)) s\n")
        sync()
        if isWhole { print("\(folders.size()), \(try folders.dropCaches())\n") }
        let started = MonotonicClock.seconds
        let appliance = try start(storage: storage, socket: socket)
        defer { withExtendedLifetime(appliance.id) {} }
        try RecorderAnswer.wait(for: socket)
        print("start to the first answer: \(shown(MonotonicClock.seconds - started, 2)) s\n")
        var missed: [String] = []
        if isWhole {
            try waitUntilReady()
            let ready = MonotonicClock.seconds - started
            print("start to ready: \(shown(ready, 2)) s (target \(shown(Self.targets.ready, 0)))\n")
            if ready > Self.targets.ready { missed.append("ready only after \(shown(ready, 1)) s") }
        } else {
            sleep(2)
        }
        var table = Table("\(segments) segments, \(recordings) recordings", "first, s", "then, s", "places")
        for query in Self.queries {
            var seconds: [Double] = []
            var places = 0
            for _ in 0..<4 {
                let asked = MonotonicClock.seconds
                let line = #"{"command":"search","words":"\#(query)","limit":50}"#
                places = try ask(socket, line: line).hits?.count ?? -1
                seconds.append(MonotonicClock.seconds - asked)
            }
            table.add([
                "search \(query)", shown(seconds[0], 3), shown(seconds.dropFirst().max() ?? 0, 3), "\(places)",
            ])
        }
        let asked = MonotonicClock.seconds
        let count = try ask(socket, "list").recordings?.count ?? -1
        table.add(["list", shown(MonotonicClock.seconds - asked, 3), "", "\(count)"])
        print(table.markdown)
        var latencies = Table(
            "a start (target \(shown(Self.targets.heard, 0)) ms to its first sample)",
            "to the first sample: median, ms", "longest",
            "to the answer, with it on its way to the disk: median, ms", "longest")
        add("nobody asks", try presses(socket), to: &latencies)
        let busy = Crowd(socket)
        busy.begin()
        if isWhole {
            let copy = try folders.export(to: copies, configuration: configuration)
            sleep(1)
            let crowded = try presses(socket)
            add("three search, one verifies, one copies", crowded, to: &latencies)
            let longest = crowded.map(\.heard).max() ?? 0
            if longest > Self.targets.heard { missed.append("a first sample after \(shown(longest, 0)) ms") }
            withExtendedLifetime(copy.id) {}
        } else {
            sleep(1)
            add("three search, one verifies", try presses(socket), to: &latencies)
        }
        print(latencies.markdown)
        print("meanwhile \(busy.end()) answers\n")
        kill(appliance.id, SIGTERM)
        while try !appliance.pipes.read(timeoutSeconds: 60).isEmpty {}
        guard missed.isEmpty else {
            throw DeviceError(.failed, "benchmark", "missed its target: \(missed.joined(separator: "; "))")
        }
    }

    private func presses(_ socket: String) throws -> [StartDelay] {
        try StartDelay.measured(Self.rounds, by: socket)
    }

    private func add(_ what: String, _ presses: [StartDelay], to table: inout Table) {
        table.add([what] + StartDelay.columns(presses))
    }

    /// Creates the archive, and fills its database directly: committing so many segments would take a night.
    ///
    /// - Parameter journal: the length of each recording's journal in bytes.
    private func fill(_ path: String, journal: Int64) throws {
        do { _ = try SQLiteArchive(path: path) }
        let each = max(1, segments / max(1, recordings))
        // All segments are in one second of sound, because nobody listens to it.
        let (length, step) = isWhole ? (16_000, max(1, 16_000 / each)) : (each * 80_000, 80_000)
        // Every second word is one of ten common ones; the others are rarer, as in a language.
        let sql = """
            PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; BEGIN;
            DELETE FROM recording;
            CREATE TEMP TABLE common (id INTEGER PRIMARY KEY, word TEXT);
            INSERT INTO common VALUES (0, 'the'), (1, 'of'), (2, 'and'), (3, 'to'), (4, 'in'), (5, 'that'), (6, 'it'),
                (7, 'was'), (8, 'the'), (9, 'don''t');
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(recordings))
            INSERT INTO recording (id, started_at, clock, microphone, length_samples, transcribed_samples, stop_reason, state,
                journal_bytes)
            SELECT i, 1.7e9 + i * 100, 'synchronized', 'm', \(length), \(length), '\(isWhole ? "ended" : "button")',
                '\(isWhole ? "present" : "missing")', \(journal) FROM n;
            INSERT INTO pass (id, recording, engine, version, model, profile, complete)
            SELECT id, id, 'e', '1', 'm', 'live', 1 FROM recording;
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(each * recordings - 1))
            INSERT INTO segment (pass, number, start_sample, end_sample, text, ended_by)
            SELECT i / \(each) + 1, i % \(each) + 1, i % \(each) * \(step), i % \(each) * \(step) + \(step * 7 / 8),
                (SELECT word FROM common WHERE id = abs(random() + i) % 10) || ' word' || (abs(random() + i) % 20000) || ' '
                || (SELECT word FROM common WHERE id = abs(random() + i) % 10) || ' word' || (abs(random() + i) % 200) || ' '
                || (SELECT word FROM common WHERE id = abs(random() + i) % 10) || ' word' || (abs(random() + i) % 2000) || ' '
                || (SELECT word FROM common WHERE id = abs(random() + i) % 10) || ' word' || (abs(random() + i) % 20000),
                'silence'
            FROM n;
            \(isWhole ? Self.readings : "")
            COMMIT;
            """
        try execute(sql, on: path)
    }

    /// Eight words of each segment, and sixteen alternatives.
    private static let readings = """
        INSERT INTO word (segment, number, start_sample, end_sample, text, confidence)
        WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w WHERE n < 8)
        SELECT id, n, start_sample + n, start_sample + n, 'word' || (id * n % 20000), 0.5 FROM segment CROSS JOIN w;
        INSERT INTO alternative (segment, number, text, confidence)
        WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w WHERE n < 16)
        SELECT id, n, text || ' ' || n, 0.25 FROM segment CROSS JOIN w;
        """

    private var configuration: String { "\(workshop.folder)/search.conf" }

    /// The file for the appliance's log.
    private var journal: String { "\(workshop.folder)/search.log" }

    private func waitUntilReady() throws {
        for _ in 0..<60_000 {
            if String(decoding: try content(ofFile: journal), as: UTF8.self).contains(">ready ") { return }
            usleep(5_000)
        }
        throw DeviceError(.failed, "benchmark", "the appliance does not become ready; see \(journal)")
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
            arguments: ["-c", "exec '\(workshop.fieldscribe)' run --config '\(configuration)' 2>'\(journal)'"])
    }
}

/// Clients that send requests without pause.
private final class Crowd: Sendable {
    private let socket: String
    private let hasEnded = Atomic(false)
    private let answers = Atomic<Int>(0)
    private let running = Atomic<Int>(0)

    init(_ socket: String) { self.socket = socket }

    func begin() {
        let search = #"{"command":"search","words":"the","limit":50}"#
        for line in [search, search, search, #"{"command":"verify"}"#] {
            running.wrappingAdd(1, ordering: .relaxed)
            Task.detached { [self] in
                _ = try? await onThread(named: "client") {
                    while !self.hasEnded.load(ordering: .relaxed) {
                        if SocketClient(self.socket)?.ask(line) != nil {
                            self.answers.wrappingAdd(1, ordering: .relaxed)
                        }
                    }
                }
                running.wrappingSubtract(1, ordering: .relaxed)
            }
        }
    }

    /// The number of answers.
    func end() -> Int {
        hasEnded.store(true, ordering: .relaxed)
        while running.load(ordering: .relaxed) > 0 { usleep(10_000) }
        return answers.load(ordering: .relaxed)
    }
}
