/// Makes one system call fail in each trial, with each error in turn, once or permanently. Also makes the microphone
/// overrun, and unplugs it.
struct SyscallExperiment {
    private struct Fault: Sendable {
        var name: String
        var settings: [String: String]
    }

    /// The errors of each call. A false success is not among them: no program can survive it, so it is the control.
    private static let errors: [(call: String, errors: [String])] = [
        ("open", ["EIO", "ENOSPC", "EROFS", "EINTR"]), ("write", ["EIO", "ENOSPC", "EROFS", "EINTR", "SHORT"]),
        ("pwrite", ["EIO", "ENOSPC", "EROFS", "EINTR", "SHORT"]),
        ("writev", ["EIO", "ENOSPC", "EROFS", "EINTR", "SHORT"]), ("fsync", ["EIO", "ENOSPC", "EROFS", "EINTR"]),
        ("fdatasync", ["EIO", "ENOSPC", "EROFS", "EINTR"]), ("ftruncate", ["EIO", "ENOSPC", "EROFS", "EINTR"]),
        ("fallocate", ["EIO", "ENOSPC", "EROFS", "EINTR"]), ("rename", ["EIO", "ENOSPC", "EROFS"]),
        ("unlink", ["EIO", "EROFS"]), ("mkdir", ["EIO", "ENOSPC", "EROFS"]),
    ]

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("syscalls")
        let width = bench.options.integer("parallel", 16)
        let stride = bench.options.integer("stride", 1)
        let counts = try countCalls()
        report.note(
            "calls in \(Trial.seconds) s of recording",
            ShimState.calls.compactMap { call in counts[call].flatMap { $0 > 0 ? "\(call) \($0)" : nil } }
                .joined(separator: ", "))
        let faults = faults(counts, stride: stride)
        let bench = bench
        let trials = try await bench.parallel(faults, width: width) { index, fault in
            try Trial(fault.name, index: index, faults: fault.settings, on: bench)
        }
        Trial.report(trials, into: &report)
        let writes = counts["pwrite"] ?? 0
        let falseSuccesses = Swift.stride(from: writes / 8, to: writes * 3 / 4, by: max(1, writes / 10)).map {
            Self.fault("LIE", "pwrite", at: $0, span: "rest")
        }
        let control = try await bench.parallel(falseSuccesses, width: width) { index, fault in
            try Trial(fault.name, index: 1_000_000 + index, faults: fault.settings, on: bench)
        }
        report.add(
            control: "writes that falsely report success", caught: control.count { $0.hasFailed },
            of: control.count { $0.hasFailed || $0.succeeded })
        return report.rows
    }

    private func countCalls() throws -> [String: Int] {
        let work = bench.newFolder("count")
        let storage = bench.newFolder("count/storage")
        let program = try Program(
            bench.recordCommand(to: storage, seconds: Trial.seconds, configuration: "often"), in: work,
            environment: bench.environment(storage: storage, faults: ["FAULT_STATE": "\(work)/state"]))
        _ = program.wait()
        return ShimState(path: "\(work)/state").counts
    }

    private func faults(_ counts: [String: Int], stride: Int) -> [Fault] {
        var faults: [Fault] = []
        for (call, errors) in Self.errors {
            let count = counts[call] ?? 0
            // Each error starts at a different call, so that a large stride still covers many calls.
            for (index, error) in (errors + ["KILL"]).enumerated() {
                for callNumber in Swift.stride(from: 1 + index % stride, through: count, by: stride) {
                    faults.append(Self.fault(error, call, at: callNumber, span: "one"))
                }
            }
            // The disk fails permanently, or stays full.
            for (index, error) in errors.filter({ $0 != "EINTR" && $0 != "SHORT" }).enumerated() {
                for callNumber in Swift.stride(from: 1 + (index + 3) % stride, through: count, by: 2 * stride) {
                    faults.append(Self.fault(error, call, at: callNumber, span: "rest"))
                }
            }
        }
        // The recorder reads 100 ms at a time.
        let reads = Trial.seconds * 10
        for callNumber in Swift.stride(from: 1, through: reads, by: stride) {
            faults.append(
                Fault(
                    name: "overrun at read \(callNumber)",
                    settings: ["FAULT_OVERRUN": "\(callNumber)", "FAULT_STALL": "250"]))
            for refusals in [0, 2] {
                faults.append(
                    Fault(
                        name: "unplugged at read \(callNumber), \(refusals) failed reopenings",
                        settings: ["FAULT_UNPLUG": "\(callNumber)", "FAULT_REFUSALS": "\(refusals)"]))
            }
        }
        return faults
    }

    private static func fault(_ error: String, _ call: String, at callNumber: Int, span: String) -> Fault {
        Fault(
            name: "\(error) at \(call) \(callNumber)\(span == "rest" ? " and later" : "")",
            settings: ["FAULT_CALL": call, "FAULT_ERROR": error, "FAULT_AT": "\(callNumber)", "FAULT_SPAN": span])
    }
}
