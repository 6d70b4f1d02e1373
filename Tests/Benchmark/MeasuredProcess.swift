import Core
import Glibc

/// A program that ran to its end, and what it cost.
struct MeasuredProcess {
    var status: Int32
    var wallSeconds: Double
    /// User and system time, children that it waited for included.
    var cpuSeconds: Double
    /// Peak memory of the largest process, in megabytes.
    var peakMegabytes: Double

    /// Runs a program; its output goes to a file, its errors are thrown away.
    init(_ words: [String], output: String = "/dev/null", environment: [String: String] = [:]) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        for (name, value) in environment { setenv(name, value, 1) }
        defer { for name in environment.keys { unsetenv(name) } }
        let strings = words.map { strdup($0) }
        defer { strings.forEach { free($0) } }
        let began = Self.now
        var id = pid_t()
        let failure = posix_spawnp(&id, words[0], &actions, nil, strings + [nil], environ)
        guard failure == 0 else {
            throw DeviceError(.missing, "posix_spawnp", status: failure, "\(words[0]): cannot be started; install it")
        }
        var status: Int32 = 0
        var usage = rusage()
        while wait4(id, &status, 0, &usage) < 0, errno == EINTR {}
        self.status = status
        wallSeconds = Self.now - began
        cpuSeconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
        peakMegabytes = Double(usage.ru_maxrss) / 1024
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
