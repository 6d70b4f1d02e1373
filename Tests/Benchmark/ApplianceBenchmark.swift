import Core
import Glibc
import System
import TestKit

/// Measures the appliance from its user's view: the delay of lamp and microphone, and the cost while idle and
/// recording.
struct ApplianceBenchmark {
    private static let rounds = 20

    let harness: Harness

    /// - Parameter speech: a file that is played in real time as a simulated microphone.
    func run(_ speech: String) throws {
        let storage = "\(harness.folder)/appliance-\(getpid())"
        let socket = "\(harness.folder)/control-\(getpid()).sock"
        let appliance = try start(try repeated(speech), storage: storage, socket: socket)
        try RecorderAnswer.wait(for: socket)
        var table = Table("the appliance", "median", "maximum", "target")

        // Waits until the work after the start is finished.
        sleep(3)
        let idle = try cpuShare(of: appliance.id, seconds: 30)
        let resident = MeasuredProcess.megabytes("VmRSS", in: "/proc/\(appliance.id)/status")

        var lamp: [Double] = []
        var firstFrame: [Double] = []
        for _ in 0..<Self.rounds {
            let pressed = MonotonicClock.seconds
            try ask(socket, "press")
            // Longer than contact bounce, shorter than a long press.
            usleep(60_000)
            try ask(socket, "release")
            firstFrame.append(try firstSampleTime(socket) - pressed)
            let changes = try ask(socket, "lamp").lamp ?? []
            guard let lit = changes.first(where: { $0.time >= pressed }) else {
                throw DeviceError(.failed, "benchmark", "the lamp did not light after a press")
            }
            lamp.append(lit.time - pressed)
            try ask(socket, "stop")
            while try ask(socket, "status").status?.state != "idle" { usleep(20_000) }
        }
        add("press to lamp, ms", lamp, "100", to: &table)
        add("press to the first frame, ms", firstFrame, "150", to: &table)
        table.add(["idle: CPU, % of a core", shown(100 * idle, 2), "", "0.5"])
        table.add(["idle: resident memory, MB", shown(resident, 1), "", "20"])

        try ask(socket, "start")
        sleep(2)
        let busy = try cpuShare(of: appliance.id, seconds: 60)
        table.add(["recording without listeners: CPU except the decoder, % of a core", shown(100 * busy, 2), "", "3"])
        let terminated = MonotonicClock.seconds
        kill(appliance.id, SIGTERM)
        while try !appliance.pipes.read(timeoutSeconds: 30).isEmpty {}
        table.add(["SIGTERM while recording to exit, s", shown(MonotonicClock.seconds - terminated, 2), "", "2"])
        print(table.markdown)
        _ = try MeasuredProcess(["rm", "-r", storage])
    }

    /// Repeats a file for three minutes, so that the measured recording contains speech until it ends; returns the
    /// path.
    private func repeated(_ speech: String) throws -> String {
        let wave = try content(ofFile: speech)
        let sound = wave.dropFirst(44)
        let times = 180 * 2 * SamplePosition.rate / max(1, sound.count)
        var header = Array(wave.prefix(40))
        withUnsafeBytes(of: UInt32(sound.count * times).littleEndian) { header.append(contentsOf: $0) }
        let path = "\(harness.folder)/speech.wav"
        let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC)
        try header.withUnsafeBytes { try file.write($0) }
        for _ in 0..<times { try sound.withUnsafeBytes { try file.write($0) } }
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
            label, shown(1_000 * sorted[sorted.count / 2], 0), shown(1_000 * sorted[sorted.count - 1], 0), target,
        ])
    }

    /// Returns the share of a core that a process uses, without its children.
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
