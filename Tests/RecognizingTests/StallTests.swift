import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition
@testable import System

@Suite("Stalled workers") struct StallTests {
    init() { signal(SIGPIPE, SIG_IGN) }

    @Test(
        "a stopped or hanging worker is replaced, its utterance is decoded again, and a fault reports the reason",
        arguments: [("stopped", "has been stopped"), ("asleep", "has done nothing")])
    func replacement(mode: String, message: String) async throws {
        let folder = TemporaryFolder()
        let (sink, statistics) = try await TranscriberTests.transcribe(
            [.samples(TranscriberTests.bursts([5, 30, 6]))],
            with: TranscriberTests.pool(mode, folder.file("done"), size: 1))
        #expect(sink.segments.map(\.words.count) == [1, 1, 1])
        #expect(statistics.sessions == 4)
        #expect(sink.faults.count == 1 && sink.faults[0].message.contains(message), "\(sink.faults)")
        #expect(sink.faults.first?.message.contains("it was replaced") == true)
    }

    @Test("a process's progress grows while it works, and not while it is stopped")
    func progress() throws {
        let child = try ChildProcess("/bin/sh", arguments: ["-c", "while :; do :; done"])
        let first = try #require(ProcessProgress(of: child.id))
        try waitUntil("the process works") {
            ProcessProgress(of: child.id).map { $0 != first && !$0.isStopped } ?? false
        }
        kill(child.id, SIGSTOP)
        try waitUntil("the process is stopped") { ProcessProgress(of: child.id)?.isStopped ?? false }
        let stopped = ProcessProgress(of: child.id)
        #expect(stopped == ProcessProgress(of: child.id))
        #expect(ProcessProgress(of: -1) == nil)
    }

    @Test("a child's work counts as progress, so a worker that waits for a program is not stalled")
    func childProgress() throws {
        let child = try ChildProcess("/bin/sh", arguments: ["-c", "sh -c 'while :; do :; done' & wait"])
        let file = "/proc/\(child.id)/task/\(child.id)/children"
        var children: [Int32] = []
        try waitUntil("the process has a child") {
            let text = try FileDescriptor(opening: file, O_RDONLY).bytes(count: 100)
            children = String(decoding: text, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
            return children.count == 1
        }
        // The child does not exit with its parent.
        defer { for id in children { kill(id, SIGKILL) } }
        let first = try #require(ProcessProgress(of: child.id))
        try waitUntil("the child works") { ProcessProgress(of: child.id).map { $0 != first } ?? false }
    }
}
