import Core
import Glibc
import System
import TestKit

/// Records on a small file system that is full before the recording or fills up during it, with different amounts of
/// free space.
///
/// The file system is ext4 in a file, or tmpfs if loop devices cannot be mounted. It is mounted in a separate mount
/// namespace, in which this program starts itself again.
struct DiskExperiment {
    private static let megabytes = 96

    /// The free space in bytes, and whether the disk is filled before or during the recording.
    private struct Step: Sendable {
        var freeBytes: Int
        var isFilledBefore: Bool
    }

    let bench: Bench

    func run() async throws -> [Report.Row] {
        guard bench.options.has("inside") else { return try runInside() }
        var report = Report("disk")
        report.note("file system", try mount())
        let mountPoint = "\(bench.folder)/disk"
        defer { _ = Program.run(["umount", mountPoint], in: bench.folder) }
        let golden = try makeGolden(at: mountPoint)
        let committed = Set(ReportedEvent.events(in: golden.output).compactMap(Judgement.Segment.init))
        let free = Self.freeBytes(mountPoint)
        let count = bench.options.integer("steps", 20)
        // Half of the steps have less than 200 kB of free space.
        let steps = (0..<count).map { step in
            let half = max(1, count / 2)
            return Step(
                freeBytes: step < half ? 200_000 * step / half : 200_000 + (free - 200_000) * (step - half) / half,
                isFilledBefore: step % 2 == 0)
        }
        var trials: [Trial] = []
        var undamaged = 0
        var successfulNextRecordings = 0
        for step in steps {
            restore(mountPoint)
            let (trial, recordsAgain) = try self.trial(step, at: mountPoint, faults: [:])
            trials.append(trial)
            let judgement = Judgement("\(mountPoint)/storage", committed: committed, last: nil, on: bench)
            if judgement.lostSegments == 0, judgement.archiveProblem == nil { undamaged += 1 }
            if recordsAgain { successfulNextRecordings += 1 }
        }
        Trial.report(trials, into: &report)
        report.add(none: "earlier recordings damaged", count - undamaged, of: count)
        report.add(
            none: "no recording after space became available again", count - successfulNextRecordings, of: count)
        let controls = try [20, 40, 60].map { write in
            restore(mountPoint)
            return try trial(
                Step(freeBytes: free, isFilledBefore: true), at: mountPoint,
                faults: [
                    "FAULT_CALL": "pwrite", "FAULT_ERROR": "LIE", "FAULT_AT": "\(write)", "FAULT_SPAN": "rest",
                ])
        }
        report.add(
            control: "a disk that silently discards writes", caught: controls.count { $0.trial.hasFailed },
            of: controls.count { $0.trial.hasFailed || $0.trial.succeeded })
        return report.rows
    }

    /// Runs this program again, in a namespace in which it may mount file systems.
    private func runInside() throws -> [Report.Row] {
        let unshareOptions = geteuid() == 0 ? ["--mount"] : ["--user", "--map-root-user", "--mount"]
        let command =
            ["unshare"] + unshareOptions
            + [bench.chaos, "disk", "--inside", "--json", "--executable", bench.fieldscribe]
            + ["--steps", "\(bench.options.integer("steps", 20))"]
        let result = Program.run(command, in: bench.folder, seconds: 36_000)
        let lines = result.output.split(separator: "\n").map(String.init)
        lines.filter { $0.hasPrefix("➜") }.forEach { print($0) }
        fflush(nil)
        guard let rows = lines.last(where: { $0.hasPrefix("[") }).flatMap(Report.rows) else {
            throw DeviceError(.failed, "unshare", "the disk experiment failed: \(result.errors) \(result.output)")
        }
        return rows
    }

