internal import CMicrohttpd
import Core
import Glibc
import System

/// Serves browsers by libmicrohttpd, on the thread that calls `run`.
package struct WebServer: ~Copyable {
    /// At most so many connections at a time; the next ones wait.
    private static let mostConnections: UInt32 = 256
    /// Of these, at most so many from one address, so that one machine that holds them keeps nobody else out. Not where only this machine
    /// comes: behind a proxy everybody has its address.
    private static let mostOfOne: UInt32 = 64
    /// From so many on, the one whose request has kept us waiting longest is closed for each that comes, whoever it is: behind a proxy, on a
    /// Unix socket and on this machine all have the same address. From so many on, anybody is.
    static let (crowd, throng) = (192, 240)
    /// So long may a request take to come, from the end of the one before it, in seconds.
    static let longestComing: Double = 120
    /// A connection on which nothing happens for so long is closed, in seconds.
    private static let patience: UInt32 = 30
    /// How long is waited at most before somebody is asked whether to go on, in milliseconds.
    private static let pause: Int32 = 500

    private let listener: WebListener
    private let daemon: OpaquePointer
    private let desk: WebDesk

    /// - Parameter site: answers the requests.
    /// - Throws: `DeviceError` where the server cannot start.
    package init(_ listener: consuming WebListener, serving site: OfficeSite) throws(DeviceError) {
        let desk = WebDesk(site)
        let daemon = try Self.daemon(
            of: desk, on: listener.number, listener.address, mostOfOne: listener.isLocal ? 0 : Self.mostOfOne)
        self.desk = desk
        self.daemon = daemon
        self.listener = listener
    }

    /// Takes over the socket, also where it throws.
    private static func daemon(
        of desk: WebDesk, on number: Int32, _ address: String, mostOfOne: UInt32
    ) throws(DeviceError) -> OpaquePointer {
        let started = fieldscribe_web_start(
            number, mostConnections, mostOfOne, patience, Unmanaged.passUnretained(desk).toOpaque(), answerRequest,
            endRequest, noteConnection)
        guard let started else {
            close(number)
            throw DeviceError(.failed, "MHD_start_daemon", on: address, "libmicrohttpd cannot serve it")
        }
        return started
    }

    /// Serves until somebody wants it to end.
    ///
    /// - Parameter goesOn: asked several times a second.
    package borrowing func run(while goesOn: () -> Bool) throws(DeviceError) {
        while goesOn() {
            guard fieldscribe_web_run(daemon, Self.pause) == 0 else {
                throw DeviceError(.failed, "MHD_run_wait", on: listener.address, "libmicrohttpd cannot go on")
            }
            desk.leaveSlow()
        }
    }

    deinit {
        withExtendedLifetime(desk) {
            desk.resumeAll()
            MHD_stop_daemon(daemon)
        }
    }
}

private typealias Cell = UnsafeMutablePointer<UnsafeMutableRawPointer?>

private func answerRequest(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, path: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, bytes: UnsafePointer<CChar>?,
    count: UnsafeMutablePointer<Int>?, cell: Cell?
) -> MHD_Result {
    guard let context, let connection, let path, let method, let count, let cell else { return fieldscribe_web_no() }
    let desk = Unmanaged<WebDesk>.fromOpaque(context).takeUnretainedValue()
    guard let known = cell.pointee else {
        var request = WebRequest(
            method: String(cString: method), path: String(cString: path),
            query: values(connection, areHeaders: false),
            headers: values(connection, areHeaders: true))
        let told = request.headers["content-length"].map { Int($0) ?? .max }
        let coding = request.headers["transfer-encoding"]
        // A proxy may read another length from it, and take the rest for another request (RFC 9112, 6.3).
        let isUnclear = coding != nil && (coding?.lowercased() != "chunked" || told != nil)
        let refusal =
            if isUnclear {
                refusal(400, "The length of this request can be read in two ways.")
            } else if (told ?? 0) > WebDesk.mostOfOne {
                refusal(413, "This is more than a recording's corrections can be.")
            } else {
                desk.site.refusal(of: &request)
            }
        // Who expects a word before sending more gets this one.
        let isAlone = (told ?? 0) == 0 && coding == nil
        if let refusal, isAlone || isUnclear || request.headers["expect"] != nil || (told ?? 0) > WebDesk.mostPassed {
            desk.guests.hear(connection)
            return send(refusal, on: connection)
        }
        let incoming = Incoming(request, refusal)
        cell.pointee = Unmanaged.passRetained(incoming).toOpaque()
        if !isAlone { (refusal == nil ? desk.bodies : desk.dropped).begin(connection, incoming) }
        return fieldscribe_web_yes()
    }
    let incoming = Unmanaged<Incoming>.fromOpaque(known).takeUnretainedValue()
    // It has been resumed, and nothing has come yet.
    if incoming.isWaiting {
        incoming.isWaiting = false
        return fieldscribe_web_yes()
    }
    if count.pointee > 0, incoming.refusal != nil {
        incoming.passed += count.pointee
        count.pointee = 0
        return incoming.passed <= WebDesk.mostPassed ? fieldscribe_web_yes() : fieldscribe_web_no()
    }
    if count.pointee > 0, let bytes {
        let piece = UnsafeRawBufferPointer(start: bytes, count: count.pointee)
        // There is no answer in the middle of a body: whoever sends too much is left.
        guard incoming.request.body.count + piece.count <= WebDesk.mostOfOne else { return fieldscribe_web_no() }
        incoming.request.body += piece
        count.pointee = 0
        return fieldscribe_web_yes()
    }
    desk.guests.hear(connection)
    if let refusal = incoming.refusal { return send(refusal, on: connection) }
    if !incoming.request.body.isEmpty, let reader = desk.site.reader(of: incoming.request) {
        desk.readings.begin(connection, incoming, reader)
        return fieldscribe_web_yes()
    }
    incoming.request.corrections = desk.readings.corrections(of: connection)
    return send(desk.site.respond(to: incoming.request), on: connection)
}

