internal import CLinux
import Glibc
import System

/// A connection to a client, which only the socket's thread uses: nonblocking, with bounded buffers and a deadline.
final class ControlConnection {
    /// The maximum time for a client to send a request.
    static let requestTimeout = Duration.seconds(5)

    /// How long a client may leave output unread.
    private static let readTimeout = Duration.seconds(10)

    private enum Phase {
        /// Waiting for the next request, or for the rest of it.
        case receiving
        /// A task is answering the request.
        case answering
        /// The last answer is being sent; then the connection is closed.
        case closing
    }

    private let file: FileDescriptor
    private var phase = Phase.receiving
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var sentBytes = 0
    /// Whether the client has shut down its sending side. It may still read.
    private var inputEnded = false
    private(set) var deadline: Duration?

    init(_ descriptor: Int32, at now: Duration) {
        file = FileDescriptor(adopting: descriptor, named: "client")
        deadline = now + Self.requestTimeout
    }

    var poll: pollfd {
        let events = Int16(output.isEmpty ? 0 : POLLOUT) | Int16(phase == .closing || inputEnded ? 0 : POLLIN)
        return pollfd(fd: file.number, events: events, revents: 0)
    }

    /// Whether no request is being answered and everything has been sent.
    var isIdle: Bool { phase == .receiving && unsentBytes == 0 }

    var unsentBytes: Int { output.count - sentBytes }

    /// Reads the bytes that have arrived.
    ///
    /// - Returns: the request, if it is complete.
    /// - Throws: `Refusal` if the client must be disconnected.
    func read(at now: Duration) throws(Refusal) -> [UInt8]? {
        // recv(2) has no control buffer, so descriptors that a client passes are discarded.
        var chunk = [UInt8](repeating: 0, count: 16_384)
        let count = uninterrupted { recv(file.number, &chunk, chunk.count, 0) }
        if count == 0 {
            if phase == .receiving, unsentBytes == 0 { throw Refusal(message: nil) }
            inputEnded = true
            return nil
        }
        guard count > 0 else {
            if errno == EAGAIN { return nil }
            throw Refusal(message: nil)
        }
        guard input.count + count <= ControlLine.maximumBytes + chunk.count else {
            throw Refusal(message: Self.tooLong)
        }
        input += chunk.prefix(count)
        return try nextRequest()
    }

    /// Returns the next request, if one is complete and none is being answered.
    private func nextRequest() throws(Refusal) -> [UInt8]? {
        guard phase == .receiving else { return nil }
        let newline = input.firstIndex(of: 0x0A)
        guard (newline ?? input.count) <= ControlLine.maximumBytes else { throw Refusal(message: Self.tooLong) }
        guard let end = newline else { return nil }
        let line = Array(input[..<end])
        input.removeSubrange(...end)
        phase = .answering
        deadline = unsentBytes > 0 ? deadline : nil
        return line
    }

    /// Queues a line to send.
    ///
    /// - Returns: the client's next request, if the line is an answer and that request has already arrived.
    func append(_ delivery: ControlExchange.Delivery, at now: Duration) throws(Refusal) -> [UInt8]? {
        guard unsentBytes + delivery.bytes.count <= ControlExchange.maximumUnsentBytes || delivery.isAnswer else {
            throw Refusal(message: nil)
        }
        if unsentBytes == 0 { deadline = now + Self.readTimeout }
        output += delivery.bytes
        guard delivery.isAnswer, phase == .answering else { return nil }
        phase = .receiving
        let next = try nextRequest()
        if next == nil, inputEnded { phase = .closing }
        return next
    }

    /// Queues a last line, after which the connection is closed.
    func refuse(_ line: [UInt8], at now: Duration) {
        output += line + [0x0A]
        phase = .closing
        deadline = now + Self.requestTimeout
    }

    /// Sends as much as possible. Returns the number of bytes sent, or nil if the connection must be closed.
    func write(at now: Duration) -> Int? {
        guard unsentBytes > 0 else { return phase == .closing ? nil : 0 }
        let count = output.withUnsafeBytes { output in
            uninterrupted {
                send(
                    file.number, output.baseAddress.map { $0 + sentBytes }, output.count - sentBytes,
                    Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
        }
        guard count > 0 else { return errno == EAGAIN ? 0 : nil }
        sentBytes += count
        if unsentBytes == 0 {
            output = []
            sentBytes = 0
            if phase == .closing { return nil }
            deadline = phase == .receiving ? now + Self.requestTimeout : nil
        } else {
            deadline = now + Self.readTimeout
            if sentBytes > 262_144 {
                output.removeFirst(sentBytes)
                sentBytes = 0
            }
        }
        return count
    }

    /// Thrown if the client must be disconnected.
    struct Refusal: Error {
        /// The message for the client; nil to send none.
        var message: String?
    }

    static let tooSlow = "no complete request arrived within 5 s; end each request with a line break"
    private static let tooLong = "a request may have at most 65536 bytes; send a shorter one"
}
