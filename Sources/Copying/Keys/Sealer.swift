import Core
import Glibc
import System

/// One run of `age`, which encrypts or decrypts a stream in constant memory. Used on one thread.
package final class Sealer {
    private static let capacity = 256 * 1_024

    private let child: ChildProcess
    private let take: (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    private let incoming = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    private let outgoing = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    private var buffered = 0

    /// The first encrypted bytes until they are known to be age's: nothing else is passed on. Nil afterwards, and when decrypting.
    private var beginning: [UInt8]?

    init(
        _ child: consuming ChildProcess, isSealing: Bool = true,
        take: @escaping (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) {
        self.child = child
        self.take = take
        beginning = isSealing ? [] : nil
        self.child.pipes.widen()
    }

    deinit {
        incoming.deallocate()
        outgoing.deallocate()
    }

    /// Sends the next bytes to age.
    ///
    /// - Throws: `DeviceError` with `failed` if age has ended, or the error of `take`.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
        var rest = bytes
        while !rest.isEmpty {
            if buffered == 0, rest.count >= Self.capacity {
                let count = rest.count / Self.capacity * Self.capacity
                try send(UnsafeRawBufferPointer(rebasing: rest[..<count]))
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                continue
            }
            let count = min(rest.count, Self.capacity - buffered)
            UnsafeMutableRawBufferPointer(rebasing: outgoing[buffered..<buffered + count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
            buffered += count
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            if buffered == Self.capacity { try send() }
        }
    }

    /// Sends the next bytes to age.
    package func write(_ bytes: [UInt8]) throws(DeviceError) {
        try rethrowing { try bytes.withUnsafeBytes { try write($0) } }
    }

    /// Ends the input and waits until age has passed everything on and succeeded.
    ///
    /// - Throws: `DeviceError` with `failed` if age fails or refuses its input.
    package func finish() throws(DeviceError) {
        try send()
        child.pipes.closeInput()
        while true {
            let more = try child.pipes.read(timeoutSeconds: Age.timeout)
            if more.isEmpty { break }
            try rethrowing { try more.withUnsafeBytes { try pass($0) } }
        }
        let status = try child.exitStatus(timeoutSeconds: Age.timeout)
        guard status == 0, beginning == nil else { throw Self.ended(status) }
    }

    private func send() throws(DeviceError) {
        let bytes = UnsafeRawBufferPointer(rebasing: outgoing[..<buffered])
        buffered = 0
        try send(bytes)
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
        do throws(DeviceError) {
            try child.pipes.exchange(bytes, incoming, timeoutSeconds: Age.timeout) { came throws(DeviceError) in
                try pass(came)
            }
        } catch {
            // The exit status says more than EPIPE.
            guard error.status == EPIPE else { throw error }
            throw Self.ended(try child.exitStatus(timeoutSeconds: Age.timeout))
        }
    }

    private func pass(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
        guard var first = beginning else { return try take(bytes) }
        first += bytes
        guard first.count >= Age.mark.count else {
            beginning = first
            return
        }
        guard first.starts(with: Age.mark) else {
            throw DeviceError(
                .failed, "age", cause: .age,
                "the program age does not produce age's format; none of its output was written",
                remedy: "install Debian's: apt install --reinstall age")
        }
        beginning = nil
        try rethrowing { try first.withUnsafeBytes { try take($0) } }
    }

    private static func ended(_ status: Int32) -> DeviceError {
        DeviceError(
            .failed, "age", status: status, cause: .age, "the program age ended early (status \(status))",
            remedy: "see fieldscribe recipients check")
    }
}
