import Core
import Glibc
import System

/// Imports a correction while the power is cut, or the disk fails, at each k-th call. Afterwards the archive has all of
/// it or nothing; after a reported success it has all of it. The control is an import that never syncs.
struct ImportExperiment {
    private static let calls = [
        "open", "write", "pwrite", "fsync", "fdatasync", "ftruncate", "rename", "unlink", "mkdir", "fallocate",
    ]
    /// The corrected word, which no dictionary has, so that it is learned, too.
    private static let word = "Zorpela"

    private struct Fault: Sendable {
        var name: String
        var settings: [String: String]
    }

    private struct Import: Sendable {
        var name: String
        var wasHit: Bool
        /// Whether it reported success, but the correction is lost.
        var isLost = false
        /// The archive shows neither the original nor the corrected text.
        var isHalf = false
        /// The problem with the archive or with its exit status.
        var complaint: String?
    }

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("import")
        let (stride, width) = (bench.options.number("stride", 1), bench.options.number("parallel", 8))
        let place = bench.newFolder("import")
        defer { bench.remove(place) }
        let (heard, counts) = try prepare(in: place)
        report.note(
            "calls in an import",
            Self.calls.compactMap { call in counts[call].flatMap { $0 > 0 ? "\(call) \($0)" : nil } }
                .joined(separator: ", "))
        let bench = bench
        let imports = try await bench.parallel(faults(counts, stride: stride), width: width) { number, fault in
            try Self.take(fault, number, heard: heard, in: place, on: bench)
        }
        let met = imports.filter(\.wasHit)
        report.add(none: "reported corrections lost", met.count(where: \.isLost), of: met.count)
        report.add(none: "corrections imported in part", met.count(where: \.isHalf), of: met.count)
        report.add(none: "archives damaged without a message", met.count { $0.complaint != nil }, of: met.count)
        for bad in met.filter({ $0.isLost || $0.isHalf || $0.complaint != nil }).prefix(5) {
            report.note("bad", "\(bad.name): \(bad.complaint ?? "")")
        }
        // The power fails after everything is done, but nothing was synced.
        let control = try Self.take(
            Fault(name: "never synced", settings: ["FAULT_SWALLOW": "1"]), -1, heard: heard, in: place, on: bench)
        report.add(
            control: "an import that never syncs", caught: control.isLost || control.complaint != nil ? 1 : 0, of: 1)
        return report.rows
    }

    /// Makes an archive with one recording, and the corrected text; returns the recognized text, and the calls of an import.
    private func prepare(in place: String) throws -> (heard: String, counts: [String: Int]) {
        let storage = bench.newFolder("import/storage")
        let recorded = try Program(
            bench.record(to: storage, seconds: 2), in: place, environment: bench.environment(storage: storage)
        ).wait()
        let heard = Self.shown(storage, on: bench)
        guard recorded.status == 0, heard.contains("word") else {
            throw DeviceError(.failed, "record", "nothing was recorded: \(recorded.errors) \(heard)")
        }
        try durableReplace(path: "\(place)/corrected.txt", with: "\(Self.word) \(heard)")
        bench.copy(storage, to: "\(place)/counted")
        let counted = try Self.import(to: "\(place)/counted", in: place, ["FAULT_STATE": "\(place)/state"], on: bench)
        guard counted.status == 0 else { throw DeviceError(.failed, "import", "\(counted.errors)") }
        return (heard, ShimState(path: "\(place)/state").counts)
    }

    private func faults(_ counts: [String: Int], stride: Int) -> [Fault] {
        var faults: [Fault] = []
        for call in Self.calls {
            for (index, error) in ["KILL", "EIO", "ENOSPC"].enumerated() {
                for turn in Swift.stride(from: 1 + index % stride, through: counts[call] ?? 0, by: stride) {
                    faults.append(
                        Fault(
                            name: "\(error) at \(call) \(turn)",
                            settings: ["FAULT_CALL": call, "FAULT_ERROR": error, "FAULT_AT": "\(turn)"]))
                }
            }
        }
        return faults
    }

    private static func take(
        _ fault: Fault, _ number: Int, heard: String, in place: String, on bench: Bench
    ) throws -> Import {
        let storage = "\(place)/storage-\(number)"
        let (state, journal) = ("\(storage).state", "\(storage).journal")
        bench.copy("\(place)/storage", to: storage)
        defer { bench.remove(storage) }
        var faults = fault.settings
        faults["FAULT_STATE"] = state
        let isCut = faults["FAULT_ERROR"] == "KILL" || faults["FAULT_SWALLOW"] != nil
        if isCut { faults["FAULT_JOURNAL"] = journal }
        let ending = try Self.import(to: storage, in: place, faults, on: bench)
        var taken = Import(name: fault.name, wasHit: ShimState(path: state).raised > 0)
        if isCut { _ = try PowerCut(journal: journal, storage: storage).apply() }
        let wasTold = ending.output.contains("corrected in")
        taken.complaint = Judgement(storage, committed: [], last: nil, on: bench).archive
        if ending.hung || !isCut && ending.status < 0 { taken.complaint = "ended with \(ending.status)" }
        if !isCut, !wasTold, ending.errors.isEmpty { taken.complaint = "said nothing" }
        let shown = shown(storage, on: bench)
        taken.isHalf = shown != heard && shown != "\(word) \(heard)"
        taken.isLost = wasTold && shown == heard
        return taken
    }

    private static func `import`(
        to storage: String, in place: String, _ faults: [String: String], on bench: Bench
    ) throws -> Program.Ending {
        try Program(
            [
                bench.fieldscribe, "import", "\(place)/corrected.txt", "--recording", "1", "--by", "Anna",
                "--directory",
                storage, "--config", "\(bench.folder)/usual.conf",
            ], in: place, environment: bench.environment(storage: storage, faults: faults)
        ).wait()
    }

    private static func shown(_ storage: String, on bench: Bench) -> String {
        Program.run(
            [bench.fieldscribe, "show", "1", "--directory", storage, "--config", "\(bench.folder)/usual.conf"],
            in: bench.folder, seconds: 20
        ).output
    }
}