    /// Mounts the file system, and returns its description.
    private func mount() throws -> String {
        let mountPoint = bench.newFolder("disk")
        let image = "\(bench.folder)/disk.img"
        try FileDescriptor(opening: image, O_WRONLY | O_CREAT).truncate(to: Int64(Self.megabytes) << 20)
        let mkfs = Program.run(["mkfs.ext4", "-q", "-b", "4096", "-m", "0", image], in: bench.folder)
        if mkfs.status == 0, Program.run(["mount", "-o", "loop", image, mountPoint], in: bench.folder).status == 0 {
            return "ext4 with \(Self.megabytes) MB, loop-mounted"
        }
        let size = "size=\(Self.megabytes)m"
        let result = Program.run(["mount", "-t", "tmpfs", "-o", size, "none", mountPoint], in: bench.folder)
        guard result.status == 0 else { throw DeviceError(.failed, "mount", "\(mountPoint): \(result.errors)") }
        return "tmpfs with \(Self.megabytes) MB, because loop devices cannot be mounted here"
    }

    /// Records into a new storage folder while the disk has space, and returns the result.
    private func makeGolden(at mountPoint: String) throws -> Program.ExitResult {
        let storage = "\(mountPoint)/storage"
        mkdir(storage, 0o700)
        let result = try Program(
            bench.recordCommand(to: storage, seconds: Trial.seconds), in: bench.folder,
            environment: bench.environment(storage: storage)
        ).wait()
        guard result.status == 0 else { throw DeviceError(.failed, "record", "the first recording failed") }
        bench.copy(storage, to: "\(bench.folder)/golden")
        return result
    }

    /// Restores the storage folder to its state before the trials.
    private func restore(_ mountPoint: String) {
        bench.remove("\(mountPoint)/storage")
        bench.copy("\(bench.folder)/golden", to: "\(mountPoint)/storage")
    }

    private func trial(
        _ step: Step, at mountPoint: String, faults: [String: String]
    ) throws -> (trial: Trial, recordsAgain: Bool) {
        var trial = Trial("\(step.freeBytes / 1000) kB free \(step.isFilledBefore ? "before" : "during") the recording")
        let storage = "\(mountPoint)/storage"
        let state = "\(bench.folder)/disk-state"
        unlink(state)
        var faults = faults
        faults["FAULT_STATE"] = state
        if step.isFilledBefore { fill(mountPoint, leaving: step.freeBytes) }
        let program = try Program(
            bench.recordCommand(to: storage, seconds: Trial.seconds, configuration: "often"), in: bench.folder,
            environment: bench.environment(storage: storage, faults: faults))
        if !step.isFilledBefore {
            try waitUntil("the first sound on the disk") {
                !program.isRunning || !WaveContent.samples(ofRecording: 2, in: storage).isEmpty
            }
            fill(mountPoint, leaving: step.freeBytes)
        }
        let result = program.wait(seconds: Trial.timeout)
        unlink("\(mountPoint)/filler")
        trial.didOccur = true
        trial.judge(
            result, isKill: false, storage: storage, recording: 2, state: ShimState(path: state), on: bench)
        let nextRecording = try Program(
            bench.recordCommand(to: storage, seconds: 1), in: bench.folder,
            environment: bench.environment(storage: storage))
        return (trial, nextRecording.wait().status == 0)
    }

    private func fill(_ mountPoint: String, leaving free: Int) {
        let count = Self.freeBytes(mountPoint) - free
        guard count > 0, let file = try? FileDescriptor(opening: "\(mountPoint)/filler", O_WRONLY | O_CREAT) else {
            return
        }
        // Halves the size of the pieces if the remaining space is fragmented.
        var chunk = count
        var allocated = 0
        while chunk >= 4096, allocated < count {
            let hasFailed = posix_fallocate(file.number, off_t(allocated), off_t(chunk)) != 0
            if hasFailed { chunk /= 2 } else { allocated += chunk }
            chunk = min(chunk, count - allocated)
        }
    }

    private static func freeBytes(_ mountPoint: String) -> Int {
        var status = statvfs()
        return statvfs(mountPoint, &status) == 0 ? Int(status.f_bavail) * Int(status.f_frsize) : 0
    }
}
