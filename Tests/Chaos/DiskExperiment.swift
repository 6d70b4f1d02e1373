import Core
import Glibc
import System
import TestKit

/// A small file system that is full before a recording or fills up during it, with different free space.
///
/// It is ext4 in a file if loop devices can be mounted, otherwise tmpfs, in a separate mount namespace, in which this
/// program starts itself again.
struct DiskExperiment {
    private static let megabytes = 96

    /// The free space, and whether the disk is filled before or during the recording.
    private struct Step: Sendable {
        var free: Int
        var isBefore: Bool
    }

    let bench: Bench

    func run() async throws -> [Report.Row] {
        guard bench.options.has("inside") else { return try runInside() }
        var report = Report("disk")
        report.note("file system", try mount())
        let place = "\(bench.folder)/disk"
        defer { _ = Program.run(["umount", place], in: bench.folder) }
        let golden = try makeGolden(at: place)
        let committed = Set(Told.events(in: golden.output).compactMap(Judgement.Segment.init))
        let free = Self.freeBytes(place)
        let count = bench.options.number("steps", 20)
        // Half of the steps are within the last 200 kB.
        let steps = (0..<count).map { step in
            let half = max(1, count / 2)
            return Step(
                free: step < half ? 200_000 * step / half : 200_000 + (free - 200_000) * (step - half) / half,
                isBefore: step % 2 == 0)
        }
        var trials: [Trial] = []
        var unhurt = 0
        var resumed = 0
        for step in steps {
            renew(place)
            let (trial, resumes) = try self.trial(step, at: place, faults: [:])
            trials.append(trial)
            let judgement = Judgement("\(place)/storage", committed: committed, last: nil, on: bench)
            if judgement.lostSegments == 0, judgement.archive == nil { unhurt += 1 }
            if resumes { resumed += 1 }
        }
        Trial.report(trials, into: &report)
        report.add(none: "earlier recordings damaged", count - unhurt, of: count)
        report.add(none: "no recording once there is space again", count - resumed, of: count)
        let lies = try [20, 40, 60].map { write in
            renew(place)
            return try trial(
                Step(free: free, isBefore: true), at: place,
                faults: [
                    "FAULT_CALL": "pwrite", "FAULT_ERROR": "LIE", "FAULT_AT": "\(write)", "FAULT_SPAN": "rest",
                ])
        }
        report.add(
            control: "a disk that silently discards writes", caught: lies.count { $0.trial.isBad },
            of: lies.count { $0.trial.isBad || $0.trial.succeeded })
        return report.rows
    }

    /// Starts this program again, in a namespace in which it may mount.
    private func runInside() throws -> [Report.Row] {
        let way = geteuid() == 0 ? ["unshare", "--mount"] : ["unshare", "--user", "--map-root-user", "--mount"]
        let words =
            way + [bench.chaos, "disk", "--inside", "--json", "--executable", bench.fieldscribe]
            + ["--steps", "\(bench.options.number("steps", 20))"]
        let ending = Program.run(words, in: bench.folder, seconds: 36_000)
        let lines = ending.output.split(separator: "\n").map(String.init)
        lines.filter { $0.hasPrefix("➜") }.forEach { print($0) }
        fflush(nil)
        guard let rows = lines.last(where: { $0.hasPrefix("[") }).flatMap(Report.rows) else {
            throw DeviceError(.failed, "unshare", "the disk experiment did not run: \(ending.errors) \(ending.output)")
        }
        return rows
    }

    private func mount() throws -> String {
        let place = bench.newFolder("disk")
        let image = "\(bench.folder)/disk.img"
        try FileDescriptor(opening: image, O_WRONLY | O_CREAT).truncate(to: Int64(Self.megabytes) << 20)
        let made = Program.run(["mkfs.ext4", "-q", "-b", "4096", "-m", "0", image], in: bench.folder)
        if made.status == 0, Program.run(["mount", "-o", "loop", image, place], in: bench.folder).status == 0 {
            return "ext4 of \(Self.megabytes) MB, loop mounted"
        }
        let size = "size=\(Self.megabytes)m"
        let ending = Program.run(["mount", "-t", "tmpfs", "-o", size, "none", place], in: bench.folder)
        guard ending.status == 0 else { throw DeviceError(.failed, "mount", "\(place): \(ending.errors)") }
        return "tmpfs of \(Self.megabytes) MB: loop devices cannot be mounted here"
    }

    /// A storage folder with a recording from before the disk became full.
    private func makeGolden(at place: String) throws -> Program.Ending {
        let storage = "\(place)/storage"
        mkdir(storage, 0o700)
        let ending = try Program(
            bench.record(to: storage, seconds: Trial.seconds), in: bench.folder,
            environment: bench.environment(storage: storage)
        ).wait()
        guard ending.status == 0 else { throw DeviceError(.failed, "record", "the first recording failed") }
        bench.copy(storage, to: "\(bench.folder)/golden")
        return ending
    }

    /// The storage folder in its earlier state.
    private func renew(_ place: String) {
        bench.remove("\(place)/storage")
        bench.copy("\(bench.folder)/golden", to: "\(place)/storage")
    }

    private func trial(
        _ step: Step, at place: String, faults: [String: String]
    ) throws -> (trial: Trial, resumes: Bool) {
        var trial = Trial("\(step.free / 1000) kB free \(step.isBefore ? "before" : "in mid-recording")")
        let storage = "\(place)/storage"
        let state = "\(bench.folder)/disk-state"
        unlink(state)
        var faults = faults
        faults["FAULT_STATE"] = state
        if step.isBefore { fill(place, leaving: step.free) }
        let program = try Program(
            bench.record(to: storage, seconds: Trial.seconds, configuration: "often"), in: bench.folder,
            environment: bench.environment(storage: storage, faults: faults))
        if !step.isBefore {
            try waitUntil("the first sound on the disk") {
                !program.isRunning || !WaveContent.samples(ofRecording: 2, in: storage).isEmpty
            }
            fill(place, leaving: step.free)
        }
        let ending = program.wait(seconds: Trial.timeout)
        unlink("\(place)/filler")
        trial.wasHit = true
        trial.judge(
            ending, isKill: false, storage: storage, recording: 2, state: ShimState(path: state), on: bench)
        let again = try Program(
            bench.record(to: storage, seconds: 1), in: bench.folder,
            environment: bench.environment(storage: storage))
        return (trial, again.wait().status == 0)
    }

    private func fill(_ place: String, leaving free: Int) {
        let count = Self.freeBytes(place) - free
        guard count > 0, let file = try? FileDescriptor(opening: "\(place)/filler", O_WRONLY | O_CREAT) else { return }
        // If this much is not available in one piece, the disk is nearly full.
        var part = count
        var done = 0
        while part >= 4096, done < count {
            if posix_fallocate(file.number, off_t(done), off_t(part)) == 0 { done += part } else { part /= 2 }
            part = min(part, count - done)
        }
    }

    private static func freeBytes(_ place: String) -> Int {
        var status = statvfs()
        return statvfs(place, &status) == 0 ? Int(status.f_bavail) * Int(status.f_frsize) : 0
    }
}
