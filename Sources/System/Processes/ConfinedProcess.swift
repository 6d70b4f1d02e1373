internal import CLinux
import Core
import Glibc

/// A child process for reading what came from outside: it gets bytes, and has nothing but its own memory, limited, to read them with.
///
/// The parent sends all bytes and takes one answer of limited size. A reader that crashes, or needs more than its limits, is an error
/// in the parent and nothing else.
package struct ConfinedProcess: Sendable {
    /// What the child may take.
    package struct Limits: Sendable {
        /// Bytes of memory of its own.
        var memory: UInt64
        /// Seconds of computing.
        var cpuSeconds: UInt64
        /// Bytes of its answer.
        var answer: Int

        init(memory: UInt64 = 192 << 20, cpuSeconds: UInt64 = 30, answer: Int = 8 << 20) {
            self.memory = memory
            self.cpuSeconds = cpuSeconds
            self.answer = answer
        }

        fileprivate var text: String { "\(memory >> 20) MB of memory and \(cpuSeconds) s of computing" }
    }

    /// The hidden command of our programs that calls `serve`; the kind of file follows it.
    package static let command = "read-incoming"

    private let program: String
    private let arguments: [String]
    private let limits: Limits

    /// - Parameters:
    ///   - program: one that calls `serve`.
    ///   - arguments: without the program's name.
    package init(program: String = "/proc/self/exe", arguments: [String], limits: Limits = Limits()) {
        self.program = program
        self.arguments = arguments
        self.limits = limits
    }

    /// Sends the bytes, and returns what the child answers. Blocks.
    ///
    /// - Parameter name: what the bytes are, such as a file's name, for the error.
    /// - Throws: `DeviceError` with `damaged` if the child ended without an answer or exceeded a limit, `failed` or `missing` if it could
    ///   not be started.
    package func answer(to bytes: [UInt8], named name: String) throws(DeviceError) -> [UInt8] {
        let child = try ChildProcess(program, arguments: arguments, showsErrors: false)
        child.limit(memory: limits.memory + Self.ownSpace, data: limits.memory, cpuSeconds: limits.cpuSeconds)
        // It reads all before it answers; one that stands still (SIGSTOP, a hung disk) is ended.
        let seconds = Int(limits.cpuSeconds) * Self.wallFactor
        do throws(DeviceError) {
            try rethrowing { try bytes.withUnsafeBytes { try child.write($0, timeoutSeconds: seconds) } }
        } catch { throw refusal(name, error.status == ETIMEDOUT ? nil : try child.exitStatus(timeoutSeconds: seconds)) }
        child.closeInput()
        var answer: [UInt8] = []
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 8)
        defer { room.deallocate() }
        while true {
            let count: Int
            do throws(DeviceError) {
                count = try child.read(into: room, timeoutSeconds: seconds)
            } catch { throw refusal(name, nil) }
            if count == 0 { break }
            guard answer.count + count <= limits.answer else {
                throw DeviceError(
                    .damaged, "read", on: name, "holds more than a recording can have",
                    remedy: "nothing was changed; remove what does not belong there")
            }
            answer += room[..<count]
        }
        let status = try child.exitStatus(timeoutSeconds: seconds)
        guard status == 0 else { throw refusal(name, status) }
        return answer
    }

    /// Why there is no answer.
    ///
    /// - Parameter status: the child's exit status; nil if it did not end.
    private func refusal(_ name: String, _ status: Int32?) -> DeviceError {
        let reason =
            switch status {
            case nil: "was not read in \(Int(limits.cpuSeconds) * Self.wallFactor) s"
            case 128 + SIGXCPU: "takes longer to read than \(limits.cpuSeconds) s of computing"
            default: "cannot be read with \(limits.text)"
            }
        return DeviceError(
            .damaged, "read", status: status ?? ETIMEDOUT, on: name, reason,
            remedy: "nothing was changed; save it again, or remove it")
    }

    /// What a program of ours maps beside its data: itself and its libraries.
    private static let ownSpace: UInt64 = 1 << 30
    /// How many times its computing it may take where others compute, too.
    private static let wallFactor = 10

    /// The child: gives up everything but its memory, reads its standard input, and writes its answer to standard output.
    ///
    /// - Parameter answer: makes the answer of all that was read. It runs without access to any file, process or network.
    /// - Throws: `DeviceError` if the system does not let it give that up, or the parent has gone.
    package static func serve(_ answer: ([UInt8]) -> [UInt8]) throws(DeviceError) {
        // The first to be ended if memory runs out; a sandbox may refuse that, and the limits hold without it.
        if let file = try? FileDescriptor(opening: "/proc/self/oom_score_adj", O_WRONLY) {
            try? rethrowing { try Array("1000".utf8).withUnsafeBytes { try file.write($0) } }
        }
        let status = fieldscribe_confine()
        guard status == 0 else { throw .system("seccomp", status: status, on: command) }
        var bytes: [UInt8] = []
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 8)
        defer { room.deallocate() }
        while true {
            let count = uninterrupted { Glibc.read(STDIN_FILENO, room.baseAddress, room.count) }
            guard count >= 0 else { throw .system("read", on: "standard input") }
            if count == 0 { break }
            bytes += room[..<count]
        }
        let answer = answer(bytes)
        try rethrowing {
            try answer.withUnsafeBytes { try FileDescriptor.write($0, to: STDOUT_FILENO, named: "standard output") }
        }
    }
}
