import Core
import FoundationEssentials
import System

/// Checks passwords, host names and origins, because browsers also send requests on behalf of scripts from other sites.
/// Used on one thread.
package final class SiteAccess {
    enum Decision: Hashable {
        /// `person` is the login name, which is empty if no password is required. The response must set `cookie`.
        case allowed(person: String, cookie: String?)
        /// The password is missing or wrong.
        case wrongPassword
        /// After too many wrong passwords, no password is checked for this number of seconds.
        case throttled(Int)
        /// The host name is not ours (DNS rebinding).
        case unknownHost
    }

    /// The number of wrong passwords that are allowed without a pause, and the seconds until another one is allowed.
    private static let (maximumAttempts, secondsPerAttempt): (Double, Double) = (10, 3)
    private static let maximumSessions = 1_000
    private static let cookieName = "fieldscribe"

    private let passwordDigest: String?
    private let hostNames: Set<String>?
    private let now: () -> Double
    /// Login names by the token in the browser's cookie.
    private var sessions: [String: String] = [:]
    private var remainingAttempts = SiteAccess.maximumAttempts
    private var lastAttemptTime: Double

    /// - Parameters:
    ///   - password: the password; nil if none is required.
    ///   - hostNames: the host names that a request may use, in lower case and without the port; nil for any.
    ///   - now: returns the time of a monotonic clock, in seconds.
    package init(
        password: String?, hostNames: Set<String>?,
        now: @escaping () -> Double = { MonotonicClock.seconds }
    ) {
        passwordDigest = password.map { Digest.of($0) }
        self.hostNames = hostNames
        self.now = now
        lastAttemptTime = now()
    }

    func decision(for request: WebRequest) -> Decision {
        if let hostNames, !hostNames.contains(Self.host(of: request.headers["host"] ?? "")) { return .unknownHost }
        guard let passwordDigest else { return .allowed(person: "", cookie: nil) }
        for token in Self.cookies(request.headers["cookie"] ?? "") {
            if let person = sessions[token] { return .allowed(person: person, cookie: nil) }
        }
        guard let (person, enteredPassword) = Self.credentials(request.headers["authorization"] ?? "") else {
            return .wrongPassword
        }
        let time = now()
        let newAttempts = (time - lastAttemptTime) / Self.secondsPerAttempt
        remainingAttempts = min(Self.maximumAttempts, remainingAttempts + newAttempts)
        lastAttemptTime = time
        guard remainingAttempts >= 1 else {
            let seconds = (1 - remainingAttempts) * Self.secondsPerAttempt
            return .throttled(max(1, Int(seconds.rounded(.up))))
        }
        guard Self.areEqual(Digest.of(enteredPassword), passwordDigest) else {
            remainingAttempts -= 1
            return .wrongPassword
        }
        if sessions.count >= Self.maximumSessions { sessions = [:] }
        let token = (0..<4).map { _ in UInt64.random(in: .min ... .max).padded(to: 16, radix: 16) }.joined()
        sessions[token] = person
        return .allowed(
            person: person, cookie: "\(Self.cookieName)=\(token); Path=/; HttpOnly; SameSite=Strict")
    }

    /// Returns whether a page of another site sent this request (CSRF). Browsers send `Sec-Fetch-Site`; older browsers send
    /// `Origin`.
    static func isForeign(_ request: WebRequest) -> Bool {
        if let site = request.headers["sec-fetch-site"] { return site != "same-origin" }
        guard let origin = request.headers["origin"] else { return false }
        let names = ["host", "x-forwarded-host"].compactMap { request.headers[$0] }
        let parts = origin.split(separator: "://", maxSplits: 1).map(String.init)
        return parts.count != 2 || !names.contains(parts[1])
    }

    /// Returns the host without the port, in lower case.
    private static func host(of header: String) -> String {
        let text = header.lowercased()
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") { return String(text[...end]) }
        return String(text.prefix { $0 != ":" })
    }

    private static func cookies(_ header: String) -> [String] {
        header.split(separator: ";").compactMap { cookie in
            let pair = cookie.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
            return pair.count == 2 && pair[0] == cookieName ? pair[1] : nil
        }
    }

    private static func credentials(_ header: String) -> (person: String, password: String)? {
        let parts = header.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "basic", let bytes = Data(base64Encoded: String(parts[1])),
            let text = String(validating: bytes, as: UTF8.self), let colon = text.firstIndex(of: ":")
        else { return nil }
        return (String(text[..<colon]), String(text[text.index(after: colon)...]))
    }

    /// Compares two texts in constant time.
    private static func areEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
