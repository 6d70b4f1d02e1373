/// Requests to a control socket with one invalid field.
package enum HostileRequests {
    /// JSON and invalid JSON: values too small, too large, of another type, or none.
    package static let values = [
        "-1", "0", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809",
        "1e300", "-1e300", "NaN", "1.5", "true", "null", #""x""#, #""\u0000\u202e""#, "[]", "{}", "[-1]",
        "[9223372036854775807]",
    ]

    /// Values that make a request about as long as permitted, and longer.
    private static let longValues = [
        String(repeating: "[", count: 60_000), #""\#(String(repeating: "x", count: 60_000))""#,
        "[\(String(repeating: "1,", count: 30_000))1]", #""\#(String(repeating: "x", count: 70_000))""#,
    ]

    /// The required members of nested objects, so that the tested field is the only fault.
    private static let objects = [
        "strike": [:],
        "entry": ["recording": "999999", "volume": #""v""#, "folder": #""f""#, "manifest": #""m""#, "exportedAt": "1"],
        "part": ["token": #""t""#, "name": #""n.txt""#, "text": #""""#, "isLast": "false", "person": #""""#],
    ]

    /// Returns a request with a value in a field.
    ///
    /// - Parameter field: Its path: `limit`, `strike.from`.
    package static func line(_ command: String, _ field: String, _ value: String) -> String {
        let parts = field.split(separator: ".").map(String.init)
        guard parts.count == 2, var object = objects[parts[0]] else {
            return #"{"command":"\#(command)","\#(field)":\#(value)}"#
        }
        object[parts[1]] = value
        let pairs = object.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",")
        return #"{"command":"\#(command)","\#(parts[0])":{\#(pairs)}}"#
    }

    /// Returns every command with every value in every field, and long values in every field of `search`.
    package static func lines(commands: [String], fields: [String]) -> [String] {
        fields.flatMap { field in
            commands.flatMap { command in values.map { line(command, field, $0) } }
                + longValues.map { line("search", field, $0) }
        }
    }

    /// Sends lines one after another; returns the beginnings of those without an answer.
    ///
    /// - Parameter path: The socket.
    package static func unanswered(_ lines: [String], at path: String) -> [String] {
        var client: SocketClient?
        return lines.filter { line in
            let asking = client ?? SocketClient(path)
            let answer = asking?.ask(line)
            // After `watch` or a refused line the connection accepts no further request.
            client = line.contains(#""watch""#) || line.utf8.count > 65_536 ? nil : asking
            if answer == nil { client = nil }
            return answer == nil
        }.map { String($0.prefix(100)) }
    }
}
