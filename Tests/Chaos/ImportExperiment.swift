import Core
import Glibc
import System

/// Imports a correction while the power is cut or the disk fails at each k-th system call.
///
/// Afterwards the archive must have all of the correction or nothing of it; after a reported success it must have all
/// of it. The control is an import that never syncs.
struct ImportExperiment {
    private static let calls = [
        "open", "write", "pwrite", "fsync", "fdatasync", "ftruncate", "rename", "unlink", "mkdir", "fallocate",
    ]
    /// The corrected word. It is in no dictionary, so that the import also learns it.
    private static let word = "Zorpela"

    private struct Fault: Sendable {
        var name: String
        var settings: [String: String]
    }

    private struct Import: Sendable {
        var name: String
        var didOccur: Bool
        /// Whether the import reported success, but the correction is lost.
        var isLost = false
        /// Whether the archive shows neither the original nor the corrected text.
        var isPartial = false
        /// The problem with the archive or with the exit status; nil if there is none.
        var problem: String?
    }

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("import")
        let (stride, width) = (bench.options.number("stride", 1), bench.options.number("parallel", 8))
        let folder = bench.newFolder("import")
        defer { bench.remove(folder) }
        let (originalText, counts) = try prepare(in: folder)
        report.note(
            "calls in an import",
            Self.calls.compactMap { call in counts[call].flatMap { $0 > 0 ? "\(call) \($0)" : nil } }
                .joined(separator: ", "))
        let bench = bench
        let imports = try await bench.parallel(faults(counts, stride: stride), width: width) { number, fault in
            try Self.runImport(fault, number, originalText: originalText, in: folder, on: bench)
        }
        let hit = imports.filter(\.didOccur)
        report.add(none: "reported corrections lost", hit.count(where: \.isLost), of: hit.count)
        report.add(none: "corrections imported in part", hit.count(where: \.isPartial), of: hit.count)
        report.add(none: "archives damaged without a message", hit.count { $0.problem != nil }, of: hit.count)
        for bad in hit.filter({ $0.isLost || $0.isPartial || $0.problem != nil }).prefix(5) {
            report.note("bad", "\(bad.name): \(bad.problem ?? "")")
        }
        // The power fails after the import, but nothing was synced.
        let control = try Self.runImport(
            Fault(name: "never synced", settings: ["FAULT_SWALLOW": "1"]), -1, originalText: originalText, in: folder,
            on: bench)
        report.add(
            control: "an import that never syncs", caught: control.isLost || control.problem != nil ? 1 : 0, of: 1)
        return report.rows
    }

    /// Makes an archive with one recording, and a corrected text. Returns the original text, and the system calls of an
    /// import.
    private func prepare(in folder: String) throws -> (originalText: String, counts: [String: Int]) {
        let storage = bench.newFolder("import/storage")
        let recorded = try Program(
            bench.record(to: storage, seconds: 2), in: folder, environment: bench.environment(storage: storage)
        ).wait()
        let originalText = Self.shown(storage, on: bench)
        guard recorded.status == 0, originalText.contains("word") else {
            throw DeviceError(.failed, "record", "recording failed: \(recorded.errors) \(originalText)")
        }
        try durableReplace(path: "\(folder)/corrected.txt", with: "\(Self.word) \(originalText)")
        bench.copy(storage, to: "\(folder)/counted")
        let result = try Self.import(to: "\(folder)/counted", in: folder, ["FAULT_STATE": "\(folder)/state"], on: bench)
        guard result.status == 0 else { throw DeviceError(.failed, "import", "\(result.errors)") }
        return (originalText, ShimState(path: "\(folder)/state").counts)
    }

    private func faults(_ counts: [String: Int], stride: Int) -> [Fault] {
        var faults: [Fault] = []
        for call in Self.calls {
            for (index, error) in ["KILL", "EIO", "ENOSPC"].enumerated() {
                for number in Swift.stride(from: 1 + index % stride, through: counts[call] ?? 0, by: stride) {
                    faults.append(
                        Fault(
                            name: "\(error) at \(call) \(number)",
                            settings: ["FAULT_CALL": call, "FAULT_ERROR": error, "FAULT_AT": "\(number)"]))
                }
            }
        }
        return faults
    }

    /// Imports a correction with a fault, and checks the archive.
    private static func runImport(
        _ fault: Fault, _ number: Int, originalText: String, in folder: String, on bench: Bench
    ) throws -> Import {
        let storage = "\(folder)/storage-\(number)"
        let (state, journal) = ("\(storage).state", "\(storage).journal")
        bench.copy("\(folder)/storage", to: storage)
        defer { bench.remove(storage) }
        var faults = fault.settings
        faults["FAULT_STATE"] = state
        let isCut = faults["FAULT_ERROR"] == "KILL" || faults["FAULT_SWALLOW"] != nil
        if isCut { faults["FAULT_JOURNAL"] = journal }
        let result = try Self.import(to: storage, in: folder, faults, on: bench)
        var importResult = Import(name: fault.name, didOccur: ShimState(path: state).raised > 0)
        if isCut { _ = try PowerCut(journal: journal, storage: storage).apply() }
        let reportedSuccess = result.output.contains("corrected in")
        importResult.problem = Judgement(storage, committed: [], last: nil, on: bench).archiveProblem
        if result.didHang || !isCut && result.status < 0 {
            importResult.problem = "exited with status \(result.status)"
        }
        if !isCut, !reportedSuccess, result.errors.isEmpty { importResult.problem = "failed without a message" }
        let shown = shown(storage, on: bench)
        importResult.isPartial = shown != originalText && shown != "\(word) \(originalText)"
        importResult.isLost = reportedSuccess && shown == originalText
        return importResult
    }

    private static func `import`(
        to storage: String, in folder: String, _ faults: [String: String], on bench: Bench
    ) throws -> Program.ExitResult {
        try Program(
            [
                bench.fieldscribe, "import", "\(folder)/corrected.txt", "--recording", "1", "--by", "Anna",
                "--directory",
                storage, "--config", "\(bench.folder)/usual.conf",
            ], in: folder, environment: bench.environment(storage: storage, faults: faults)
        ).wait()
    }

    private static func shown(_ storage: String, on bench: Bench) -> String {
        Program.run(
            [bench.fieldscribe, "show", "1", "--directory", storage, "--config", "\(bench.folder)/usual.conf"],
            in: bench.folder, seconds: 20
        ).output
    }
}
