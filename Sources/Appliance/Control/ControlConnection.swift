internal import CLinux
import Glibc
import System

/// One client of the control socket, on the socket's thread: nonblocking, bounded, with a deadline.
struct ControlConnection {
    /// What a client that sends and takes nothing is given.
    static let patience = Duration.seconds(5)

    /// A slow reader's time for its next byte.
    private static let readPatience = Duration.seconds(10)

    private enum Phase {
        /// A request is to come, or has begun to come.
        case asking
        /// Its request is with a task.
        case waiting
        /// Its answer is on the way, and then it is done with.
        case ending
    }

    let file: FileDescriptorBox
    private var phase = Phase.asking
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var sent = 0
    /// It will ask nothing more, but may still listen.
    private var inputEnded = false
    private(set) var deadline: Duration?

    init(_ number: Int32, at now: Duration) {
        file = FileDescriptorBox(number)
        deadline = now + Self.patience
    }

    /// What to poll for: while a request is answered no other is read, so that a client waits for itself.
    var events: Int16 {
        Int16(output.isEmpty ? 0 : POLLOUT) | Int16(phase == .ending || inputEnded ? 0 : POLLIN)
    }

    /// Whether nothing is being done for it: it has asked nothing, or has had its answer.
    var isAtRest: Bool { phase == .asking && unsent == 0 }

    /// How many bytes it has not yet taken.
    var unsent: Int { output.count - sent }

    /// Reads what has come.
    ///
    /// - Returns: the request where it is whole; throws where the client is to be dropped, with words where it listens.
    mutating func read(at now: Duration) throws(Refusal) -> [UInt8]? {
        // Without a control buffer: descriptors that a client sends along never become ours.
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
        return try line()
    }

    /// The next request, where one has come whole and none is being answered.
    private mutating func line() throws(Refusal) -> [UInt8]? {
        guard phase == .asking else { return nil }
        guard let end = input.firstIndex(of: 0x0A) else {
            if input.count > ControlLine.longest { throw Refusal(words: Self.tooLong) }
            return nil
        }
        guard end <= ControlLine.longest else { throw Refusal(words: Self.tooLong) }
        let line = Array(input[..<end])
        input.removeSubrange(...end)
        phase = .waiting
        deadline = unsent > 0 ? deadline : nil
        return line
    }

    /// Takes what is to be sent.
    ///
    /// - Returns: the next request, where this answered one and the next has come already.
    mutating func take(_ delivery: ControlExchange.Delivery, at now: Duration) throws(Refusal) -> [UInt8]? {
        guard unsent + delivery.bytes.count <= ControlExchange.limit || delivery.answers else {
            throw Refusal(words: nil)
        }
        if unsent == 0 { deadline = now + Self.readPatience }
        output += delivery.bytes
        guard delivery.answers, phase == .waiting else { return nil }
        phase = .asking
        let next = try line()
        if next == nil, inputEnded { phase = .ending }
        return next
    }

    /// Says a last thing; then it is over.
    mutating func refuse(_ line: [UInt8], at now: Duration) {
        output += line + [0x0A]
        phase = .ending
        deadline = now + Self.patience
    }

    /// Sends what can be sent; returns how much, nil where the client is gone or all has been said.
    mutating func write(at now: Duration) -> Int? {
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
            deadline = phase == .asking ? now + Self.patience : nil
        } else {
            deadline = now + Self.readPatience
            if sent > 262_144 {
                output.removeFirst(sent)
                sent = 0
            }
        }
        return count
    }

    /// Why a client is dropped; without words where it would not hear them.
    struct Refusal: Error {
        var words: String?
    }

    /// What a client hears that was too slow.
    static let tooSlow = "no request came within 5 s; send one line"
    private static let tooLong = "a request may have at most 65536 bytes; send less"
}

/// A connection's descriptor, closed when nobody holds it any more.
final class FileDescriptorBox {
    private let file: FileDescriptor

    init(_ number: Int32) { file = FileDescriptor(adopting: number, named: "client") }

    var number: Int32 { file.number }
}
