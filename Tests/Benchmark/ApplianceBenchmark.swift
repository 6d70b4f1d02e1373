import Core
import Glibc
import System
import TestKit

/// Measures the delay from a button press to the lamp and to the first sample, and the appliance's CPU time and memory.
struct ApplianceBenchmark {
    private static let rounds = 20

    let harness: Harness

    /// - Parameter speech: a WAV file that the simulated microphone plays in real time.
    func run(_ speech: String) throws {
        let storage = "\(harness.folder)/appliance-\(getpid())"
        let socket = "\(harness.folder)/control-\(getpid()).sock"
        let appliance = try start(try writeRepeated(speech), storage: storage, socket: socket)
        try RecorderAnswer.wait(for: socket)
        var table = Table("the appliance", "median", "maximum", "target")

        // Leaves time for the work that continues after the start.
        sleep(3)
        let idleShare = try cpuShare(of: appliance.id, seconds: 30)
        let residentMegabytes = MeasuredProcess.megabytes("VmRSS", in: "/proc/\(appliance.id)/status")

        var lampDelays: [Double] = []
        var frameDelays: [Double] = []
        for _ in 0..<Self.rounds {
            let pressTime = MonotonicClock.seconds
            try ask(socket, "press")
            // 60 ms is longer than contact bounce and shorter than a long press.
            usleep(60_000)
            try ask(socket, "release")
            frameDelays.append(try firstSampleTime(socket) - pressTime)
            let changes = try ask(socket, "lamp").lamp ?? []
            guard let lit = changes.first(where: { $0.time >= pressTime }) else {
                throw DeviceError(.failed, "benchmark", "the lamp did not light after a press")
            }
            lampDelays.append(lit.time - pressTime)
            try ask(socket, "stop")
            while try ask(socket, "status").status?.state != "idle" { usleep(20_000) }
        }
        add("press to lamp, ms", lampDelays, "100", to: &table)
        add("press to the first frame, ms", frameDelays, "150", to: &table)
        table.add(["idle: CPU, % of a core", formatted(100 * idleShare, 2), "", "0.5"])
        table.add(["idle: resident memory, MB", formatted(residentMegabytes, 1), "", "20"])

        try ask(socket, "start")
        sleep(2)
        let recordingShare = try cpuShare(of: appliance.id, seconds: 60)
        table.add([
            "recording without listeners: CPU without the decoder, % of a core", formatted(100 * recordingShare, 2), "",
            "3",
        ])
        let terminationTime = MonotonicClock.seconds
        kill(appliance.id, SIGTERM)
        while try !appliance.pipes.read(timeoutSeconds: 30).isEmpty {}
        table.add([
            "SIGTERM while recording to exit, s", formatted(MonotonicClock.seconds - terminationTime, 2), "", "2",
        ])
        print(table.markdown)
        _ = try MeasuredProcess(["rm", "-r", storage])
    }

    /// Repeats a WAV file for about three minutes, so that the recording contains speech while it is measured. Returns
    /// the path of the new file.
    private func writeRepeated(_ speech: String) throws -> String {
        let wave = try content(ofFile: speech)
        let audio = wave.dropFirst(44)
        let times = 180 * 2 * SamplePosition.rate / max(1, audio.count)
        var header = Array(wave.prefix(40))
        withUnsafeBytes(of: UInt32(audio.count * times).littleEndian) { header.append(contentsOf: $0) }
        let path = "\(harness.folder)/speech.wav"
        let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC)
        try header.withUnsafeBytes { try file.write($0) }
        for _ in 0..<times { try audio.withUnsafeBytes { try file.write($0) } }
        return path
    }

    private func start(_ speech: String, storage: String, socket: String) throws -> ChildProcess {
        let configuration = "\(harness.folder)/appliance.conf"
        try durableReplace(
            path: configuration,
            with: """
                [capture]
                device = file:\(speech)
                [panel]
                button = sim:
                lamp = sim:
                [storage]
                directory = \(storage)
                [control]
                socket = \(socket)

                """)
        return try ChildProcess(
            "/bin/sh",
            arguments: ["-c", "exec '\(harness.fieldscribe)' run --config '\(configuration)' 2>/dev/null"])
    }

    private func add(_ label: String, _ seconds: [Double], _ target: String, to table: inout Table) {
        let sorted = seconds.sorted()
        table.add([
            label, formatted(1_000 * sorted[sorted.count / 2], 0), formatted(1_000 * sorted[sorted.count - 1], 0),
            target,
        ])
    }

    /// Returns the share of a core that a process uses, excluding its children.
    private func cpuShare(of process: pid_t, seconds: UInt32) throws -> Double {
        let (before, began) = (Self.ticks(process), MonotonicClock.seconds)
        sleep(seconds)
        return (Self.ticks(process) - before) / Double(sysconf(Int32(_SC_CLK_TCK))) / (MonotonicClock.seconds - began)
    }

    private static func ticks(_ process: pid_t) -> Double {
        // The 12th and 13th fields after the name in parentheses are user and system time.
        let fields = MeasuredProcess.text("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ")
        return (fields ?? []).dropFirst(11).prefix(2).reduce(0) { $0 + (Double($1) ?? 0) }
    }
}
