import Core
import Glibc
import System

/// Copies a recording of an hour to a stick, with read-back, compared with `cp` and `sync` of the same recording.
struct ExportBenchmark {
    private static let rounds = 3

    let workshop: Workshop
    /// A folder on the simulated stick.
    let target: String

    func run(_ wave: String) throws {
        let storage = "\(workshop.folder)/export-\(getpid())"
        defer { remove([storage]) }
        // A new archive numbers its recordings from 1.
        for seconds in [3_600, 360] { try workshop.record("file+fast:\(wave)", seconds: seconds, into: storage) }
        let (hour, part) = ("000001", "000002")
        let formats = ["flac", "wav"]
        var ours: [[MeasuredProcess]] = [[], []]
        var copies: [MeasuredProcess] = []
        var small: MeasuredProcess?
        for _ in 0..<Self.rounds {
            // With `sync`, the next measurement does not wait for writes of this one.
            let copy = "cp -r '\(storage)/recordings/\(hour)' '\(target)/copy' && sync -f '\(target)'"
            copies.append(try measure(["sh", "-c", copy], leaving: "copy"))
            for (index, format) in formats.enumerated() {
                ours[index].append(try export(hour, as: format, from: storage))
            }
            small = try export(part, as: formats[0], from: storage)
        }
        let cp = copies.median(\.wallSeconds)
        let megabytes = Double(3_600 * SamplePosition.rate * 2) / 1e6
        var table = Table("an hour to a stick", "s", "MB/s of the recording", "by cp's", "peak MB")
        table.add(["cp and sync", shown(cp, 1), shown(megabytes / cp, 1), "1.00", ""])
        for (format, runs) in zip(formats, ours) {
            let wall = runs.median(\.wallSeconds)
            table.add([
                "export, \(format), read back", shown(wall, 1), shown(megabytes / wall, 1), shown(cp / wall, 2),
                shown(runs.median(\.peakMegabytes), 1),
            ])
        }
        print(table.markdown)
        if let small { print("peak of six minutes, flac: \(shown(small.peakMegabytes, 1)) MB\n") }
    }

    private func export(_ recording: String, as format: String, from storage: String) throws -> MeasuredProcess {
        let configuration = "\(workshop.folder)/export.conf"
        try durableReplace(path: configuration, with: "[export]\naudio = \(format)\n")
        return try measure(
            [
                workshop.fieldscribe, "export", recording, "--to", target, "--directory", storage, "--config",
                configuration,
            ], leaving: "Fieldscribe")
    }

    private func measure(_ words: [String], leaving name: String) throws -> MeasuredProcess {
        sync()
        let cost = try MeasuredProcess(words)
        remove(["\(target)/\(name)"])
        guard cost.status == 0 else {
            throw DeviceError(.failed, "benchmark", "\(target): \(words[0]) failed; run it by hand")
        }
        return cost
    }

    private func remove(_ paths: [String]) { _ = try? MeasuredProcess(["rm", "-rf"] + paths) }
}
