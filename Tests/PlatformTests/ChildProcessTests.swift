import Core
import Glibc
import Platform
import Testing

@Suite("A child with pipes") struct ChildProcessTests {
    init() { signal(SIGPIPE, SIG_IGN) }

    /// More than a pipe holds.
    private let much = [UInt8](repeating: 7, count: 1 << 20)

    private func write(to child: borrowing ChildProcess, timeoutSeconds: Int) -> DeviceError? {
        much.withUnsafeBytes { bytes -> DeviceError? in
            do throws(DeviceError) { try child.write(bytes, timeoutSeconds: timeoutSeconds) } catch { return error }
            return nil
        }
    }

    @Test("one that no longer reads is an error in words, and not waited for for ever")
    func asleep() throws {
        let child = try ChildProcess("/bin/sleep", arguments: ["600"])
        let failure = write(to: child, timeoutSeconds: 1)
        #expect(failure?.code == .failed && failure?.message.contains("/bin/sleep: accepted nothing for 1 s") == true)
    }

    @Test("one that is slow gets all of it")
    func slow() throws {
        let child = try ChildProcess("/bin/sh", arguments: ["-c", "sleep 1; wc -c"])
        #expect(write(to: child, timeoutSeconds: 300) == nil)
    }

    @Test("who is no child of ours is not taken for a copy")
    func stranger() {
        #expect { _ = try ChildProcess(adopting: getpid(), ChildPipes(to: "/bin/true")) } throws: { error in
            let error = error as? DeviceError
            return error?.status == ECHILD && error?.message.contains("/bin/true") == true
        }
    }

    @Test("one that has ended is an error")
    func ended() throws {
        let child = try ChildProcess("/bin/true", arguments: [])
        var answer = [UInt8](repeating: 0, count: 8)
        _ = try answer.withUnsafeMutableBytes { try child.read(into: $0, timeoutSeconds: 300) }
        #expect(write(to: child, timeoutSeconds: 300)?.operation == "write")
    }
}
