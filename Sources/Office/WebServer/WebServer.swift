internal import CMicrohttpd
import Core
import Glibc

/// An HTTP server based on libmicrohttpd. Serves on the thread that calls `run`.
package struct WebServer: ~Copyable {
    /// The maximum number of connections. Further connections wait.
    private static let maximumConnections: UInt32 = 256
    /// The maximum number of connections from one address, so that one machine cannot block all others. Local addresses
    /// have no limit, because all connections through a proxy have the proxy's address.
    private static let maximumPerAddress: UInt32 = 64
    /// If there are at least `crowded` connections, each new one closes the connection whose request has been pending
    /// longest. If there are at least `veryCrowded`, this can also be a connection that is being answered.
    static let (crowded, veryCrowded) = (192, 240)
    /// The maximum time from the previous request to the end of the next one, in seconds.
    static let maximumRequestSeconds: Double = 120
    /// The minimum number of bytes per `maximumRequestSeconds` for files that are sent to the archive, which take
    /// longer.
    static let minimumBytes = 4 << 20
    /// The timeout for an idle connection, in seconds.
    private static let timeout: UInt32 = 30
    /// The interval at which `shouldContinue` is checked, in milliseconds.
    private static let pause: Int32 = 500

    private let listener: WebListener
    private let daemon: OpaquePointer
    private let state: WebState

    /// - Parameter site: answers the requests.
    /// - Throws: `DeviceError` if the server cannot start.
    package init(_ listener: consuming WebListener, serving site: OfficeSite) throws(DeviceError) {
        let state = WebState(site)
        let started = fieldscribe_web_start(
            listener.number, Self.maximumConnections, listener.isLocal ? 0 : Self.maximumPerAddress, Self.timeout,
            Unmanaged.passUnretained(state).toOpaque(), answerRequest, endRequest, noteConnection)
        guard let daemon = started else {
            close(listener.number)
            throw DeviceError(.failed, "MHD_start_daemon", on: listener.address, "libmicrohttpd cannot serve it")
        }
        self.state = state
        self.daemon = daemon
        self.listener = listener
    }

    /// Serves until `shouldContinue` returns false.
    ///
    /// - Parameter shouldContinue: called several times a second.
    package borrowing func run(while shouldContinue: () -> Bool) throws(DeviceError) {
        while shouldContinue() {
            guard fieldscribe_web_run(daemon, Self.pause) == 0 else {
                throw DeviceError(.failed, "MHD_run_wait", on: listener.address, "libmicrohttpd cannot continue")
            }
            state.closeSlow()
        }
    }

    deinit {
        withExtendedLifetime(state) {
            state.resumeAll()
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
    let state = Unmanaged<WebState>.fromOpaque(context).takeUnretainedValue()
    guard let known = cell.pointee else {
        var request = WebRequest(
            method: String(cString: method), path: String(cString: path),
            query: values(connection, areHeaders: false),
            headers: values(connection, areHeaders: true))
        let declared = request.headers["content-length"].map { Int($0) ?? .max }
        let coding = request.headers["transfer-encoding"]
        // A proxy may compute a different length and treat the rest as another request (RFC 9112, 6.3).
        let isAmbiguous = coding != nil && (coding?.lowercased() != "chunked" || declared != nil)
        let refusal =
            if isAmbiguous {
                refusal(400, "The length of this request is ambiguous.")
            } else if (declared ?? 0) > WebState.maximumBodyBytes, !OfficeSite.isAddition(request) {
                refusal(413, "The corrections are too large.")
            } else {
                state.site.refusal(of: &request)
            }
        // A client that sent `Expect: 100-continue` gets the rejection immediately.
        let hasNoBody = (declared ?? 0) == 0 && coding == nil
        if let refusal,
            hasNoBody || isAmbiguous || request.headers["expect"] != nil
                || (declared ?? 0) > WebState.maximumDroppedBytes
        {
            state.connections.markReceived(connection)
            return send(refusal, on: connection)
        }
        let incoming = Incoming(request, refusal)
        if refusal == nil, !hasNoBody, OfficeSite.isAddition(request) {
            do throws(DeviceError) { incoming.files = try state.site.receive(request) } catch {
                state.connections.markReceived(connection)
                return send(OfficeSite.answer(503, error.message), on: connection)
            }
        }
        cell.pointee = Unmanaged.passRetained(incoming).toOpaque()
        if !hasNoBody, incoming.files == nil {
            (refusal == nil ? state.bodies : state.dropped).begin(connection, incoming)
        }
        return fieldscribe_web_yes()
    }
    let incoming = Unmanaged<Incoming>.fromOpaque(known).takeUnretainedValue()
    // The connection was just resumed, so no data has arrived yet.
    if incoming.isWaiting {
        incoming.isWaiting = false
        return fieldscribe_web_yes()
    }
    if count.pointee > 0, incoming.refusal != nil {
        incoming.receivedBytes += count.pointee
        count.pointee = 0
        return incoming.receivedBytes <= WebState.maximumDroppedBytes ? fieldscribe_web_yes() : fieldscribe_web_no()
    }
    if count.pointee > 0, let bytes {
        let received = UnsafeRawBufferPointer(start: bytes, count: count.pointee)
        if let files = incoming.files {
            files.append(received)
            incoming.receivedBytes += count.pointee
            if incoming.receivedBytes >= WebServer.minimumBytes {
                incoming.receivedBytes = 0
                state.connections.extendDeadline(of: connection)
            }
        } else {
            // HTTP allows no response in the middle of a body, so this closes the connection.
            guard incoming.request.body.count + received.count <= WebState.maximumBodyBytes else {
                return fieldscribe_web_no()
            }
            incoming.request.body += received
        }
        count.pointee = 0
        return fieldscribe_web_yes()
    }
    state.connections.markReceived(connection)
    if let refusal = incoming.refusal { return send(refusal, on: connection) }
    if let files = incoming.files {
        incoming.files = nil
        if files.header.kind == .sound { return send(state.site.transcribe(files), on: connection) }
        let adder = state.site.adder()
        state.additions.begin(connection) { .added(adder(files)) }
        return fieldscribe_web_yes()
    }
    if !incoming.request.body.isEmpty, let reader = state.site.reader(of: incoming.request) {
        let body = incoming.request.body
        incoming.request.body = []
        state.parsing.begin(connection) { reader(body) }
        return fieldscribe_web_yes()
    }
    incoming.request.result = state.parsing.result(of: connection) ?? state.additions.result(of: connection)
    return send(state.site.respond(to: incoming.request), on: connection)
}

private func endRequest(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, cell: Cell?, reason: MHD_RequestTerminationCode
) {
    guard let context, let connection, let cell else { return }
    let state = Unmanaged<WebState>.fromOpaque(context).takeUnretainedValue()
    state.connections.markAnswered(connection)
    guard let known = cell.pointee else { return }
    Unmanaged<Incoming>.fromOpaque(known).release()
    cell.pointee = nil
    state.endBody(of: connection)
}

private func noteConnection(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, cell: Cell?, code: MHD_ConnectionNotificationCode
) {
    guard let context, let connection else { return }
    let state = Unmanaged<WebState>.fromOpaque(context).takeUnretainedValue()
    if fieldscribe_web_begins(code) != 0 {
        let closed = state.connections.add(connection, fieldscribe_web_socket(connection))
        if let closed { state.resume(closed) }
    } else {
        state.connections.remove(connection)
    }
}

/// Headers or query fields by name. The names of headers are in lower case.
private final class Values {
    private(set) var found: [String: String] = [:]
    private let areHeaders: Bool

    init(areHeaders: Bool) { self.areHeaders = areHeaders }

    /// Headers that determine a request's end or its host. The request is ambiguous if they have several values.
    private static let singleValued: Set<String> = ["host", "content-length", "transfer-encoding"]

    /// Adds a value. Only the first of several values counts, except for cookies and `singleValued` headers, which keep
    /// all.
    func add(_ name: String, _ value: String) {
        let name = areHeaders ? name.lowercased() : name
        guard let known = found[name] else {
            found[name] = value
            return
        }
        if areHeaders, name == "cookie" { found[name] = "\(known); \(value)" }
        if areHeaders, Self.singleValued.contains(name), value != known { found[name] = "\(known), \(value)" }
    }
}

private func values(_ connection: OpaquePointer, areHeaders: Bool) -> [String: String] {
    let values = Values(areHeaders: areHeaders)
    fieldscribe_web_values(
        connection, areHeaders ? 1 : 0,
        { context, _, name, value in
            if let context, let name {
                Unmanaged<Values>.fromOpaque(context).takeUnretainedValue()
                    .add(String(cString: name), value.map { String(cString: $0) } ?? "")
            }
            return fieldscribe_web_yes()
        }, Unmanaged.passUnretained(values).toOpaque())
    return withExtendedLifetime(values) { values.found }
}

private func refusal(_ status: Int, _ text: String) -> WebResponse {
    WebResponse(status, [("Content-Type", "text/plain; charset=utf-8")], .bytes(Array("\(text)\n".utf8)))
}

/// MHD_CONTENT_READER_END_OF_STREAM and MHD_CONTENT_READER_END_WITH_ERROR, which closes the connection.
private let (endOfStream, endWithError) = (-1, -2)

private func readZip(
    context: UnsafeMutableRawPointer?, place: UInt64, buffer: UnsafeMutablePointer<CChar>?, count: Int
) -> Int {
    guard let context, let buffer else { return endWithError }
    let zip = Unmanaged<ZipDownload>.fromOpaque(context).takeUnretainedValue()
    guard let count = zip.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count)) else {
        return endWithError
    }
    return count == 0 ? endOfStream : count
}

private func releaseZip(context: UnsafeMutableRawPointer?) {
    if let context { Unmanaged<ZipDownload>.fromOpaque(context).release() }
}

private func send(_ answer: WebResponse, on connection: OpaquePointer) -> MHD_Result {
    let response: OpaquePointer? =
        switch answer.body {
        case .bytes(let bytes): bytes.withUnsafeBytes { fieldscribe_web_bytes($0.baseAddress, $0.count) }
        case .file(let number, let offset, let count):
            MHD_create_response_from_fd_at_offset64(UInt64(count), number, UInt64(offset))
        case .zip(let zip):
            // `.max` is MHD_SIZE_UNKNOWN: the response is sent in chunks.
            MHD_create_response_from_callback(
                .max, 64 << 10, readZip, Unmanaged.passRetained(zip).toOpaque(), releaseZip)
        }
    guard let response else {
        if case .file(let number, _, _) = answer.body { close(number) }
        return fieldscribe_web_no()
    }
    defer { MHD_destroy_response(response) }
    for (name, value) in answer.headers { MHD_add_response_header(response, name, value) }
    return MHD_queue_response(connection, UInt32(answer.status), response)
}
