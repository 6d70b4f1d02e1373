import Core
import Glibc
import System

/// A run of `age` that encrypts or decrypts a stream in constant memory. Used on one thread.
package final class AgeStream {
    private static let capacity = 256 * 1_024

    private let child: ChildProcess
    private let consume: (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    private let incoming = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    private let outgoing = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    private var buffered = 0

    /// The first encrypted bytes, held back until they can be checked for age's format. Nil after the check, and when
    /// decrypting.
    private var beginning: [UInt8]?

    init(
        _ child: consuming ChildProcess, isEncrypting: Bool = true,
        consume: @escaping (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) {
        self.child = child
        self.consume = consume
        beginning = isEncrypting ? [] : nil
        self.child.pipes.widen()
    }

    deinit {
        incoming.deallocate()
        outgoing.deallocate()
    }

    /// Sends the next bytes to age.
    ///
    /// - Throws: `DeviceError` with `failed` if age has exited, or the error from `consume`.
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

    /// Closes age's input, consumes its remaining output, and waits until age exits.
    ///
    /// - Throws: `DeviceError` with `failed` if age fails or rejects its input.
    package func finish() throws(DeviceError) {
        try send()
        child.pipes.closeInput()
        while true {
            let output = try child.pipes.read(timeoutSeconds: Age.timeout)
            if output.isEmpty { break }
            try rethrowing { try output.withUnsafeBytes { try handleOutput($0) } }
        }
        let status = try child.exitStatus(timeoutSeconds: Age.timeout)
        guard status == 0, beginning == nil else { throw Self.exitedEarly(status) }
    }

    private func send() throws(DeviceError) {
        let bytes = UnsafeRawBufferPointer(rebasing: outgoing[..<buffered])
        buffered = 0
        try send(bytes)
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
        do throws(DeviceError) {
            try child.pipes.exchange(bytes, incoming, timeoutSeconds: Age.timeout) { output throws(DeviceError) in
                try handleOutput(output)
            }
        } catch {
            // The exit status says more than EPIPE.
            guard error.status == EPIPE else { throw error }
            throw Self.exitedEarly(try child.exitStatus(timeoutSeconds: Age.timeout))
        }
    }

    private func handleOutput(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
        guard var firstBytes = beginning else { return try consume(bytes) }
        firstBytes += bytes
        guard firstBytes.count >= Age.magic.count else {
            beginning = firstBytes
            return
        }
        guard firstBytes.starts(with: Age.magic) else {
            throw DeviceError(
                .failed, "age", cause: .age,
                "the output of the program age is not in age's format; nothing was written",
                remedy: "install Debian's: apt install --reinstall age")
        }
        beginning = nil
        try rethrowing { try firstBytes.withUnsafeBytes { try consume($0) } }
    }

    private static func exitedEarly(_ status: Int32) -> DeviceError {
        DeviceError(
            .failed, "age", status: status, cause: .age, "the program age failed (status \(status))",
            remedy: "see fieldscribe recipients check")
    }
}
