import Core
internal import CPostgreSQL
import Glibc

/// A connection to a PostgreSQL server (`PGconn`), closed on deinit. Used on one thread.
final class ServerConnection {
    /// The address without user and password, such as `postgresql://desk/fieldscribe`.
    let name: String
    private let handle: OpaquePointer
    private var statementNames: [String: String] = [:]
    private let timeout: ServerTimeout
    /// Whether we stopped waiting for an answer, so that the connection cannot be used again.
    private var isAbandoned = false
    /// The timeout for a statement, in seconds; nil for none.
    var timeoutSeconds: Int?

    /// Connects. The timeout is ten seconds, or the `connect_timeout` in the address, but at most `timeout.seconds`.
    ///
    /// - Parameter address: a URI for libpq, `postgresql://...`.
    init(_ address: String, _ timeout: ServerTimeout) throws(DeviceError) {
        self.timeout = timeout
        timeoutSeconds = timeout.seconds
        try Self.checkFormat(of: address)
        let passwordFile = try PasswordFile(for: address)
        // Settings before `dbname` are defaults, which the address overrides. If the server disappears because of a
        // power or network failure, the connection fails after a minute; without these settings, after hours.
        let settings =
            [
                ("connect_timeout", "10"), ("application_name", "fieldscribe-office"), ("keepalives_idle", "30"),
                ("keepalives_interval", "10"), ("keepalives_count", "3"), ("tcp_user_timeout", "60000"),
                ("dbname", address), ("client_encoding", "UTF8"),
            ] + (passwordFile.replacement.map { [("passfile", $0)] } ?? [])
        let (keys, values) = (settings.map(\.0), settings.map(\.1))
        var connection: OpaquePointer?
        withCStrings(keys.map { Array($0.utf8) }) { keys in
            withCStrings(values.map { Array($0.utf8) }) { values in connection = PQconnectStartParams(keys, values, 1) }
        }
        guard let connection else {
            throw DeviceError(.failed, "PQconnectdb", on: "postgresql", "out of memory")
        }
        handle = connection
        let host = PQhost(connection).map { String(cString: $0) } ?? ""
        let database = PQdb(connection).map { String(cString: $0) } ?? ""
        name = "postgresql://\(host)/\(database)"
        fieldscribe_ignore_notices(connection)
        // If this throws, `deinit` closes the connection.
        try Self.connect(connection, named: name, timeout)
        guard PQstatus(connection) == CONNECTION_OK else {
            let reason = Self.line(PQerrorMessage(connection))
            // libpq reports this case only in the message.
            let hasTooManyClients = reason.contains("too many c")
            throw DeviceError(
                hasTooManyClients ? .busy : .disconnected, "PQconnectdb", on: name,
                "connecting failed: \(reason)\(passwordFile.problem)",
                remedy: hasTooManyClients
                    ? "wait until other programs have disconnected, or raise max_connections on the server"
                    : "check that the server is running, and that address, user and password are correct")
        }
        // Writes do not block; `answer` waits with a timeout.
        PQsetnonblocking(connection, 1)
    }

    /// Rejects an address that libpq cannot parse, because libpq's error message would contain the address with the
    /// password.
    private static func checkFormat(of address: String) throws(DeviceError) {
        let options = PQconninfoParse(address, nil)
        defer { PQconninfoFree(options) }
        guard options == nil else { return }
        throw DeviceError(
            .failed, "PQconninfoParse", on: "postgresql", "the address is not valid",
            remedy: "write postgresql://USER@HOST/DATABASE, with @, / and % in names and passwords as %40, %2F and %25")
    }

    // Safety: this is the last reference, and results were copied.
    deinit { PQfinish(handle) }

    private static func connect(
        _ connection: OpaquePointer, named name: String, _ timeout: ServerTimeout
    ) throws(DeviceError) {
        var wait = ServerTimeout.Wait(
            for: name, timeout, limit: min(timeout.seconds, fieldscribe_connect_timeout(connection)))
        var state = PGRES_POLLING_WRITING
        while PQstatus(connection) != CONNECTION_BAD, state != PGRES_POLLING_OK, state != PGRES_POLLING_FAILED {
            try wait.wait(on: PQsocket(connection), for: state == PGRES_POLLING_READING ? POLLIN : POLLOUT)
            state = PQconnectPoll(connection)
        }
    }

