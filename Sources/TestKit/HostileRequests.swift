/// Lines for a control socket in which one field holds what no client of ours sends there.
package enum HostileRequests {
    /// JSON, and what is not: each is too small, too large, of another type, or no value.
    package static let values = [
        "-1", "0", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809",
        "1e300", "-1e300", "NaN", "1.5", "true", "null", #""x""#, #""\u0000\u202e""#, "[]", "{}", "[-1]",
        "[9223372036854775807]",
    ]

    /// Values that make a request nearly as long as it may be, and longer.
    package static let longValues = [
        String(repeating: "[", count: 60_000), #""\#(String(repeating: "x", count: 60_000))""#,
        "[\(String(repeating: "1,", count: 30_000))1]", #""\#(String(repeating: "x", count: 70_000))""#,
    ]

    /// What else the objects within a request need, so that the field that is tried is the only fault.
    private static let objects = [
        "strike": [:],
        "entry": ["recording": "999999", "volume": #""v""#, "folder": #""f""#, "manifest": #""m""#, "exportedAt": "1"],
        "part": ["token": #""t""#, "name": #""n.txt""#, "text": #""""#, "isLast": "false", "person": #""""#],
    ]

    /// A request with a value in a field.
    ///
    /// - Parameter field: its place: `limit`, `strike.from`.
    package static func line(_ command: String, _ field: String, _ value: String) -> String {
        let parts = field.split(separator: ".").map(String.init)
        guard parts.count == 2, var object = objects[parts[0]] else {
            return #"{"command":"\#(command)","\#(field)":\#(value)}"#
        }
        object[parts[1]] = value
        let pairs = object.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",")
        return #"{"command":"\#(command)","\#(parts[0])":{\#(pairs)}}"#
    }

    /// Every command with every value in every field, and long values in every field of `search`.
    package static func lines(commands: [String], fields: [String]) -> [String] {
        fields.flatMap { field in
            commands.flatMap { command in values.map { line(command, field, $0) } }
                + longValues.map { line("search", field, $0) }
        }
    }

    /// Sends lines one after another; returns the beginnings of those that had no answer.
    ///
    /// - Parameter path: the socket.
    package static func unanswered(_ lines: [String], at path: String) -> [String] {
        var client: SocketClient?
        return lines.filter { line in
            let asking = client ?? SocketClient(path)
            let answer = asking?.ask(line)
            // Who watches asks nothing more, and a refused line may be the last one.
            client = line.contains(#""watch""#) || line.utf8.count > 65_536 ? nil : asking
            if answer == nil { client = nil }
            return answer == nil
        }.map { String($0.prefix(100)) }
    }
}
