import Core
import Glibc
import System

/// Measures copying an hour to a stick with read-back, compared with `cp` and `sync` of the same recording.
struct ExportBenchmark {
    private static let rounds = 3

    let harness: Harness
    /// A folder on the stick.
    let target: String

    func run(_ wave: String) throws {
        let storage = "\(harness.folder)/export-\(getpid())"
        defer { remove([storage]) }
        // A new archive numbers its recordings from 1.
        for seconds in [3_600, 360] { try harness.record("file+fast:\(wave)", seconds: seconds, into: storage) }
        let (hour, sixMinutes) = ("000001", "000002")
        let formats = ["flac", "wav"]
        var exportRuns: [[MeasuredProcess]] = [[], []]
        var copyRuns: [MeasuredProcess] = []
        var shortRun: MeasuredProcess?
        for _ in 0..<Self.rounds {
            let copy = "cp -r '\(storage)/recordings/\(hour)' '\(target)/copy' && sync -f '\(target)'"
            copyRuns.append(try measure(["sh", "-c", copy], removing: "copy"))
            for (index, format) in formats.enumerated() {
                exportRuns[index].append(try export(hour, as: format, from: storage))
            }
            shortRun = try export(sixMinutes, as: formats[0], from: storage)
        }
        let copySeconds = copyRuns.median(\.wallSeconds)
        let megabytes = Double(3_600 * SamplePosition.rate * 2) / 1e6
        var table = Table("an hour to a stick", "s", "MB/s of the recording", "speed relative to cp", "peak MB")
        table.add(["cp and sync", formatted(copySeconds, 1), formatted(megabytes / copySeconds, 1), "1.00", ""])
        for (format, runs) in zip(formats, exportRuns) {
            let seconds = runs.median(\.wallSeconds)
            table.add([
                "export, \(format), read back", formatted(seconds, 1), formatted(megabytes / seconds, 1),
                formatted(copySeconds / seconds, 2),
                formatted(runs.median(\.peakMegabytes), 1),
            ])
        }
        print(table.markdown)
        if let shortRun { print("peak for six minutes, flac: \(formatted(shortRun.peakMegabytes, 1)) MB\n") }
    }

    private func export(_ recording: String, as format: String, from storage: String) throws -> MeasuredProcess {
        let configuration = "\(harness.folder)/export.conf"
        try durableReplace(path: configuration, with: "[export]\naudio = \(format)\n")
        return try measure(
            [
                harness.fieldscribe, "export", recording, "--to", target, "--directory", storage, "--config",
                configuration,
            ], removing: "Fieldscribe")
    }

    /// Runs a command, and removes the file or folder that it created in `target`.
    private func measure(_ command: [String], removing name: String) throws -> MeasuredProcess {
        // Otherwise, the command would wait for earlier writes.
        sync()
        let cost = try MeasuredProcess(command)
        remove(["\(target)/\(name)"])
        guard cost.status == 0 else {
            throw DeviceError(.failed, "benchmark", "\(command[0]) failed on \(target); run it by hand")
        }
        return cost
    }

    private func remove(_ paths: [String]) { _ = try? MeasuredProcess(["rm", "-rf"] + paths) }
}
