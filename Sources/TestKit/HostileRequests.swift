/// Requests to a control socket with one invalid field.
package enum HostileRequests {
    /// Valid and invalid JSON values: too small, too large, or of the wrong type.
    package static let values = [
        "-1", "0", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809",
        "1e300", "-1e300", "NaN", "1.5", "true", "null", #""x""#, #""\u0000\u202e""#, "[]", "{}", "[-1]",
        "[9223372036854775807]",
    ]

    /// Values that make a request almost as long as permitted, or longer.
    private static let longValues = [
        String(repeating: "[", count: 60_000), #""\#(String(repeating: "x", count: 60_000))""#,
        "[\(String(repeating: "1,", count: 30_000))1]", #""\#(String(repeating: "x", count: 70_000))""#,
    ]

    /// The required members of nested objects, so that only the tested field is invalid.
    private static let objects = [
        "strike": [:],
        "entry": ["recording": "999999", "volume": #""v""#, "folder": #""f""#, "manifest": #""m""#, "exportedAt": "1"],
        "part": ["token": #""t""#, "name": #""n.txt""#, "text": #""""#, "isLast": "false", "person": #""""#],
    ]

    /// Returns a request with a value in a field.
    ///
    /// - Parameter field: the path of the field, such as `limit` or `strike.from`.
    package static func line(_ command: String, _ field: String, _ value: String) -> String {
        let path = field.split(separator: ".").map(String.init)
        guard path.count == 2, var object = objects[path[0]] else {
            return #"{"command":"\#(command)","\#(field)":\#(value)}"#
        }
        object[path[1]] = value
        let pairs = object.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",")
        return #"{"command":"\#(command)","\#(path[0])":{\#(pairs)}}"#
    }

    /// Returns every command with every value in every field, and long values in every field of `search`.
    package static func lines(commands: [String], fields: [String]) -> [String] {
        fields.flatMap { field in
            commands.flatMap { command in values.map { line(command, field, $0) } }
                + longValues.map { line("search", field, $0) }
        }
    }

    /// Sends lines one after another, and returns the beginnings of the lines that were not answered.
    ///
    /// - Parameter path: the path of the socket.
    package static func unanswered(_ lines: [String], at path: String) -> [String] {
        var client: SocketClient?
        return lines.filter { line in
            let current = client ?? SocketClient(path)
            let answer = current?.ask(line)
            // After `watch` or a rejected line, the connection accepts no further request.
            client = line.contains(#""watch""#) || line.utf8.count > 65_536 ? nil : current
            if answer == nil { client = nil }
            return answer == nil
        }.map { String($0.prefix(100)) }
    }
}
