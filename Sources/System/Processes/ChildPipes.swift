internal import CLinux
import Core
import Glibc

/// Pipes to a child's standard input and output. One thread at a time.
package final class ChildPipes {
    let name: String
    private let remedy: String

    // A property for each end: Swift 6.0's optimizer crashes on a consumed struct of two.
    /// Nil after `closeInput`.
    private var input: FileDescriptor?
    private let output: FileDescriptor
    /// The child's ends, until it inherits them.
    private var childInput: FileDescriptor?
    private var childOutput: FileDescriptor?

    /// - Parameters:
    ///   - program: The name for errors.
    ///   - remedy: The remedy in errors when it does not respond.
    /// - Throws: `DeviceError` if no descriptors are left.
    package init(to program: String, remedy: String = "try again") throws(DeviceError) {
        let (downRead, downWrite) = try Self.pipe(to: program)
        childInput = FileDescriptor(adopting: downRead, named: program)
        // Nonblocking, to notice a child that does not read; our end only.
        _ = fcntl(downWrite, F_SETFL, O_NONBLOCK)
        input = FileDescriptor(adopting: downWrite, named: program)
        let (upRead, upWrite) = try Self.pipe(to: program)
        output = FileDescriptor(adopting: upRead, named: program)
        childOutput = FileDescriptor(adopting: upWrite, named: program)
        name = program
        self.remedy = remedy
    }

    /// The child's ends with their numbers in the child.
    func passed(input: Int32, output: Int32) -> [(ours: Int32, childs: Int32)] {
        guard let from = childInput?.number, let to = childOutput?.number else { return [] }
        return [(ours: from, childs: input), (ours: to, childs: output)]
    }

    /// Closes the child's ends after it inherited them, so that its exit ends the output.
    func close() {
        childInput = nil
        childOutput = nil
    }

    /// Closes its standard input.
    package func closeInput() { input = nil }

    /// Enlarges both pipes to the system's limit, for fewer context switches.
    package func widen() {
        if let number = input?.number { fieldscribe_widen_pipe(number) }
        fieldscribe_widen_pipe(output.number)
    }

    /// Writes all bytes to its standard input.
    ///
    /// - Parameters:
    ///   - timeoutSeconds: The timeout for all of them.
    ///   - watch: Called each second while blocked; an error ends the wait.
    /// - Throws: `DeviceError` with `failed` if the child no longer reads.
    package func write(
        _ bytes: UnsafeRawBufferPointer, timeoutSeconds: Int, watch: () throws(DeviceError) -> Void = {}
    ) throws(DeviceError) {
        guard let number = input?.number else { throw .system("write", status: EPIPE, on: name) }
        let deadline = MonotonicClock.nanoseconds + Int64(min(timeoutSeconds, 1_000_000)) * 1_000_000_000
        var rest = bytes
        while let base = rest.baseAddress, !rest.isEmpty {
            let count = uninterrupted { Glibc.write(number, base, rest.count) }
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if count < 0, errno == EAGAIN {
                guard try Self.wait(for: number, POLLOUT, until: deadline, watch) else {
                    throw timeout("did not read its input within \(timeoutSeconds) s")
                }
            } else {
                throw .system("write", status: count == 0 ? EPIPE : errno, on: name)
            }
        }
    }

    /// Writes all bytes while reading its output, for a child that filters: neither side blocks the other.
    ///
    /// - Parameters:
    ///   - buffer: The buffer for output.
    ///   - timeoutSeconds: The longest time without progress.
    ///   - take: Called with output, valid during the call.
    /// - Throws: `DeviceError` with `failed` if the child no longer reads or writes, or the error of `take`.
    package func exchange(
        _ bytes: UnsafeRawBufferPointer, _ buffer: UnsafeMutableRawBufferPointer, timeoutSeconds: Int,
        take: (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) throws(DeviceError) {
        guard let number = input?.number else { throw .system("write", status: EPIPE, on: name) }
        var rest = bytes
        var both = [
            pollfd(fd: output.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: number, events: Int16(POLLOUT), revents: 0),
        ]
        while let base = rest.baseAddress, !rest.isEmpty {
            let ready = uninterrupted { Glibc.poll(&both, 2, Int32(min(timeoutSeconds, 1_000_000)) * 1_000) }
            guard ready != 0 else { throw timeout("made no progress for \(timeoutSeconds) s") }
            guard ready > 0 else { throw .system("poll", on: name) }
            if both[0].revents != 0 {
                let count = uninterrupted { Glibc.read(output.number, buffer.baseAddress, buffer.count) }
                guard count > 0 else { throw .system("read", status: count == 0 ? EPIPE : errno, on: name) }
                try take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
            if both[1].revents != 0 {
                let count = uninterrupted { Glibc.write(number, base, rest.count) }
                if count > 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if count == 0 || errno != EAGAIN {
                    throw .system("write", status: count == 0 ? EPIPE : errno, on: name)
                }
            }
        }
    }

    /// Reads some of its standard output, at most 64 KiB; empty at its end.
    ///
    /// - Parameter watch: Called each second while blocked; an error ends the wait.
    /// - Throws: `DeviceError` with `failed` at the timeout.
    package func read(
        timeoutSeconds: Int, watch: () throws(DeviceError) -> Void = {}
    ) throws(DeviceError) -> [UInt8] {
        let deadline = MonotonicClock.nanoseconds + Int64(min(timeoutSeconds, 1_000_000)) * 1_000_000_000
        guard try Self.wait(for: output.number, POLLIN, until: deadline, watch) else {
            throw timeout("no answer within \(timeoutSeconds) s")
        }
        return try rethrowing {
            try [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
                let got = uninterrupted { Glibc.read(output.number, buffer.baseAddress, buffer.count) }
                guard got >= 0 else { throw DeviceError.system("read", on: name) }
                count = got
            }
        }
    }

    /// Waits until a descriptor is ready; returns false at the deadline, in nanoseconds of the monotonic clock.
    private static func wait(
        for number: Int32, _ events: Int32, until deadline: Int64, _ watch: () throws(DeviceError) -> Void
    ) throws(DeviceError) -> Bool {
        var poll = pollfd(fd: number, events: Int16(events), revents: 0)
        while true {
            let left = max(0, deadline - MonotonicClock.nanoseconds)
            let ready = Glibc.poll(&poll, 1, Int32(min(1_000, (left + 999_999) / 1_000_000)))
            // Reading or writing reports the error.
            if ready > 0 || ready < 0 && errno != EINTR { return true }
            if left == 0 { return false }
            if ready == 0 { try watch() }
        }
    }

    private func timeout(_ reason: String) -> DeviceError {
        DeviceError(.failed, "poll", status: ETIMEDOUT, on: name, reason, remedy: remedy)
    }

    /// Both ends are above every descriptor number in the child, so that none is overwritten before it is passed.
    private static func pipe(to program: String) throws(DeviceError) -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        let status = fieldscribe_pipe(&ends)
        guard status == 0 else { throw .system("pipe2", status: status, on: program) }
        let moved = ends.map { end in
            defer { Glibc.close(end) }
            return fcntl(end, F_DUPFD_CLOEXEC, ProcessCopies.lowestFree)
        }
        guard let read = moved.first, let write = moved.last, read >= 0, write >= 0 else {
            let status = errno
            for end in moved where end >= 0 { Glibc.close(end) }
            if status == EINVAL {
                throw DeviceError(
                    .failed, "fcntl", status: status, on: program, "cannot be started with so few open files",
                    remedy: "allow at least 256 (ulimit -n 256, LimitNOFILE= of the unit)")
            }
            throw .system("fcntl", status: status, on: program)
        }
        return (read, write)
    }
}
