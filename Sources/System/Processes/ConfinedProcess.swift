internal import CLinux
import Core
import Glibc

/// Parses untrusted files in a child process that has only its input and limited memory (seccomp).
///
/// The parent sends all bytes and reads one answer of limited size. If the child crashes or exceeds a limit, the parent
/// gets an error.
package struct ConfinedProcess: Sendable {
    /// The child's limits.
    package struct Limits: Sendable {
        /// Bytes of memory.
        var memory: UInt64 = 192 << 20
        var cpuSeconds: UInt64 = 30
        /// Bytes of its answer.
        var answer = 8 << 20
    }

    /// The hidden command that calls `serve`; the kind of file follows it.
    package static let command = "read-incoming"

    private let program: String
    private let arguments: [String]
    private let limits: Limits

    /// - Parameters:
    ///   - program: A program that calls `serve`.
    ///   - arguments: Without the program's name.
    package init(program: String, arguments: [String], limits: Limits = Limits()) {
        self.program = program
        self.arguments = arguments
        self.limits = limits
    }

    /// Sends the bytes and returns the child's answer. Blocks.
    ///
    /// - Parameter name: The name of the input for errors.
    /// - Throws: `DeviceError` with `damaged` if the child ended without an answer or exceeded a limit, `failed` or
    ///   `missing` if it could not be started.
    package func answer(to bytes: [UInt8], named name: String) throws(DeviceError) -> [UInt8] {
        let child = try ChildProcess(program, arguments: arguments, showsErrors: false)
        child.limit(memory: limits.memory + Self.ownSpace, data: limits.memory, cpuSeconds: limits.cpuSeconds)
        // The child reads everything before it answers. One that hangs (SIGSTOP, a hung disk) is ended.
        let seconds = Int(limits.cpuSeconds) * Self.wallFactor
        do throws(DeviceError) {
            try rethrowing { try bytes.withUnsafeBytes { try child.pipes.write($0, timeoutSeconds: seconds) } }
        } catch { throw refusal(name, error.status == ETIMEDOUT ? nil : try child.exitStatus(timeoutSeconds: seconds)) }
        child.pipes.closeInput()
        let answer: [UInt8]
        do throws(DeviceError) {
            answer = try child.output(upTo: limits.answer, timeoutSeconds: seconds)
        } catch { throw refusal(name, nil) }
        guard answer.count <= limits.answer else {
            throw DeviceError(
                .damaged, "read", on: name, "contains more than any recording",
                remedy: "nothing was changed; remove foreign content")
        }
        let status = try child.exitStatus(timeoutSeconds: seconds)
        guard status == 0 else { throw refusal(name, status) }
        return answer
    }

    /// Returns the error for a child without an answer.
    ///
    /// - Parameter status: The exit status; nil if it did not end.
    private func refusal(_ name: String, _ status: Int32?) -> DeviceError {
        let reason =
            switch status {
            case nil: "was not read in \(Int(limits.cpuSeconds) * Self.wallFactor) s"
            case 128 + SIGXCPU: "takes more than \(limits.cpuSeconds) s of CPU time to read"
            default: "cannot be read with \(limits.memory >> 20) MB of memory and \(limits.cpuSeconds) s of CPU time"
            }
        return DeviceError(
            .damaged, "read", status: status ?? ETIMEDOUT, on: name, reason,
            remedy: "nothing was changed; save it again, or remove it")
    }

    /// The address space of the program and its libraries.
    private static let ownSpace: UInt64 = 1 << 30
    /// The wall-clock limit as a multiple of the CPU limit, for busy machines.
    private static let wallFactor = 10

    /// Runs the child: drops access to everything but its memory, reads standard input, and writes the answer to
    /// standard output.
    ///
    /// - Parameter answer: Returns the answer. It runs without access to files, processes or network.
    /// - Throws: `DeviceError` if the system cannot confine it, or the parent has ended.
    package static func serve(_ answer: ([UInt8]) -> [UInt8]) throws(DeviceError) {
        // Killed first when memory runs out. A sandbox may refuse this; the limits hold anyway.
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
