import FoundationEssentials
import Glibc
import Testing
import TestKit

@Suite("Running out of file descriptors", .serialized) struct DescriptorTests {
    private let folder = TemporaryFolder()

    /// Sets a process's soft limit on open files.
    private func setLimit(_ process: pid_t, _ maximum: Int) throws {
        try Fieldscribe.tool("prlimit", "--pid", "\(process)", "--nofile=\(maximum):", in: folder)
    }

    /// Returns the CPU time of the control socket's thread, in ticks of 10 ms.
    private func ticks(_ process: pid_t) throws -> Int {
        let tasks = "/proc/\(process)/task"
        for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
            let line = try String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8)
            guard line.contains("(control)"), let end = line.lastIndex(of: ")") else { continue }
            let fields = line[end...].split(separator: " ")
            return (Int(fields[12]) ?? 0) + (Int(fields[13]) ?? 0)
        }
        throw Fieldscribe.CannotStart(program: "control", status: 0)
    }

    /// Waits until the open descriptors have not changed for half a second, and returns them.
    private func settledDescriptors(of process: Fieldscribe) throws -> Set<Int> {
        var (open, unchangedPolls) = (Set<Int>(), 0)
        // wait: no event marks the end of a start; if descriptors close later, three clients still exhaust them
        try process.wait(until: "the descriptors settle", every: .milliseconds(100)) {
            let path = "/proc/\(process.id)/fd"
            let now = Set(try FileManager.default.contentsOfDirectory(atPath: path).compactMap { Int($0) })
            unchangedPolls = now == open ? unchangedPolls + 1 : 0
            open = now
            return unchangedPolls == 5
        }
        return open
    }

    /// A `maximum` of nil stands for the first free descriptor, so that accept(2) fails. With 2, poll(2) also fails,
    /// because it gets more descriptors than the limit.
    @Test(
        "the control socket reports the exhaustion once, waits without spinning, and answers later",
        arguments: [nil, 2])
    func controlSocket(maximum: Int?) throws {
        let appliance = try ApplianceProcess(in: folder, microphone: "tone:440")
        let watcher = try Watcher(appliance)
        let process = appliance.process.id
        let open = try settledDescriptors(of: appliance.process)
        try setLimit(process, maximum ?? (0...).first { !open.contains($0) } ?? 0)
        let clients = (0..<3).map { _ in SocketClient(appliance.socket) }
        #expect(clients.allSatisfy { $0 != nil })
        try watcher.wait { $0.contains("control.sock: ") }
        let before = try ticks(process)
        // wait: only a spinning thread uses that much CPU time; a busy machine can hide it but not cause it
        sleep(3)
        #expect(try ticks(process) - before < 100)
        let faults = try watcher.lines.filter { $0.contains("\"fault\"") }
        #expect(faults.count { $0.contains("control.sock: ") } == 1, "\(faults)")
        try setLimit(process, 1_024)
        for client in clients {
            let answer = try #require(client).ask(#"{"command":"status"}"#)
            #expect(answer != nil)
        }
        #expect(try appliance.stop().status == 0)
    }

    @Test("if there are too few descriptors to start a worker, the error says how many it needs")
    func worker() throws {
        let command = ["transcribe", "--engine", "pocketsphinx", Speech.all[0]]
        let arguments = ["--nofile=100", try Fieldscribe.executable()] + command
        let outcome = try Fieldscribe(program: "prlimit", arguments, in: folder).wait()
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains { $0.contains("ulimit -n 256") }, "\(outcome.errors)")
    }
}