    /// Sends a request and waits for the answer. Returns the last result, which the caller must clear.
    ///
    /// - Throws: `DeviceError` if the server reports an error, or does not answer in time.
    private func answer(_ send: () -> Int32) throws(DeviceError) -> OpaquePointer {
        guard !isAbandoned else { throw error("08006", "an earlier request was not answered in time") }
        guard send() == 1 else { throw error("", Self.line(PQerrorMessage(handle))) }
        var wait = ServerTimeout.Wait(for: name, timeout, limit: timeoutSeconds)
        var last: OpaquePointer?
        do throws(DeviceError) {
            while PQflush(handle) == 1 {
                try wait.wait(on: PQsocket(handle), for: POLLIN | POLLOUT)
                if PQconsumeInput(handle) == 0 { break }
            }
            while true {
                while PQisBusy(handle) == 1 {
                    try wait.wait(on: PQsocket(handle), for: POLLIN)
                    if PQconsumeInput(handle) == 0 { break }
                    wait.restart()
                }
                guard let result = PQgetResult(handle) else { break }
                PQclear(last)
                last = result
            }
        } catch {
            PQclear(last)
            isAbandoned = true
            throw error
        }
        let status = PQresultStatus(last)
        if let last, status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK { return last }
        defer { PQclear(last) }
        // PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY are character constants in C.
        let state = PQresultErrorField(last, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
        let message = PQresultErrorField(last, Int32(UInt8(ascii: "M"))) ?? PQerrorMessage(handle)
        throw error(state, Self.line(message))
    }

    /// Runs one or more SQL statements without parameters.
    func execute(_ sql: String) throws(DeviceError) {
        PQclear(try answer { PQsendQuery(handle, sql) })
    }

    /// Runs a statement and returns the result of `read` for each row. Each statement is prepared once and stays on the
    /// server, so `sql` must not contain data.
    func rows<Element>(
        _ sql: String, _ values: [ServerValue] = [], read: (ServerRow) -> Element
    ) throws(DeviceError) -> [Element] {
        let result = try run(sql, values)
        defer { PQclear(result) }
        // Safety: `read` borrows the row; the result is freed after all calls.
        return (0..<PQntuples(result)).map { read(ServerRow(result: result, row: $0)) }
    }

    /// Runs a statement and returns the first integer in its first row; 0 if there are no rows.
    func number(_ sql: String, _ values: ServerValue...) throws(DeviceError) -> Int {
        try rows(sql, values) { $0.integer(0) }.first ?? 0
    }

    /// Runs a statement and returns the number of rows that it changed.
    @discardableResult
    func run(_ sql: String, _ values: ServerValue...) throws(DeviceError) -> Int {
        let result = try run(sql, values)
        defer { PQclear(result) }
        return PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
    }

    private func run(_ sql: String, _ values: [ServerValue]) throws(DeviceError) -> OpaquePointer {
        let name: String
        if let existing = statementNames[sql] {
            name = existing
        } else {
            name = "s\(statementNames.count)"
            PQclear(try answer { PQsendPrepare(handle, name, sql, 0, nil) })
            statementNames[sql] = name
        }
        return try answer {
            var status: Int32 = 0
            withCStrings(values.map(\.bytes)) { texts in
                status = PQsendQueryPrepared(handle, name, Int32(values.count), texts, nil, nil, 0)
            }
            return status
        }
    }

    /// Runs `body` in a transaction, which is rolled back if `body` throws or the connection breaks.
    func transaction<Value>(_ body: () throws(DeviceError) -> Value) throws(DeviceError) -> Value {
        try execute("BEGIN")
        do throws(DeviceError) {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // If the connection broke, the server rolls the transaction back.
            if PQstatus(handle) == CONNECTION_OK, !isAbandoned { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// - Parameter state: the SQLSTATE; empty for an error that libpq itself reports.
    private func error(_ state: String, _ message: String) -> DeviceError {
        if PQstatus(handle) != CONNECTION_OK || state.hasPrefix("57P") || state.hasPrefix("08") {
            return DeviceError(
                .disconnected, "PQexec", on: name, "the connection broke (\(message))",
                remedy: "run the command again once the server can be reached; incomplete changes were rolled back")
        }
        switch state {
        case "55P03":
            return DeviceError(
                .busy, "PQexec", status: ETIMEDOUT, on: name,
                "another program's transaction holds a lock (\(message))",
                remedy:
                    "end that transaction (SELECT pid, query FROM pg_stat_activity WHERE state LIKE 'idle in%'), then "
                    + "run the command again"
            )
        case "57014":
            return DeviceError(
                .busy, "PQexec", status: ETIMEDOUT, on: name, "took too long (\(message))",
                remedy: "see in pg_stat_activity what the server is doing, then run the command again")
        case "42501":
            return DeviceError(
                .denied, "PQexec", on: name, "permission denied: \(message)",
                remedy: "ask the database's owner for the permission")
        case "25006":
            return DeviceError(
                .denied, "PQexec", on: name, "is read-only: \(message)",
                remedy: "use the address of a server that accepts changes")
        case "53100", "53200":
            return DeviceError(
                .full, "PQexec", on: name, "the server has no space left: \(message)",
                remedy: "free space on the server")
        default:
            return DeviceError(
                state.hasPrefix("40") || state.hasPrefix("55") ? .busy : .failed, "PQexec", on: name,
                "\(message) (SQLSTATE \(state))",
                remedy: "run the command again; if that does not help, see the server's log")
        }
    }

    /// Returns the first line of a message without its indentation.
    private static func line(_ message: UnsafePointer<CChar>?) -> String {
        let lines = message.map { String(cString: $0) }?.split(whereSeparator: \.isNewline)
        return lines?.first.map { String($0.drop { $0.isWhitespace }) } ?? ""
    }
}

struct ServerValue {
    /// The value as text in UTF-8; nil for NULL.
    fileprivate let bytes: [UInt8]?

    private init(bytes: [UInt8]?) { self.bytes = bytes }
    private init(text: String) { bytes = Array(text.utf8) }

    static let null = ServerValue(bytes: nil)
    static func integer(_ number: Int) -> ServerValue { ServerValue(text: "\(number)") }
    static func real(_ number: Double) -> ServerValue { ServerValue(text: "\(number)") }
    static func position(_ position: SamplePosition) -> ServerValue { ServerValue(text: "\(position.samples)") }
    static func optional(_ number: Double?) -> ServerValue { number.map(real) ?? null }
    static func optional(_ text: String?) -> ServerValue { text.map(self.text) ?? null }
    /// Replaces NUL, which PostgreSQL cannot store in text, with U+FFFD.
    static func text(_ text: String) -> ServerValue {
        ServerValue(text: text.utf8.contains(0) ? text.replacing("\0", with: "\u{FFFD}") : text)
    }

    // Arrays, with which one statement can insert many rows.

    static func integers(_ numbers: [Int]) -> ServerValue {
        ServerValue(text: "{\(numbers.map(String.init).joined(separator: ","))}")
    }
    static func reals(_ numbers: [Double]) -> ServerValue {
        ServerValue(text: "{\(numbers.map { "\($0)" }.joined(separator: ","))}")
    }
    static func positions(_ positions: [SamplePosition]) -> ServerValue { integers(positions.map { Int($0.samples) }) }
    static func texts(_ texts: [String?]) -> ServerValue {
        var array: [UInt8] = []
        array.reserveCapacity(texts.reduce(2) { $0 + ($1?.utf8.count ?? 0) + 8 })
        for text in texts {
            array.append(UInt8(ascii: array.isEmpty ? "{" : ","))
            guard let text else {
                array += "NULL".utf8
                continue
            }
            array.append(UInt8(ascii: "\""))
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                    array.append(UInt8(ascii: "\\"))
                    array.append(byte)
                case 0: array += "\u{FFFD}".utf8
                default: array.append(byte)
                }
            }
            array.append(UInt8(ascii: "\""))
        }
        if array.isEmpty { array.append(UInt8(ascii: "{")) }
        array.append(UInt8(ascii: "}"))
        return ServerValue(bytes: array)
    }
}

struct ServerRow: OfficeRow {
    // Safety: valid only during the call of `read`, which must not keep the row.
    fileprivate let result: OpaquePointer
    fileprivate let row: Int32

    func isNull(_ column: Int32) -> Bool { PQgetisnull(result, row, column) == 1 }
    func text(_ column: Int32) -> String { PQgetvalue(result, row, column).map { String(cString: $0) } ?? "" }
    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
    /// Returns an integer, clamped like `Row.integer`, so that arithmetic with it does not overflow.
    func integer(_ column: Int32) -> Int { min(max(Int(text(column)) ?? 0, -(1 << 53)), 1 << 53) }
    func real(_ column: Int32) -> Double { Double(text(column)) ?? 0 }
    func position(_ column: Int32) -> SamplePosition { SamplePosition(Int64(text(column)) ?? 0) }
}

/// Calls `body` with C strings that are valid during the call.
private func withCStrings(_ texts: [[UInt8]?], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Void) {
    // Safety: all strings are in one buffer, which does not move during the call, and each ends with NUL.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(texts.reduce(0) { $0 + ($1?.count ?? 0) + 1 })
    let starts: [Int?] = texts.map { text in
        guard let text else { return nil }
        let start = bytes.count
        bytes += text
        bytes.append(0)
        return start
    }
    bytes.withUnsafeBytes { bytes in
        let base = bytes.assumingMemoryBound(to: CChar.self).baseAddress
        let pointers = starts.map { start in start.flatMap { start in base.map { $0 + start } } } + [nil]
        pointers.withUnsafeBufferPointer { pointers in
            if let base = pointers.baseAddress { body(base) }
        }
    }
}
