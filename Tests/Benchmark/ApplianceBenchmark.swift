import Core
import Glibc
import System
import TestKit

/// The appliance as its user sees it: the delay of lamp and microphone, and its cost while idle.
struct ApplianceBenchmark {
    private static let rounds = 20

    let workshop: Workshop

    /// - Parameter speech: a file that is played as a microphone, in real time.
    func run(_ speech: String) throws {
        let storage = "\(workshop.folder)/appliance-\(getpid())"
        let socket = "\(workshop.folder)/control-\(getpid()).sock"
        let appliance = try start(try repeated(speech), storage: storage, socket: socket)
        try RecorderAnswer.wait(for: socket)
        var table = Table("the appliance", "median", "longest", "target")

        // By then, the work that follows a start is done.
        sleep(3)
        let idle = try share(of: appliance.id, seconds: 30)
        let resident = MeasuredProcess.megabytes("VmRSS", in: "/proc/\(appliance.id)/status")

        var lamp: [Double] = []
        var frame: [Double] = []
        for _ in 0..<Self.rounds {
            let pressed = MonotonicClock.seconds
            try ask(socket, "press")
            // Longer than the contacts bounce, shorter than a long press.
            usleep(60_000)
            try ask(socket, "release")
            frame.append(try firstSample(socket) - pressed)
            let changes = try ask(socket, "lamp").lamp ?? []
            guard let lit = changes.first(where: { $0.time >= pressed }) else {
                throw DeviceError(.failed, "benchmark", "the lamp did not answer a press")
            }
            lamp.append(lit.time - pressed)
            try ask(socket, "stop")
            while try ask(socket, "status").status?.state != "idle" { usleep(20_000) }
        }
        add("press to lamp, ms", lamp, "100", to: &table)
        add("press to the first frame, ms", frame, "150", to: &table)
        table.add(["idle: CPU, % of a core", shown(100 * idle, 2), "", "0.5"])
        table.add(["idle: resident memory, MB", shown(resident, 1), "", "20"])

        try ask(socket, "start")
        sleep(2)
        let busy = try share(of: appliance.id, seconds: 60)
        table.add(["recording, nobody listens: CPU beside the decoder's, % of a core", shown(100 * busy, 2), "", "3"])
        let told = MonotonicClock.seconds
        kill(appliance.id, SIGTERM)
        while try !appliance.pipes.read(timeoutSeconds: 30).isEmpty {}
        table.add(["SIGTERM while it records to its end, s", shown(MonotonicClock.seconds - told, 2), "", "2"])
        print(table.markdown)
        _ = try MeasuredProcess(["rm", "-r", storage])
    }

    /// Repeats a file for three minutes, so that the measured recording contains speech to its end; returns the path.
    private func repeated(_ speech: String) throws -> String {
        let wave = try content(ofFile: speech)
        let sound = wave.dropFirst(44)
        let times = 180 * 2 * SamplePosition.rate / max(1, sound.count)
        var header = Array(wave.prefix(40))
        withUnsafeBytes(of: UInt32(sound.count * times).littleEndian) { header.append(contentsOf: $0) }
        let path = "\(workshop.folder)/speech.wav"
        let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC)
        try header.withUnsafeBytes { try file.write($0) }
        for _ in 0..<times { try sound.withUnsafeBytes { try file.write($0) } }
        return path
    }

    private func start(_ speech: String, storage: String, socket: String) throws -> ChildProcess {
        let configuration = "\(workshop.folder)/appliance.conf"
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
            arguments: ["-c", "exec '\(workshop.fieldscribe)' run --config '\(configuration)' 2>/dev/null"])
    }

    private func add(_ what: String, _ seconds: [Double], _ target: String, to table: inout Table) {
        let sorted = seconds.sorted()
        table.add([
            what, shown(1_000 * sorted[sorted.count / 2], 0), shown(1_000 * sorted[sorted.count - 1], 0), target,
        ])
    }

    /// Returns the share of a core that a process takes, without its children.
    private func share(of process: pid_t, seconds: UInt32) throws -> Double {
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
