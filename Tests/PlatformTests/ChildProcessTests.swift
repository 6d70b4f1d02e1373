import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Core
@testable import System

@Suite("Child processes") struct ChildProcessTests {
    init() { signal(SIGPIPE, SIG_IGN) }

    /// More bytes than a pipe can hold.
    private let manyBytes = [UInt8](repeating: 7, count: 1 << 20)

    private func write(to child: borrowing ChildProcess, timeoutSeconds: Int) -> DeviceError? {
        manyBytes.withUnsafeBytes { bytes -> DeviceError? in
            do throws(DeviceError) { try child.pipes.write(bytes, timeoutSeconds: timeoutSeconds) } catch {
                return error
            }
            return nil
        }
    }

    @Test("writing to a child that does not read times out with an error")
    func unresponsive() throws {
        // wait: simulates a program that reads nothing; the test kills it
        let child = try ChildProcess("/bin/sleep", arguments: ["600"])
        let failure = write(to: child, timeoutSeconds: 1)
        #expect(
            failure?.code == .failed
                && failure?.message.contains("/bin/sleep: did not read its input within 1 s") == true)
        #expect(failure?.message.hasSuffix("; try again") == true, "\(failure?.message ?? "")")
        // wait: as above
        let worker = try ChildProcess("/bin/sleep", arguments: ["600"], remedy: "it is restarted")
        #expect(write(to: worker, timeoutSeconds: 1)?.message.hasSuffix("; it is restarted") == true)
    }

    @Test("variables are added to a child's environment, but do not replace inherited ones")
    func environment() throws {
        let child = try ChildProcess(
            "/bin/sh", arguments: ["-c", "echo \"$ADDED $HOME\""], environment: ["ADDED": "new", "HOME": "/other"])
        let answer = try child.pipes.read(timeoutSeconds: 60)
        let home = String(cString: try #require(getenv("HOME")))
        #expect(String(decoding: answer, as: UTF8.self) == "new \(home)\n")
    }

    @Test("a slow reader causes no error")
    func slowReader() throws {
        // wait: simulates a program that reads late; how late does not matter
        let child = try ChildProcess("/bin/sh", arguments: ["-c", "sleep 0.2; wc -c"])
        #expect(write(to: child, timeoutSeconds: 300) == nil)
    }

    /// A child that one thread passes to another.
    // Safety: the threads do not use it at the same time.
    private final class SharedChild: @unchecked Sendable {
        let child: ChildProcess
        init(_ path: String, _ arguments: [String]) throws { child = try ChildProcess(path, arguments: arguments) }

        func answer() throws -> String {
            String(decoding: try child.pipes.read(timeoutSeconds: 60), as: UTF8.self)
        }
    }

    @Test("a child outlives the thread that started it")
    func threads() async throws {
        let (cat, thread) = try await onThread(named: "short") {
            (
                try SharedChild("/bin/cat", []),
                try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            )
        }
        try await eventually("the thread's end") { access("/proc/\(thread)", F_OK) != 0 }
        try Array("still here".utf8).withUnsafeBytes { try cat.child.pipes.write($0, timeoutSeconds: 60) }
        #expect(try cat.answer() == "still here")
    }

    @Test("a child has the niceness of the requesting thread, although another thread starts it")
    func niceness() async throws {
        let ownNiceness = try SharedChild("/usr/bin/nice", []).answer()
        let childNiceness = try await onThread(named: "nice", niceness: 3) {
            try SharedChild("/usr/bin/nice", []).answer()
        }
        let base = try #require(Int(ownNiceness.prefix { $0 != "\n" }))
        #expect(childNiceness == "\(min(19, base + 3))\n")
    }

    @Test("a missing program and a program that may not be run are different errors")
    func startErrors() throws {
        let folder = TemporaryFolder()
        let text = folder.file("text")
        try Data("words".utf8).write(to: URL(filePath: text))
        #expect(thrown { _ = try ChildProcess(folder.file("absent"), arguments: []) }?.code == .missing)
        #expect(thrown { _ = try ChildProcess(text, arguments: []) }?.code == .denied)
    }

    @Test("a process that is not a child of this process is not adopted")
    func notAChild() {
        #expect { _ = try ChildProcess(adopting: getpid(), ChildPipes(to: "/bin/true")) } throws: { error in
            let error = error as? DeviceError
            return error?.status == ECHILD && error?.message.contains("/bin/true") == true
        }
    }

    @Test("writing to a child that has exited is an error")
    func exited() throws {
        let child = try ChildProcess("/bin/true", arguments: [])
        _ = try child.pipes.read(timeoutSeconds: 300)
        #expect(write(to: child, timeoutSeconds: 300)?.operation == "write")
    }
}
