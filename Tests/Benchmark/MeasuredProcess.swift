import Core
import FoundationEssentials
import Glibc
import System

/// A program that has exited, and its cost.
struct MeasuredProcess {
    var status: Int32
    var wallSeconds: Double
    /// User and system time, including child processes that the program waited for.
    var cpuSeconds: Double
    /// Peak memory of the largest process, in megabytes. The kernel also counts the memory that the benchmark used when
    /// it started the process.
    var peakMegabytes: Double
    /// Peak memory of the program and its descendants together, counting shared pages once, in megabytes; 0 if memory
    /// is not sampled.
    var peakTogetherMegabytes = 0.0
    /// Peak memory of the program's decode workers and the programs that they run, in megabytes; 0 if memory is not
    /// sampled.
    var peakWorkersMegabytes = 0.0
    /// Peak resident memory (VmHWM) of one decode worker, or of the program that it runs, including shared pages, in
    /// megabytes; 0 if memory is not sampled.
    var peakWorkerMegabytes = 0.0

    /// Runs a program until it exits. Standard output goes to a file, standard error is discarded.
    ///
    /// - Parameters:
    ///   - input: the file for standard input; nil to inherit it.
    ///   - samplingMemory: whether to measure the memory of the program and its descendants ten times per second.
    init(
        _ arguments: [String], input: String? = nil, output: String = "/dev/null", environment: [String: String] = [:],
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
        let strings = arguments.map { strdup($0) }
        defer { strings.forEach { free($0) } }
        let began = MonotonicClock.seconds
        var id = pid_t()
        let failure = posix_spawnp(&id, arguments[0], &actions, nil, strings + [nil], environ)
        guard failure == 0 else {
            throw DeviceError(
                .missing, "posix_spawnp", status: failure, "\(arguments[0]): cannot be started; install it")
        }
        var status: Int32 = 0
        var usage = rusage()
        while samplingMemory, wait4(id, &status, WNOHANG, &usage) == 0 {
            let memory = Self.memory(of: id)
            peakTogetherMegabytes = max(peakTogetherMegabytes, memory.all)
            peakWorkersMegabytes = max(peakWorkersMegabytes, memory.workers)
            peakWorkerMegabytes = max(peakWorkerMegabytes, memory.largestWorker)
            usleep(100_000)
        }
        if !samplingMemory { while wait4(id, &status, 0, &usage) < 0, errno == EINTR {} }
        self.status = status
        wallSeconds = MonotonicClock.seconds - began
        cpuSeconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
        peakMegabytes = Double(usage.ru_maxrss) / 1024
    }

    /// Returns the memory of a process and its descendants, that of the decode workers and whisper-cli among them, and
    /// the largest resident peak of one of these. The first two divide shared pages among the processes that use them.
    private static func memory(of id: pid_t) -> (all: Double, workers: Double, largestWorker: Double) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.reduce(into: (0.0, 0.0, 0.0)) { sums, name in
            guard let process = pid_t(name), isDescendant(process, of: id) else { return }
            let share = megabytes("Pss", in: "/proc/\(process)/smaps_rollup")
            sums.0 += share
            let command = text("/proc/\(process)/cmdline")
            guard command.contains("decode-worker") || command.contains("whisper-cli") else { return }
            sums.1 += share
            sums.2 = max(sums.2, megabytes("VmHWM", in: "/proc/\(process)/status"))
        }
    }

    /// Returns a value in kilobytes from a file in /proc, in megabytes; 0 if the file has no such value.
    static func megabytes(_ name: String, in path: String) -> Double {
        let line = text(path).split(separator: "\n").first { $0.hasPrefix("\(name):") }
        let fields = line?.split { $0 == " " || $0 == "\t" }
        return (fields?.dropFirst().first.flatMap { Double($0) } ?? 0) / 1_024
    }

    /// Whether a process is `id` itself or one of its descendants.
    private static func isDescendant(_ process: pid_t, of id: pid_t) -> Bool {
        var next: pid_t? = process
        while let current = next, current != id { next = parent(of: current) }
        return next != nil
    }

    private static func parent(of process: pid_t) -> pid_t? {
        // The process name in parentheses may contain spaces; the state and the parent's ID follow it.
        let fields = text("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ")
        return fields?.dropFirst().first.flatMap { pid_t($0) }
    }

    /// Returns the first 4 kB of a file; empty if it cannot be read.
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
    /// - Throws: `DeviceError` with the command line if the exit status is not 0.
    @discardableResult
    static func succeeding(_ arguments: [String]) throws -> MeasuredProcess {
        let process = try MeasuredProcess(arguments)
        guard process.status == 0 else {
            throw DeviceError(.failed, "benchmark", "\(arguments.joined(separator: " ")): failed; run it by hand")
        }
        return process
    }

    /// Runs a shell command that must succeed.
    static func shell(_ command: String) throws { try succeeding(["sh", "-c", command]) }
}

extension [MeasuredProcess] {
    /// Returns the median of a figure; the upper one if the number of processes is even.
    func median(_ figure: (MeasuredProcess) -> Double) -> Double { map(figure).sorted()[count / 2] }
}

/// Runs sox to create an audio file, with reproducible dither and noise.
///
/// - Parameter source: the input file to mention in the error message.
/// - Throws: `DeviceError` with `missing` if sox fails.
func sox(_ arguments: [String], of source: String? = nil) throws {
    guard try MeasuredProcess(["sox", "-R"] + arguments).status == 0 else {
        throw DeviceError(.missing, "sox", "sox failed\(source.map { " on \($0)" } ?? ""); install sox")
    }
}
