import Core
import Glibc
import System

/// Measures copying many short recordings to a stick, and two more runs with nothing new to copy.
struct CopiesBenchmark {
    let harness: Harness
    /// A folder on the stick.
    let target: String
    /// The number of recordings.
    let count: Int

    func run() throws {
        let storage = "\(harness.folder)/copies-\(getpid())"
        let stick = "\(target)/stick-\(getpid())"
        defer { _ = try? MeasuredProcess(["rm", "-rf", storage, stick]) }
        try makeFolder(stick)
        try makeRecordings(into: storage)
        let configuration = "\(harness.folder)/copies.conf"
        try durableReplace(path: configuration, with: "[export]\naudio = wav\n")
        var table = Table("\(count) recordings", "s")
        for label in ["all copied", "nothing new", "nothing new, again"] {
            let cost = try MeasuredProcess([
                harness.fieldscribe, "export", "--to", stick, "--directory", storage, "--config", configuration,
            ])
            guard cost.status == 0 else { throw DeviceError(.failed, "benchmark", "copying to \(stick) failed") }
            table.add([label, formatted(cost.wallSeconds, 1)])
        }
        print(table.markdown)
    }

    /// Records the first recording. Creates the others with hard links to its audio, and adds them to the database.
    private func makeRecordings(into storage: String) throws {
        try harness.record("tone:440", seconds: 1, into: storage)
        let script = """
            cd '\(storage)/recordings' && for i in $(seq 2 \(count)); do
                n=$(printf %06d "$i"); mkdir -p "$n"; ln -f 000001/audio.wav "$n/audio.wav"; done
            """
        guard try MeasuredProcess(["sh", "-c", script]).status == 0 else {
            throw DeviceError(.failed, "benchmark", "\(storage): adding recordings failed")
        }
        let sql = """
            BEGIN;
            WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO recording (id, started_at, clock, microphone, length_samples, transcribed_samples, stop_reason)
            SELECT i, 1.7e9 + i * 100, 'synchronized', 'm', length_samples, length_samples, 'button'
            FROM n JOIN recording ON recording.id = 1;
            INSERT INTO pass (recording, engine, version, model, profile, complete)
            SELECT id, 'e', '1', 'm', 'live', 1 FROM recording;
            INSERT INTO segment (pass, number, start_sample, end_sample, text, ended_by)
            SELECT id, 1, 0, 8000, 'said in ' || recording, 'silence' FROM pass;
            INSERT INTO word (segment, number, start_sample, end_sample, text, confidence)
            SELECT id, 1, 0, 8000, text, 0.5 FROM segment;
            COMMIT;
            """
        try execute(sql, on: "\(storage)/archive.sqlite")
    }
}
