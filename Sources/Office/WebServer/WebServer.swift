internal import CMicrohttpd
import Core
import Glibc

/// An HTTP server based on libmicrohttpd. Serves on the thread that calls `run`.
package struct WebServer: ~Copyable {
    private static let maximumConnections: UInt32 = 256
    /// The maximum number of connections from one address, so that one machine cannot block the others. Local listeners have
    /// no such limit, because all connections through a proxy have the proxy's address.
    private static let maximumPerAddress: UInt32 = 64
    /// If there are at least `incompleteLimit` connections, a new one closes the connection whose request has been
    /// incomplete for the longest time. If there are at least `anyLimit` and all requests are complete, a new one
    /// closes the connection that was accepted or answered longest ago.
    static let (incompleteLimit, anyLimit) = (192, 240)
    /// The maximum time, in seconds, from the start of a connection or the previous answer until a request is complete.
    static let maximumRequestSeconds: Double = 120
    /// An upload may take longer than `maximumRequestSeconds` if at least this number of bytes arrives in each such period.
    static let minimumBytes = 4 << 20
    private static let idleSeconds: UInt32 = 30
    /// The maximum interval between calls of `shouldContinue`, in milliseconds.
    private static let pollMilliseconds: Int32 = 500

    private let listener: WebListener
    private let daemon: OpaquePointer
    private let state: WebState

    /// - Throws: `DeviceError` if the server cannot start.
    package init(_ listener: consuming WebListener, serving site: OfficeSite) throws(DeviceError) {
        let state = WebState(site)
        let started = fieldscribe_web_start(
            listener.descriptor, Self.maximumConnections, listener.isLocal ? 0 : Self.maximumPerAddress,
            Self.idleSeconds, Unmanaged.passUnretained(state).toOpaque(), answerRequest, requestCompleted,
            connectionChanged)
        guard let daemon = started else {
            close(listener.descriptor)
            throw DeviceError(.failed, "MHD_start_daemon", on: listener.address, "libmicrohttpd cannot start")
        }
        self.state = state
        self.daemon = daemon
        self.listener = listener
    }

    /// Serves until `shouldContinue` returns false.
    ///
    /// - Parameter shouldContinue: called at least twice a second.
    package borrowing func run(while shouldContinue: () -> Bool) throws(DeviceError) {
        while shouldContinue() {
            guard fieldscribe_web_run(daemon, Self.pollMilliseconds) == 0 else {
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

/// Where libmicrohttpd stores our pointer to a request (`con_cls`).
private typealias RequestPointer = UnsafeMutablePointer<UnsafeMutableRawPointer?>

private func answerRequest(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, path: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, bytes: UnsafePointer<CChar>?,
    count: UnsafeMutablePointer<Int>?, storage: RequestPointer?
) -> MHD_Result {
    guard let context, let connection, let path, let method, let count, let storage else { return fieldscribe_web_no() }
    let state = Unmanaged<WebState>.fromOpaque(context).takeUnretainedValue()
    guard let existing = storage.pointee else {
        var request = WebRequest(
            method: String(cString: method), path: String(cString: path),
            query: values(connection, areHeaders: false),
            headers: values(connection, areHeaders: true))
        let declared = request.headers["content-length"].map { Int($0) ?? .max }
        let coding = request.headers["transfer-encoding"]
        // A proxy may assume another length and treat the rest as another request (RFC 9112, 6.3).
        let isAmbiguous = coding != nil && (coding?.lowercased() != "chunked" || declared != nil)
        let refusal =
            if isAmbiguous {
                textResponse(400, "The length of this request is ambiguous.")
            } else if (declared ?? 0) > WebState.maximumBodyBytes, !OfficeSite.isUpload(request) {
                textResponse(413, "The corrections are too large.")
            } else {
                state.site.refusal(of: &request)
            }
        let hasNoBody = (declared ?? 0) == 0 && coding == nil
        // Rejects the request immediately if there is no body to read first, if the length is ambiguous or too large,
        // or if the client waits for permission to send the body (`Expect: 100-continue`).
        if let refusal,
            hasNoBody || isAmbiguous || request.headers["expect"] != nil
                || (declared ?? 0) > WebState.maximumDroppedBytes
        {
            state.connections.markReceived(connection)
            return send(refusal, on: connection)
        }
        let incoming = IncomingRequest(request, refusal)
        if refusal == nil, !hasNoBody, OfficeSite.isUpload(request) {
            do throws(DeviceError) { incoming.files = try state.site.receive(request) } catch {
                state.connections.markReceived(connection)
                return send(OfficeSite.jsonResponse(503, error.message), on: connection)
            }
        }
        storage.pointee = Unmanaged.passRetained(incoming).toOpaque()
        if !hasNoBody, incoming.files == nil {
            (refusal == nil ? state.bodies : state.droppedBodies).begin(connection, incoming)
        }
        return fieldscribe_web_yes()
    }
    let incoming = Unmanaged<IncomingRequest>.fromOpaque(existing).takeUnretainedValue()
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
            // libmicrohttpd cannot send a response in the middle of a body, so this closes the connection.
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
        if files.header.kind == .audio { return send(state.site.transcribe(files), on: connection) }
        let add = state.site.adder()
        state.additions.begin(connection) { .added(add(files)) }
        return fieldscribe_web_yes()
    }
    if !incoming.request.body.isEmpty, let parse = state.site.parser(of: incoming.request) {
        let body = incoming.request.body
        incoming.request.body = []
        state.parsing.begin(connection) { parse(body) }
        return fieldscribe_web_yes()
    }
    incoming.request.result = state.parsing.result(of: connection) ?? state.additions.result(of: connection)
    return send(state.site.respond(to: incoming.request), on: connection)
}

private func requestCompleted(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, storage: RequestPointer?,
    reason: MHD_RequestTerminationCode
) {
    guard let context, let connection, let storage else { return }
    let state = Unmanaged<WebState>.fromOpaque(context).takeUnretainedValue()
    state.connections.markAnswered(connection)
    guard let pointer = storage.pointee else { return }
    Unmanaged<IncomingRequest>.fromOpaque(pointer).release()
    storage.pointee = nil
    state.finishBody(of: connection)
}

private func connectionChanged(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, storage: RequestPointer?,
    code: MHD_ConnectionNotificationCode
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

/// A request's headers or query fields, by name. The names of headers are in lower case.
private final class RequestValues {
    private(set) var values: [String: String] = [:]
    private let areHeaders: Bool

    init(areHeaders: Bool) { self.areHeaders = areHeaders }

    /// Headers that determine a request's length or host. Several different values make the request ambiguous.
    private static let singleValued: Set<String> = ["host", "content-length", "transfer-encoding"]

    /// Adds a value. Ignores all values after the first, but joins cookies and different values of `singleValued` headers.
    func add(_ name: String, _ value: String) {
        let name = areHeaders ? name.lowercased() : name
        guard let existing = values[name] else {
            values[name] = value
            return
        }
        if areHeaders, name == "cookie" { values[name] = "\(existing); \(value)" }
        if areHeaders, Self.singleValued.contains(name), value != existing { values[name] = "\(existing), \(value)" }
    }
}

private func values(_ connection: OpaquePointer, areHeaders: Bool) -> [String: String] {
    let collector = RequestValues(areHeaders: areHeaders)
    fieldscribe_web_values(
        connection, areHeaders ? 1 : 0,
        { context, _, name, value in
            if let context, let name {
                Unmanaged<RequestValues>.fromOpaque(context).takeUnretainedValue()
                    .add(String(cString: name), value.map { String(cString: $0) } ?? "")
            }
            return fieldscribe_web_yes()
        }, Unmanaged.passUnretained(collector).toOpaque())
    return withExtendedLifetime(collector) { collector.values }
}

private func textResponse(_ status: Int, _ text: String) -> WebResponse {
    WebResponse(status, [("Content-Type", "text/plain; charset=utf-8")], .bytes(Array("\(text)\n".utf8)))
}

/// MHD_CONTENT_READER_END_OF_STREAM, and MHD_CONTENT_READER_END_WITH_ERROR, which closes the connection.
private let (endOfStream, endWithError) = (-1, -2)

private func readZip(
    context: UnsafeMutableRawPointer?, offset: UInt64, buffer: UnsafeMutablePointer<CChar>?, count: Int
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

private func send(_ response: WebResponse, on connection: OpaquePointer) -> MHD_Result {
    let handle: OpaquePointer? =
        switch response.body {
        case .bytes(let bytes): bytes.withUnsafeBytes { fieldscribe_web_bytes($0.baseAddress, $0.count) }
        case .file(let descriptor, let offset, let count):
            MHD_create_response_from_fd_at_offset64(UInt64(count), descriptor, UInt64(offset))
        case .zip(let zip):
            // `.max` is MHD_SIZE_UNKNOWN, so the response is sent in chunks.
            MHD_create_response_from_callback(
                .max, 64 << 10, readZip, Unmanaged.passRetained(zip).toOpaque(), releaseZip)
        }
    guard let handle else {
        if case .file(let descriptor, _, _) = response.body { close(descriptor) }
        return fieldscribe_web_no()
    }
    defer { MHD_destroy_response(handle) }
    for (name, value) in response.headers { MHD_add_response_header(handle, name, value) }
    return MHD_queue_response(connection, UInt32(response.status), handle)
}
