internal import CLinux
import Glibc
import System

/// A client of the control socket, on the socket's thread: nonblocking, bounded, with a deadline.
final class ControlConnection {
    /// How long a client may send no request.
    static let requestTimeout = Duration.seconds(5)

    /// How long a client may leave pending output unread.
    private static let readTimeout = Duration.seconds(10)

    private enum Phase {
        /// Waiting for the next request, or for the rest of it.
        case asking
        /// A task handles its request.
        case waiting
        /// The last answer is being sent; then the connection is closed.
        case ending
    }

    private let file: FileDescriptor
    private var phase = Phase.asking
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var sent = 0
    /// The client has shut down its sending side, but may still read.
    private var inputEnded = false
    private(set) var deadline: Duration?

    init(_ number: Int32, at now: Duration) {
        file = FileDescriptor(adopting: number, named: "client")
        deadline = now + Self.requestTimeout
    }

    var poll: pollfd {
        let events = Int16(output.isEmpty ? 0 : POLLOUT) | Int16(phase == .ending || inputEnded ? 0 : POLLIN)
        return pollfd(fd: file.number, events: events, revents: 0)
    }

    /// Whether the client has no request running and no answer to read.
    var isIdle: Bool { phase == .asking && unsent == 0 }

    var unsent: Int { output.count - sent }

    /// Reads what has arrived.
    ///
    /// - Returns: the request, if it is complete.
    /// - Throws: `Refusal` if the client must be disconnected.
    func read(at now: Duration) throws(Refusal) -> [UInt8]? {
        // recv(2) has no control buffer: descriptors that a client passes are discarded.
        var chunk = [UInt8](repeating: 0, count: 16_384)
        let count = uninterrupted { recv(file.number, &chunk, chunk.count, 0) }
        if count == 0 {
            if phase == .asking, unsent == 0 { throw Refusal(words: nil) }
            inputEnded = true
            return nil
        }
        guard count > 0 else {
            if errno == EAGAIN { return nil }
            throw Refusal(words: nil)
        }
        guard input.count + count <= ControlLine.longest + chunk.count else { throw Refusal(words: Self.tooLong) }
        input += chunk.prefix(count)
        return try nextRequest()
    }

    /// Returns the next request, if one is complete and none is being answered.
    private func nextRequest() throws(Refusal) -> [UInt8]? {
        guard phase == .asking else { return nil }
        let newline = input.firstIndex(of: 0x0A)
        guard (newline ?? input.count) <= ControlLine.longest else { throw Refusal(words: Self.tooLong) }
        guard let end = newline else { return nil }
        let line = Array(input[..<end])
        input.removeSubrange(...end)
        phase = .waiting
        deadline = unsent > 0 ? deadline : nil
        return line
    }

    /// Queues a line to send.
    ///
    /// - Returns: the next request, if this answers one and the next is already complete.
    func append(_ delivery: ControlExchange.Delivery, at now: Duration) throws(Refusal) -> [UInt8]? {
        guard unsent + delivery.bytes.count <= ControlExchange.limit || delivery.answers else {
            throw Refusal(words: nil)
        }
        if unsent == 0 { deadline = now + Self.readTimeout }
        output += delivery.bytes
        guard delivery.answers, phase == .waiting else { return nil }
        phase = .asking
        let next = try nextRequest()
        if next == nil, inputEnded { phase = .ending }
        return next
    }

    /// Sends a last line; the connection is then closed.
    func refuse(_ line: [UInt8], at now: Duration) {
        output += line + [0x0A]
        phase = .ending
        deadline = now + Self.requestTimeout
    }

    /// Sends as much as possible; returns the number of bytes, or nil if the connection must be closed.
    func write(at now: Duration) -> Int? {
        guard unsent > 0 else { return phase == .ending ? nil : 0 }
        let count = output.withUnsafeBytes { output in
            uninterrupted {
                send(
                    file.number, output.baseAddress.map { $0 + sent }, output.count - sent,
                    Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
        }
        guard count > 0 else { return errno == EAGAIN ? 0 : nil }
        sent += count
        if unsent == 0 {
            output = []
            sent = 0
            if phase == .ending { return nil }
            deadline = phase == .asking ? now + Self.requestTimeout : nil
        } else {
            deadline = now + Self.readTimeout
            if sent > 262_144 {
                output.removeFirst(sent)
                sent = 0
            }
        }
        return count
    }

    /// A client must be disconnected; nil if it gets no message.
    struct Refusal: Error {
        var words: String?
    }

    static let tooSlow = "no request came within 5 s; send one line"
    private static let tooLong = "a request may have at most 65536 bytes; send less"
}
