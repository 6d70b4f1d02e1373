import FoundationEssentials
import Glibc
import Testing
import TestKit

@Suite("After a command is killed") struct KilledParentTests {
    private let folder = TemporaryFolder()

    /// Creates an engine that reports ready, writes its process ID to `file`, and then ignores its input.
    private func engine(writingIDTo file: String) throws -> String {
        let script = """
            echo '{"ready":{"name":"busy","version":"1","model":"none"}}'
            echo $$ > '\(file).new' && mv '\(file).new' '\(file)'
            # wait: stands for work that outlasts the test, which kills this process
            exec sleep 7200

            """
        return try folder.program("engine", script)
    }

    /// Whether a process is alive. A zombie does not count.
    private func isRunning(_ id: String) -> Bool {
        guard let status = try? Fieldscribe.text("/proc/\(id)/stat") else { return false }
        return status.split(separator: ")").last?.split(separator: " ").first.map { !"ZX".contains($0) } ?? false
    }

    @Test("no worker keeps running, not even a busy one")
    func busyEngine() throws {
        let idFile = folder.file("engine-id")
        let engine = try engine(writingIDTo: idFile)
        let text = "[storage]\ndirectory = \(folder.file("store"))\n[recognizer]\nengine = command:\(engine)\n"
        let config = folder.file("fieldscribe.conf")
        try Data(text.utf8).write(to: URL(filePath: config))
        let command = try Fieldscribe(["transcribe", "--config", config, Speech.all[4]], in: folder)
        try command.wait(until: "the engine is ready") { access(idFile, F_OK) == 0 }
        let id = try Fieldscribe.text(idFile).filter { $0 != "\n" }
        #expect(isRunning(id))
        kill(command.id, SIGKILL)
        _ = try command.wait()
        try waitUntil("the engine exits") { !isRunning(id) }
    }

    @Test("no forked worker keeps running")
    func forkedWorkers() throws {
        let command = try Fieldscribe(
            ["transcribe", "--jobs", "2", try Speech.endless(in: folder), try Speech.joined(in: folder)], in: folder)
        var workers: [pid_t] = []
        try command.wait(until: "two workers") {
            workers = try command.children
            return workers.count >= 2
        }
        kill(command.id, SIGKILL)
        _ = try command.wait()
        try waitUntil("the workers exit") { !workers.contains { isRunning("\($0)") } }
    }
}
