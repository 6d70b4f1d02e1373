internal import CMicrohttpd
import Core
import Glibc
import Synchronization
import System

/// What is being asked now. Used on one thread.
final class WebDesk {
    /// Bytes that may come along with a request.
    static let mostOfOne = 17 << 20
    /// Bytes of a refused request's body that are read and dropped. A client that gets its answer earlier may see only a broken
    /// connection.
    static let mostPassed = 64 << 20

    let site: OfficeSite
    /// Who is connected.
    var guests = WebGuests()
    /// Whose bodies come.
    let bodies = WebBodies()
    /// Whose bodies come and are dropped, in places of their own: no stranger holds up who may send one.
    let dropped = WebBodies()
    /// Whose bodies are read.
    let readings = WebReadings()

    init(_ site: OfficeSite) { self.site = site }

    /// Leaves those whose requests take too long to come. (Swift 6.0 crashes where a noncopyable server reaches into this object.)
    func leaveSlow() {
        for connection in guests.leaveSlow() { resume(connection) }
        for connection in bodies.slow + dropped.slow where !guests.isHeard(connection) { guests.leave(connection) }
    }

    /// Resumes one that waits for a place, if it does: it is to be closed.
    func resume(_ connection: OpaquePointer) {
        bodies.resume(connection)
        dropped.resume(connection)
    }

    /// It was answered, or is gone: the next one has its place.
    func endBody(of connection: OpaquePointer) {
        bodies.end(connection)
        dropped.end(connection)
    }

    /// Resumes all, since the library ends with nobody suspended.
    func resumeAll() {
        bodies.resumeAll()
        dropped.resumeAll()
        readings.resumeAll()
    }
}

/// One request while it comes.
final class Incoming {
    var request: WebRequest
    /// What it is answered, whatever comes along.
    let refusal: WebResponse?
    /// Bytes that have come along and were not kept.
    var passed = 0
    /// Whether its body has to wait for a place.
    var isWaiting = false

    init(_ request: WebRequest, _ refusal: WebResponse?) { (self.request, self.refusal) = (request, refusal) }
}

/// The places for bodies: few come at a time, and the others wait, so that requests without one are answered at once. Used on one thread.
final class WebBodies {
    private static let most = 4
    /// So long may a body take to come where others wait for its place, in nanoseconds.
    private static let longest: Int64 = 20_000_000_000

    /// Since when each comes.
    private var coming: [OpaquePointer: Int64] = [:]
    /// Suspended, in their order.
    private var waiting: [OpaquePointer] = []

    /// Gives it a place, or has it wait for one.
    func begin(_ connection: OpaquePointer, _ incoming: Incoming) {
        if coming.count < Self.most {
            coming[connection] = MonotonicClock.nanoseconds
            return
        }
        incoming.isWaiting = true
        waiting.append(connection)
        MHD_suspend_connection(connection)
    }

    /// It was answered, or is gone: the next one has its place.
    func end(_ connection: OpaquePointer) {
        guard coming.removeValue(forKey: connection) != nil, !waiting.isEmpty else { return }
        let next = waiting.removeFirst()
        coming[next] = MonotonicClock.nanoseconds
        MHD_resume_connection(next)
    }

    /// Those that take too long while others wait.
    var slow: [OpaquePointer] {
        if waiting.isEmpty { return [] }
        let latest = MonotonicClock.nanoseconds - Self.longest
        return coming.filter { $0.value < latest }.map(\.key)
    }

    /// Resumes one that waits, if it does: it is to be closed.
    func resume(_ connection: OpaquePointer) {
        guard let place = waiting.firstIndex(of: connection) else { return }
        waiting.remove(at: place)
        MHD_resume_connection(connection)
    }

    func resumeAll() {
        for connection in waiting { MHD_resume_connection(connection) }
        waiting = []
    }
}

/// Bodies that are read on a thread of their own, while their connections are suspended.
final class WebReadings: Sendable {
    private struct State: Sendable {
        /// What was made of bodies, until their requests are answered.
        var done: [UInt: Result<SavedCorrections, DeviceError>] = [:]
        /// Suspended.
        var reading: Set<UInt> = []
    }

    private let state = Mutex(State())
    private let thread = WorkThread(named: "bodies", niceness: 1)

    /// Takes the body, and has the request answered once it is read.
    func begin(_ connection: OpaquePointer, _ incoming: Incoming, _ reader: @escaping OfficeSite.BodyReader) {
        let (key, body) = (UInt(bitPattern: connection), incoming.request.body)
        incoming.request.body = []
        state.withLock { _ = $0.reading.insert(key) }
        MHD_suspend_connection(connection)
        thread.start { [self] in
            let corrections = reader(body)
            state.withLock { state in
                // Nobody waits for it any more.
                guard state.reading.remove(key) != nil else { return }
                state.done[key] = corrections
                // Safety: a suspended connection is not freed before it is resumed, and the library takes this call from any thread.
                OpaquePointer(bitPattern: key).map { MHD_resume_connection($0) }
            }
        }
    }

    /// What was made of its body, once.
    func corrections(of connection: OpaquePointer) -> Result<SavedCorrections, DeviceError>? {
        state.withLock { $0.done.removeValue(forKey: UInt(bitPattern: connection)) }
    }

    func resumeAll() {
        let connections = state.withLock { state in
            defer { state.reading = [] }
            return state.reading
        }
        for key in connections { OpaquePointer(bitPattern: key).map { MHD_resume_connection($0) } }
    }
}
