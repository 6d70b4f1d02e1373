internal import CLinux
import Core
import Glibc

/// Parses untrusted files in a child process that can access only its input and a limited amount of memory (seccomp).
///
/// The parent sends all bytes and reads one answer of limited size. If the child crashes or exceeds a limit,
/// `answer(to:named:)` throws.
package struct SandboxedProcess: Sendable {
    /// The child's limits.
    package struct Limits: Sendable {
        /// The maximum memory, in bytes.
        var memory: UInt64 = 192 << 20
        var cpuSeconds: UInt64 = 30
        /// The maximum length of the answer, in bytes.
        var answer = 8 << 20
    }

    /// The hidden command that calls `serve`. Its argument is the kind of file.
    package static let command = "read-incoming"

    private let program: String
    private let arguments: [String]
    private let limits: Limits

    /// - Parameters:
    ///   - program: The path of a program that calls `serve`.
    ///   - arguments: The arguments, without the program's name.
    package init(program: String, arguments: [String], limits: Limits = Limits()) {
        self.program = program
        self.arguments = arguments
        self.limits = limits
    }

    /// Sends bytes to the child and returns its answer. Blocks.
    ///
    /// - Parameter name: The name of the input in errors.
    /// - Throws: `DeviceError` with `damaged` if the child gave no answer or exceeded a limit, or with `failed` or
    ///   `missing` if the child could not be started.
    package func answer(to bytes: [UInt8], named name: String) throws(DeviceError) -> [UInt8] {
        let child = try ChildProcess(program, arguments: arguments, showsErrors: false)
        child.limit(
            memory: limits.memory + Self.programAddressSpace, data: limits.memory, cpuSeconds: limits.cpuSeconds)
        // The child reads all input before it answers. If it hangs (SIGSTOP, a disk that does not respond), it is
        // killed.
        let seconds = Int(limits.cpuSeconds) * Self.wallFactor
        do throws(DeviceError) {
            try rethrowing { try bytes.withUnsafeBytes { try child.pipes.write($0, timeoutSeconds: seconds) } }
        } catch {
            throw failure(name, error.status == ETIMEDOUT ? nil : try child.exitStatus(timeoutSeconds: seconds))
        }
        child.pipes.closeInput()
        let answer: [UInt8]
        do throws(DeviceError) {
            answer = try child.output(upTo: limits.answer, timeoutSeconds: seconds)
        } catch { throw failure(name, nil) }
        guard answer.count <= limits.answer else {
            throw DeviceError(
                .damaged, "read", on: name, "contains more than any recording can",
                remedy: "nothing was changed; remove content that is not from the recording")
        }
        let status = try child.exitStatus(timeoutSeconds: seconds)
        guard status == 0 else { throw failure(name, status) }
        return answer
    }

    /// Returns the error for a child that gave no answer.
    ///
    /// - Parameter status: The exit status; nil if the child did not exit.
    private func failure(_ name: String, _ status: Int32?) -> DeviceError {
        let reason =
            switch status {
            case nil: "could not be read within \(Int(limits.cpuSeconds) * Self.wallFactor) s"
            case 128 + SIGXCPU: "takes more than \(limits.cpuSeconds) s of CPU time to read"
            default: "cannot be read with \(limits.memory >> 20) MB of memory and \(limits.cpuSeconds) s of CPU time"
            }
        return DeviceError(
            .damaged, "read", status: status ?? ETIMEDOUT, on: name, reason,
            remedy: "nothing was changed; save it again, or remove it")
    }

    /// The address space for the program and its libraries.
    private static let programAddressSpace: UInt64 = 1 << 30
    /// The wall-clock limit as a multiple of the CPU limit, for busy machines.
    private static let wallFactor = 10

    /// Runs in the child: gives up access to everything but memory, reads standard input, and writes the answer to
    /// standard output.
    ///
    /// - Parameter answer: Returns the answer to the input. It has no access to files, processes or the network.
    /// - Throws: `DeviceError` if the system does not support the sandbox, or if the parent has exited.
    package static func serve(_ answer: ([UInt8]) -> [UInt8]) throws(DeviceError) {
        // If memory runs out, the kernel should kill this process first. The service's sandbox may forbid this; the
        // limits apply anyway.
        if let file = try? FileDescriptor(opening: "/proc/self/oom_score_adj", O_WRONLY) {
            try? rethrowing { try Array("1000".utf8).withUnsafeBytes { try file.write($0) } }
        }
        let status = fieldscribe_enter_sandbox()
        guard status == 0 else { throw .system("seccomp", status: status, on: command) }
        var bytes: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 8)
        defer { buffer.deallocate() }
        while true {
            let count = uninterrupted { Glibc.read(STDIN_FILENO, buffer.baseAddress, buffer.count) }
            guard count >= 0 else { throw .system("read", on: "standard input") }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        let answer = answer(bytes)
        try rethrowing {
            try answer.withUnsafeBytes { try FileDescriptor.write($0, to: STDOUT_FILENO, named: "standard output") }
        }
    }
}
