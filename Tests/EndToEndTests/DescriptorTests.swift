import FoundationEssentials
import Glibc
import Testing
import TestKit

@Suite("No file descriptors left", .serialized) struct DescriptorTests {
    private let folder = TemporaryFolder()

    /// Lowers a process's limit of open files to its current number, or restores it.
    private func limit(_ process: pid_t, _ most: Int) throws {
        try Fieldscribe.tool("prlimit", "--pid", "\(process)", "--nofile=\(most):", in: folder)
    }

    /// The CPU of the control socket's thread, in ticks of 10 ms.
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

    /// The open files after the start, once they have not changed for half a second.
    private func settledDescriptors(of process: Fieldscribe) throws -> Set<Int> {
        var (open, times) = (Set<Int>(), 0)
        // wait: no event marks the end of a start; if descriptors close later, one of three clients still finds none
        try process.wait(until: "the descriptors settle", every: .milliseconds(100)) {
            let path = "/proc/\(process.id)/fd"
            let now = Set(try FileManager.default.contentsOfDirectory(atPath: path).compactMap { Int($0) })
            times = now == open ? times + 1 : 0
            open = now
            return times == 5
        }
        return open
    }

    /// poll(2) fails for more descriptors than the limit: `most` is lower than the number that the socket waits for.
    @Test("the control socket waits instead of spinning, reports that once, and answers again", arguments: [nil, 2])
    func controlSocket(most: Int?) throws {
        let appliance = try ApplianceProcess(in: folder, microphone: "tone:440")
        let watcher = try Watcher(appliance)
        let process = appliance.process.id
        let open = try settledDescriptors(of: appliance.process)
        try limit(process, most ?? (0...).first { !open.contains($0) } ?? 0)
        let clients = (0..<3).map { _ in SocketClient(appliance.socket) }
        #expect(clients.allSatisfy { $0 != nil })
        try watcher.wait { $0.contains("control.sock: ") }
        let before = try ticks(process)
        // wait: only a spinning thread uses CPU in that time; a busy machine can hide that, but not cause it
        sleep(3)
        #expect(try ticks(process) - before < 100)
        let said = try watcher.lines.filter { $0.contains("\"fault\"") }
        #expect(said.count { $0.contains("control.sock: ") } == 1, "\(said)")
        try limit(process, 1_024)
        for client in clients {
            let answer = try #require(client).ask(#"{"command":"status"}"#)
            #expect(answer != nil)
        }
        #expect(try appliance.end().status == 0)
    }

    @Test("with too few descriptors to start a worker, the error says how many it needs")
    func worker() throws {
        let command = ["transcribe", "--engine", "pocketsphinx", Speech.all[0]]
        let words = ["--nofile=100", try Fieldscribe.executable()] + command
        let ending = try Fieldscribe(program: "prlimit", words, in: folder).wait()
        #expect(ending.status == 1)
        #expect(ending.errors.contains { $0.contains("ulimit -n 256") }, "\(ending.errors)")
    }
}
