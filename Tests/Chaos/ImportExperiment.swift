import Core
import Glibc
import System

/// Imports a correction while the power is cut or the disk fails at one system call, each call in turn.
///
/// Afterwards, the archive must contain either the whole correction or none of it. After a reported success, it must
/// contain the whole correction. The control is an import that never syncs.
struct ImportExperiment {
    private static let calls = [
        "open", "write", "pwrite", "fsync", "fdatasync", "ftruncate", "rename", "unlink", "mkdir", "fallocate",
    ]
    /// The word that the correction inserts. It is in no dictionary, so the import also learns it.
    private static let insertedWord = "Zorpela"

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
        let (stride, width) = (bench.options.integer("stride", 1), bench.options.integer("parallel", 8))
        let folder = bench.newFolder("import")
        defer { bench.remove(folder) }
        let (originalText, counts) = try prepare(in: folder)
        report.note(
            "calls in an import",
            Self.calls.compactMap { call in counts[call].flatMap { $0 > 0 ? "\(call) \($0)" : nil } }
                .joined(separator: ", "))
        let bench = bench
        let imports = try await bench.parallel(faults(counts, stride: stride), width: width) { index, fault in
            try Self.runImport(fault, index, originalText: originalText, in: folder, on: bench)
        }
        let affected = imports.filter(\.didOccur)
        report.add(none: "reported corrections lost", affected.count(where: \.isLost), of: affected.count)
        report.add(none: "corrections imported in part", affected.count(where: \.isPartial), of: affected.count)
        report.add(
            none: "archives damaged, or failures without a message", affected.count { $0.problem != nil },
            of: affected.count)
        for failed in affected.filter({ $0.isLost || $0.isPartial || $0.problem != nil }).prefix(5) {
            report.note("failure", "\(failed.name): \(failed.problem ?? "")")
        }
        // Simulates a power cut after an import that synced nothing.
        let control = try Self.runImport(
            Fault(name: "never synced", settings: ["FAULT_SWALLOW": "1"]), -1, originalText: originalText, in: folder,
            on: bench)
        report.add(
            control: "an import that never syncs", caught: control.isLost || control.problem != nil ? 1 : 0, of: 1)
        return report.rows
    }

    /// Creates an archive with one recording, and a corrected transcript. Returns the original transcript, and the
    /// number of calls of each kind in an import.
    private func prepare(in folder: String) throws -> (originalText: String, counts: [String: Int]) {
        let storage = bench.newFolder("import/storage")
        let recorded = try Program(
            bench.recordCommand(to: storage, seconds: 2), in: folder, environment: bench.environment(storage: storage)
        ).wait()
        let originalText = Self.transcript(in: storage, on: bench)
        guard recorded.status == 0, originalText.contains("word") else {
            throw DeviceError(.failed, "record", "recording failed: \(recorded.errors) \(originalText)")
        }
        try durableReplace(path: "\(folder)/corrected.txt", with: "\(Self.insertedWord) \(originalText)")
        bench.copy(storage, to: "\(folder)/counted")
        let result = try Self.import(to: "\(folder)/counted", in: folder, ["FAULT_STATE": "\(folder)/state"], on: bench)
        guard result.status == 0 else { throw DeviceError(.failed, "import", "\(result.errors)") }
        return (originalText, ShimState(path: "\(folder)/state").counts)
    }

    private func faults(_ counts: [String: Int], stride: Int) -> [Fault] {
        var faults: [Fault] = []
        for call in Self.calls {
            for (index, error) in ["KILL", "EIO", "ENOSPC"].enumerated() {
                for callNumber in Swift.stride(from: 1 + index % stride, through: counts[call] ?? 0, by: stride) {
                    faults.append(
                        Fault(
                            name: "\(error) at \(call) \(callNumber)",
                            settings: ["FAULT_CALL": call, "FAULT_ERROR": error, "FAULT_AT": "\(callNumber)"]))
                }
            }
        }
        return faults
    }

    /// Imports the correction while a fault is injected, and checks the archive.
    private static func runImport(
        _ fault: Fault, _ index: Int, originalText: String, in folder: String, on bench: Bench
    ) throws -> Import {
        let storage = "\(folder)/storage-\(index)"
        let (state, journal) = ("\(storage).state", "\(storage).journal")
        bench.copy("\(folder)/storage", to: storage)
        defer { bench.remove(storage) }
        var faults = fault.settings
        faults["FAULT_STATE"] = state
        let isPowerCut = faults["FAULT_ERROR"] == "KILL" || faults["FAULT_SWALLOW"] != nil
        if isPowerCut { faults["FAULT_JOURNAL"] = journal }
        let result = try Self.import(to: storage, in: folder, faults, on: bench)
        var importResult = Import(name: fault.name, didOccur: ShimState(path: state).raised > 0)
        if isPowerCut { _ = try PowerCut(journal: journal, storage: storage).apply() }
        let reportedSuccess = result.output.contains("corrected in")
        importResult.problem = Judgement(storage, committed: [], last: nil, on: bench).archiveProblem
        if result.didHang || !isPowerCut && result.status < 0 {
            importResult.problem = "exited with status \(result.status)"
        }
        if !isPowerCut, !reportedSuccess, result.errors.isEmpty { importResult.problem = "failed without a message" }
        let transcript = transcript(in: storage, on: bench)
        importResult.isPartial = transcript != originalText && transcript != "\(insertedWord) \(originalText)"
        importResult.isLost = reportedSuccess && transcript == originalText
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

    private static func transcript(in storage: String, on bench: Bench) -> String {
        Program.run(
            [bench.fieldscribe, "show", "1", "--directory", storage, "--config", "\(bench.folder)/usual.conf"],
            in: bench.folder, seconds: 20
        ).output
    }
}
