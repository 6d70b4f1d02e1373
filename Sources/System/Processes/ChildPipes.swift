internal import CLinux
import Core
import Glibc

/// Pipes to a child's standard input and output. Only one thread may use them at a time.
package final class ChildPipes {
    let name: String
    private let remedy: String

    // Separate properties for the two ends, because Swift 6.0's optimizer crashes on a consumed struct with both.
    /// Nil after `closeInput`.
    private var input: FileDescriptor?
    private let output: FileDescriptor
    /// The child's ends, until the child has inherited them.
    private var childInput: FileDescriptor?
    private var childOutput: FileDescriptor?

    /// - Parameters:
    ///   - program: The program's name in errors.
    ///   - remedy: The remedy in errors if the program does not respond.
    /// - Throws: `DeviceError` if the process has too many open files.
    package init(to program: String, remedy: String = "try again") throws(DeviceError) {
        let (inputRead, inputWrite) = try Self.pipe(to: program)
        childInput = FileDescriptor(adopting: inputRead, named: program)
        // Only the parent's end is nonblocking, to detect a child that does not read.
        _ = fcntl(inputWrite, F_SETFL, O_NONBLOCK)
        input = FileDescriptor(adopting: inputWrite, named: program)
        let (outputRead, outputWrite) = try Self.pipe(to: program)
        output = FileDescriptor(adopting: outputRead, named: program)
        childOutput = FileDescriptor(adopting: outputWrite, named: program)
        name = program
        self.remedy = remedy
    }

    /// Returns the child's ends: their descriptor numbers in the parent and in the child.
    func inherited(input: Int32, output: Int32) -> [(parent: Int32, child: Int32)] {
        guard let parentInput = childInput?.number, let parentOutput = childOutput?.number else { return [] }
        return [(parent: parentInput, child: input), (parent: parentOutput, child: output)]
    }

    /// Closes the parent's copies of the child's ends after the child inherited them, so that the output ends when the
    /// child exits.
    func close() {
        childInput = nil
        childOutput = nil
    }

    /// Closes the child's standard input.
    package func closeInput() { input = nil }

    /// Enlarges the buffers of both pipes to 1 MiB if the system allows it, to reduce context switches.
    package func widen() {
        if let descriptor = input?.number { fieldscribe_widen_pipe(descriptor) }
        fieldscribe_widen_pipe(output.number)
    }

    /// Writes all bytes to the child's standard input.
    ///
    /// - Parameters:
    ///   - timeoutSeconds: The timeout for writing all bytes.
    ///   - watch: Called each second while blocked. If it throws, so does this method.
    /// - Throws: `DeviceError` with `failed` at the timeout, or if the child has closed its standard input.
    package func write(
        _ bytes: UnsafeRawBufferPointer, timeoutSeconds: Int, watch: () throws(DeviceError) -> Void = {}
    ) throws(DeviceError) {
        guard let descriptor = input?.number else { throw .system("write", status: EPIPE, on: name) }
        let deadline = MonotonicClock.nanoseconds + Int64(min(timeoutSeconds, 1_000_000)) * 1_000_000_000
        var rest = bytes
        while let base = rest.baseAddress, !rest.isEmpty {
            let count = uninterrupted { Glibc.write(descriptor, base, rest.count) }
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if count < 0, errno == EAGAIN {
                guard try Self.wait(for: descriptor, POLLOUT, until: deadline, watch) else {
                    throw timeoutError("did not read its input within \(timeoutSeconds) s")
                }
            } else {
                throw .system("write", status: count == 0 ? EPIPE : errno, on: name)
            }
        }
    }

    /// Writes all bytes to a child that acts as a filter. Reads its output at the same time, so that neither side
    /// blocks the other.
    ///
    /// - Parameters:
    ///   - buffer: The buffer for output.
    ///   - timeoutSeconds: The maximum time without progress.
    ///   - onOutput: Called with output, which is valid during the call.
    /// - Throws: `DeviceError` with `failed` if the child stops reading or writing, or the error that `onOutput`
    ///   throws.
    package func exchange(
        _ bytes: UnsafeRawBufferPointer, _ buffer: UnsafeMutableRawBufferPointer, timeoutSeconds: Int,
        onOutput: (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) throws(DeviceError) {
        guard let descriptor = input?.number else { throw .system("write", status: EPIPE, on: name) }
        var rest = bytes
        var descriptors = [
            pollfd(fd: output.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
        ]
        while let base = rest.baseAddress, !rest.isEmpty {
            let ready = uninterrupted { Glibc.poll(&descriptors, 2, Int32(min(timeoutSeconds, 1_000_000)) * 1_000) }
            guard ready != 0 else { throw timeoutError("made no progress for \(timeoutSeconds) s") }
            guard ready > 0 else { throw .system("poll", on: name) }
            if descriptors[0].revents != 0 {
                let count = uninterrupted { Glibc.read(output.number, buffer.baseAddress, buffer.count) }
                guard count > 0 else { throw .system("read", status: count == 0 ? EPIPE : errno, on: name) }
                try onOutput(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
            if descriptors[1].revents != 0 {
                let count = uninterrupted { Glibc.write(descriptor, base, rest.count) }
                if count > 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if count == 0 || errno != EAGAIN {
                    throw .system("write", status: count == 0 ? EPIPE : errno, on: name)
                }
            }
        }
    }

    /// Reads at most 64 KiB of the child's standard output. Returns an empty array at the end.
    ///
    /// - Parameter watch: Called each second while blocked. If it throws, so does this method.
    /// - Throws: `DeviceError` with `failed` at the timeout.
    package func read(
        timeoutSeconds: Int, watch: () throws(DeviceError) -> Void = {}
    ) throws(DeviceError) -> [UInt8] {
        let deadline = MonotonicClock.nanoseconds + Int64(min(timeoutSeconds, 1_000_000)) * 1_000_000_000
        guard try Self.wait(for: output.number, POLLIN, until: deadline, watch) else {
            throw timeoutError("did not answer within \(timeoutSeconds) s")
        }
        return try rethrowing {
            try [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
                let result = uninterrupted { Glibc.read(output.number, buffer.baseAddress, buffer.count) }
                guard result >= 0 else { throw DeviceError.system("read", on: name) }
                count = result
            }
        }
    }

    /// Waits until a descriptor is ready. Returns false at the deadline, given in nanoseconds on the monotonic clock.
    private static func wait(
        for descriptor: Int32, _ events: Int32, until deadline: Int64, _ watch: () throws(DeviceError) -> Void
    ) throws(DeviceError) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while true {
            let remaining = max(0, deadline - MonotonicClock.nanoseconds)
            let ready = Glibc.poll(&poll, 1, Int32(min(1_000, (remaining + 999_999) / 1_000_000)))
            // The following read or write reports any error.
            if ready > 0 || ready < 0 && errno != EINTR { return true }
            if remaining == 0 { return false }
            if ready == 0 { try watch() }
        }
    }

    private func timeoutError(_ reason: String) -> DeviceError {
        DeviceError(.failed, "poll", status: ETIMEDOUT, on: name, reason, remedy: remedy)
    }

    /// Creates a pipe whose descriptors are above all those that a child uses. Otherwise, passing one descriptor to the
    /// child could overwrite another.
    private static func pipe(to program: String) throws(DeviceError) -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        let status = fieldscribe_pipe(&ends)
        guard status == 0 else { throw .system("pipe2", status: status, on: program) }
        let movedEnds = ends.map { end in
            defer { Glibc.close(end) }
            return fcntl(end, F_DUPFD_CLOEXEC, ProcessCopies.firstUnusedDescriptor)
        }
        guard let read = movedEnds.first, let write = movedEnds.last, read >= 0, write >= 0 else {
            let status = errno
            for end in movedEnds where end >= 0 { Glibc.close(end) }
            if status == EINVAL {
                throw DeviceError(
                    .failed, "fcntl", status: status, on: program,
                    "cannot be started because the limit on open files is too low",
                    remedy: "allow at least 256 (ulimit -n 256, LimitNOFILE= in the unit)")
            }
            throw .system("fcntl", status: status, on: program)
        }
        return (read, write)
    }
}