private func endRequest(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, cell: Cell?, reason: MHD_RequestTerminationCode
) {
    guard let context, let connection, let cell else { return }
    let desk = Unmanaged<WebDesk>.fromOpaque(context).takeUnretainedValue()
    desk.guests.answered(connection)
    guard let known = cell.pointee else { return }
    Unmanaged<Incoming>.fromOpaque(known).release()
    cell.pointee = nil
    desk.endBody(of: connection)
}

private func noteConnection(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, cell: Cell?, code: MHD_ConnectionNotificationCode
) {
    guard let context, let connection else { return }
    let desk = Unmanaged<WebDesk>.fromOpaque(context).takeUnretainedValue()
    if fieldscribe_web_begins(code) != 0 {
        let left = desk.guests.come(connection, fieldscribe_web_socket(connection))
        if let left { desk.resume(left) }
    } else {
        desk.guests.go(connection)
    }
}

/// Headers and fields by their names, those of headers in small letters.
private final class Values {
    private(set) var found: [String: String] = [:]
    private let areHeaders: Bool

    init(areHeaders: Bool) { self.areHeaders = areHeaders }

    /// Those by which a request ends and is meant for us.
    private static let single: Set<String> = ["host", "content-length", "transfer-encoding"]

    /// Of a name that is there several times, the first value counts, but all cookies; and all of those that make a request unclear.
    func take(_ name: String, _ value: String) {
        let name = areHeaders ? name.lowercased() : name
        guard let known = found[name] else {
            found[name] = value
            return
        }
        if areHeaders, name == "cookie" { found[name] = "\(known); \(value)" }
        if areHeaders, Self.single.contains(name), value != known { found[name] = "\(known), \(value)" }
    }
}

private func values(_ connection: OpaquePointer, areHeaders: Bool) -> [String: String] {
    let values = Values(areHeaders: areHeaders)
    fieldscribe_web_values(
        connection, areHeaders ? 1 : 0,
        { context, _, name, value in
            if let context, let name {
                Unmanaged<Values>.fromOpaque(context).takeUnretainedValue()
                    .take(String(cString: name), value.map { String(cString: $0) } ?? "")
            }
            return fieldscribe_web_yes()
        }, Unmanaged.passUnretained(values).toOpaque())
    return withExtendedLifetime(values) { values.found }
}

private func refusal(_ status: Int, _ text: String) -> WebResponse {
    WebResponse(status, [("Content-Type", "text/plain; charset=utf-8")], .bytes(Array("\(text)\n".utf8)))
}

private func send(_ answer: WebResponse, on connection: OpaquePointer) -> MHD_Result {
    let made: OpaquePointer? =
        switch answer.body {
        case .bytes(let bytes): bytes.withUnsafeBytes { fieldscribe_web_bytes($0.baseAddress, $0.count) }
        case .file(let number, let offset, let count):
            MHD_create_response_from_fd_at_offset64(UInt64(count), number, UInt64(offset))
        }
    guard let made else {
        if case .file(let number, _, _) = answer.body { close(number) }
        return fieldscribe_web_no()
    }
    defer { MHD_destroy_response(made) }
    for (name, value) in answer.headers { MHD_add_response_header(made, name, value) }
    return MHD_queue_response(connection, UInt32(answer.status), made)
}
