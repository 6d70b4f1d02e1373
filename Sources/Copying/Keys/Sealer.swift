import Core
import Glibc
import System

/// One run of `age`: bytes in, sealed bytes out, or the other way round. Takes the same memory for a minute and for a day. Used on
/// one thread.
package final class Sealer {
    private static let room = 256 * 1_024

    private let child: ChildProcess
    private let take: (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    private let incoming = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 16)
    private let outgoing = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 16)
    private var gathered = 0

    /// The first bytes that came, until they are known to be age's: nothing else is ever passed on.
    private var beginning: [UInt8]?

    init(
        _ child: consuming ChildProcess, isSealing: Bool = true,
        take: @escaping (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) {
        self.child = child
        self.take = take
        beginning = isSealing ? [] : nil
        self.child.widenPipes()
    }

    deinit {
        incoming.deallocate()
        outgoing.deallocate()
    }

    /// Takes the next bytes.
    ///
    /// - Throws: `DeviceError` with `failed` where age has ended, or what `take` threw.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
        var rest = bytes
        while !rest.isEmpty {
            if gathered == 0, rest.count >= Self.room {
                let count = rest.count / Self.room * Self.room
                try send(UnsafeRawBufferPointer(rebasing: rest[..<count]))
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                continue
            }
            let count = min(rest.count, Self.room - gathered)
            UnsafeMutableRawBufferPointer(rebasing: outgoing[gathered..<gathered + count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
            gathered += count
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            if gathered == Self.room { try send() }
        }
    }

    /// Takes the next bytes.
    package func write(_ bytes: [UInt8]) throws(DeviceError) {
        try rethrowing { try bytes.withUnsafeBytes { try write($0) } }
    }

    /// Returns once everything has been passed on, and age has said that all went well.
    ///
    /// - Throws: `DeviceError` with `damaged` where it refuses what is to be opened, else `failed`.
    package func finish() throws(DeviceError) {
        try send()
        child.closeInput()
        while true {
            let count = try child.read(into: incoming, timeoutSeconds: Age.patience)
            if count == 0 { break }
            try pass(UnsafeRawBufferPointer(rebasing: incoming[..<count]))
        }
        let status = try child.exitStatus(timeoutSeconds: Age.patience)
        guard status == 0, beginning == nil else { throw Self.ended(status) }
    }

    private func send() throws(DeviceError) {
        let bytes = UnsafeRawBufferPointer(rebasing: outgoing[..<gathered])
        gathered = 0
        try send(bytes)
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
        do throws(DeviceError) {
            try child.exchange(bytes, incoming, timeoutSeconds: Age.patience) { came throws(DeviceError) in
                try pass(came)
            }
        } catch {
            // What it ended with says more than that it no longer reads.
            guard error.status == EPIPE else { throw error }
            throw Self.ended(try child.exitStatus(timeoutSeconds: Age.patience))
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
                .failed, "age", "the program age does not give what age gives; nothing of it was written",
                remedy: "install Debian's: apt install --reinstall age")
        }
        beginning = nil
        try rethrowing { try first.withUnsafeBytes { try take($0) } }
    }

    private static func ended(_ status: Int32) -> DeviceError {
        DeviceError(
            .failed, "age", status: status, "the program age ended before it was done (status \(status))",
            remedy: "see fieldscribe recipients check")
    }
}
