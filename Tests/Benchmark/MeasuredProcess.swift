import Core
import FoundationEssentials
import Glibc
import System

/// A program that has ended, and its cost.
struct MeasuredProcess {
    var status: Int32
    var wallSeconds: Double
    /// User and system time, including children that it waited for.
    var cpuSeconds: Double
    /// Peak memory of the largest process, in megabytes; at least this program's when it starts the process, which the
    /// kernel also counts.
    var peakMegabytes: Double
    /// The peak of the program and its descendants together, shared pages once, in megabytes; 0 without sampling.
    var peakTogetherMegabytes = 0.0
    /// The same for its decode workers alone, with the programs that they run.
    var peakWorkersMegabytes = 0.0
    /// The resident peak (VmHWM) of one decode worker, or of the program that it runs, including shared pages; 0
    /// without sampling.
    var peakWorkerMegabytes = 0.0

    /// Runs a program; its output goes to a file, its errors are discarded.
    ///
    /// - Parameters:
    ///   - input: the file for its standard input; nil to inherit ours.
    ///   - samplingMemory: whether to measure the memory of all its processes ten times a second.
    init(
        _ words: [String], input: String? = nil, output: String = "/dev/null", environment: [String: String] = [:],
        samplingMemory: Bool = false
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input { posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0) }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        for (name, value) in environment { setenv(name, value, 1) }
        defer { for name in environment.keys { unsetenv(name) } }
        let strings = words.map { strdup($0) }
        defer { strings.forEach { free($0) } }
        let began = MonotonicClock.seconds
        var id = pid_t()
        let failure = posix_spawnp(&id, words[0], &actions, nil, strings + [nil], environ)
        guard failure == 0 else {
            throw DeviceError(.missing, "posix_spawnp", status: failure, "\(words[0]): cannot be started; install it")
        }
        var status: Int32 = 0
        var usage = rusage()
        while samplingMemory, wait4(id, &status, WNOHANG, &usage) == 0 {
            let held = Self.held(by: id)
            peakTogetherMegabytes = max(peakTogetherMegabytes, held.all)
            peakWorkersMegabytes = max(peakWorkersMegabytes, held.workers)
            peakWorkerMegabytes = max(peakWorkerMegabytes, held.largestWorker)
            usleep(100_000)
        }
        if !samplingMemory { while wait4(id, &status, 0, &usage) < 0, errno == EINTR {} }
        self.status = status
        wallSeconds = MonotonicClock.seconds - began
        cpuSeconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
        peakMegabytes = Double(usage.ru_maxrss) / 1024
    }

    /// Returns the memory of a process and its descendants, each shared page divided among its users; the same for
    /// decode workers and whisper-cli, which transcribes for them; and the largest resident peak of one of these.
    private static func held(by id: pid_t) -> (all: Double, workers: Double, largestWorker: Double) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.reduce(into: (0.0, 0.0, 0.0)) { held, name in
            guard let process = pid_t(name), isBelow(process, id) else { return }
            let share = megabytes("Pss", in: "/proc/\(process)/smaps_rollup")
            held.0 += share
            let command = text("/proc/\(process)/cmdline")
            guard command.contains("decode-worker") || command.contains("whisper-cli") else { return }
            held.1 += share
            held.2 = max(held.2, megabytes("VmHWM", in: "/proc/\(process)/status"))
        }
    }

    /// Converts a value in kilobytes from a file in /proc to megabytes; 0 if the file has no such value.
    static func megabytes(_ name: String, in path: String) -> Double {
        let line = text(path).split(separator: "\n").first { $0.hasPrefix("\(name):") }
        let fields = line?.split { $0 == " " || $0 == "\t" }
        return (fields?.dropFirst().first.flatMap { Double($0) } ?? 0) / 1_024
    }

    private static func isBelow(_ process: pid_t, _ id: pid_t) -> Bool {
        var next: pid_t? = process
        while let current = next, current != id { next = parent(of: current) }
        return next != nil
    }

    private static func parent(of process: pid_t) -> pid_t? {
        // The name in parentheses may contain spaces; the state and the parent follow it.
        let fields = text("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ")
        return fields?.dropFirst().first.flatMap { pid_t($0) }
    }

    static func text(_ path: String) -> String {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}

extension MeasuredProcess {
    /// Runs a program that must succeed.
    ///
    /// - Throws: `DeviceError` with the command line if its status is not 0.
    @discardableResult
    static func succeeding(_ words: [String]) throws -> MeasuredProcess {
        let process = try MeasuredProcess(words)
        guard process.status == 0 else {
            throw DeviceError(.failed, "benchmark", "\(words.joined(separator: " ")): failed; run it by hand")
        }
        return process
    }

    /// Runs a shell's command that must succeed.
    static func shell(_ command: String) throws { try succeeding(["sh", "-c", command]) }
}

extension [MeasuredProcess] {
    /// The median; of an even number, the upper one.
    func median(_ figure: (MeasuredProcess) -> Double) -> Double { map(figure).sorted()[count / 2] }
}

/// Makes a sound file with sox, whose dither and noise are reproducible.
///
/// - Parameter source: the file that it is made from, for the message.
/// - Throws: `DeviceError` with `missing` if sox fails.
func sox(_ words: [String], of source: String? = nil) throws {
    guard try MeasuredProcess(["sox", "-R"] + words).status == 0 else {
        throw DeviceError(.missing, "sox", "sox failed\(source.map { " on \($0)" } ?? ""); install sox")
    }
}
