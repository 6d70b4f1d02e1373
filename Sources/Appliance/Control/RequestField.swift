import Core

/// A field of a request and its allowed values. `all` contains every limit on the values that clients send.
struct RequestField: Sendable {
    /// The path in the request, such as `limit` or `strike.from`.
    let name: String
    /// The allowed values, for errors, such as `a whole number from 1 to 100000`.
    let allowed: String
    /// Returns whether the request omits the field or its value is allowed.
    let accepts: @Sendable (RequestObject) -> Bool

    private init(
        _ name: String, _ allowed: String, _ accepts: @escaping @Sendable (RequestObject) -> Bool = { _ in true }
    ) {
        (self.name, self.allowed, self.accepts) = (name, allowed, accepts)
    }

    private static func integer(
        _ name: String, _ range: ClosedRange<Int>, _ value: @escaping @Sendable (RequestObject) -> Int?
    ) -> RequestField {
        RequestField(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") {
            value($0).map(range.contains) ?? true
        }
    }

    private static func integers(
        _ name: String, _ range: ClosedRange<Int>, maximumCount: Int,
        _ value: @escaping @Sendable (RequestObject) -> [Int]?
    ) -> RequestField {
        RequestField(name, "at most \(maximumCount) whole numbers from \(range.lowerBound) to \(range.upperBound)") {
            guard let integers = value($0) else { return true }
            return integers.count <= maximumCount && integers.allSatisfy(range.contains)
        }
    }

    private static func seconds(
        _ name: String, upTo maximum: Double, _ value: @escaping @Sendable (RequestObject) -> Double?
    ) -> RequestField {
        // This rejects NaN, which no range contains, and infinity, since `maximum` is finite.
        RequestField(name, "a number of seconds from 0 to \(Int64(nearest: maximum))") {
            value($0).map((0...maximum).contains) ?? true
        }
    }

    private static func text(
        _ name: String, upTo maximumBytes: Int, _ value: @escaping @Sendable (RequestObject) -> String?
    ) -> RequestField {
        RequestField(name, "text of at most \(maximumBytes) bytes") { (value($0)?.utf8.count ?? 0) <= maximumBytes }
    }

    /// The IDs that the archive can read back; see `Row.integer`. Clients may send 0 instead of omitting the field.
    private static let rowIDs = 0...(1 << 53)
    /// The maximum length of a recording, in seconds; see `SamplePosition.maximumSamples`.
    private static let maximumSeconds = SamplePosition(SamplePosition.maximumSamples).seconds
    /// PATH_MAX.
    private static let maximumPathBytes = 4_096
    /// For a name or a digest.
    private static let maximumNameBytes = 1_024
    private static let flag = "true or false"

    static let all: [RequestField] = [
        RequestField("command", "the name of a command"),
        .text("text", upTo: ControlLine.maximumBytes) { $0.text },
        .integer("recording", rowIDs) { $0.recording },
        .integer("pass", rowIDs) { $0.pass },
        .integers("recordings", rowIDs, maximumCount: 10_000) { $0.recordings },
        RequestField("quick", flag),
        .text("volume", upTo: maximumPathBytes) { $0.volume },
        RequestField("export", "started, finished, failed or refused"),
        .text("key", upTo: ControlLine.maximumBytes) { $0.key },
        .text("name", upTo: maximumPathBytes) { $0.name },
        RequestField("connected", flag),
        .text("words", upTo: ControlLine.maximumBytes) { $0.words },
        .integer("limit", 1...100_000) { $0.limit },
        .text("directory", upTo: maximumPathBytes) { $0.directory },
        RequestField("partials", flag),

        RequestField("strike", "an object with \"last\", or with \"from\" and \"to\""),
        .integer("strike.recording", rowIDs) { $0.strike?.recording },
        .seconds("strike.last", upTo: maximumSeconds) { $0.strike?.last },
        .seconds("strike.from", upTo: maximumSeconds) { $0.strike?.from },
        .seconds("strike.to", upTo: maximumSeconds) { $0.strike?.to },

        RequestField("entry", "an object that describes a copy"),
        .integer("entry.recording", rowIDs) { $0.entry?.recording },
        .integer("entry.pass", rowIDs) { $0.entry?.pass },
        .text("entry.volume", upTo: maximumPathBytes) { $0.entry?.volume },
        .text("entry.folder", upTo: maximumPathBytes) { $0.entry?.folder },
        .text("entry.manifest", upTo: maximumNameBytes) { $0.entry?.manifest },
        .seconds("entry.exportedAt", upTo: Double.infinity.asWallTime) { $0.entry?.exportedAt },
        .integer("entry.struck", 0...(1 << 53)) { $0.entry?.redactionCount },

        RequestField("part", "an object with a part of a file"),
        .text("part.token", upTo: maximumNameBytes) { $0.part?.token },
        .text("part.name", upTo: maximumNameBytes) { $0.part?.name },
        .text("part.text", upTo: ImportPart.maximumTextBytes) { $0.part?.text },
        RequestField("part.isLast", flag),
        .text("part.person", upTo: maximumNameBytes) { $0.part?.person },
        .text("part.neighbour", upTo: ControlLine.maximumBytes) { $0.part?.siblingIdentity },
    ]

    /// Returns the error for a value that is not allowed.
    ///
    /// - Parameter problem: the predicate, such as `is out of range`.
    func refusal(_ problem: String) -> DeviceError {
        DeviceError(.unsupported, "control", on: name, problem, remedy: "give \(allowed)")
    }

    /// Returns the error for a field that could not be decoded. Nil if the command is missing or unknown, or
    /// if no field is at fault, for example because the line is not JSON.
    static func refusal(of error: DecodingError) -> DeviceError? {
        var path: [any CodingKey]
        var problem = "has the wrong type or is out of range"
        switch error {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            path = context.codingPath
        case .keyNotFound(let key, let context):
            path = context.codingPath + [key]
            problem = "is missing"
        @unknown default: return nil
        }
        // An element of an array has its index as a key.
        path.removeAll { $0.intValue != nil }
        let name = path.map(\.stringValue).joined(separator: ".")
        guard name != "command" else { return nil }
        return all.first { $0.name == name }?.refusal(problem)
    }
}

extension RequestObject {
    /// Checks all values against `RequestField.all`.
    ///
    /// - Throws: `DeviceError` with `unsupported` if a value is not allowed; the error names the field.
    func check() throws(DeviceError) {
        if let field = RequestField.all.first(where: { !$0.accepts(self) }) { throw field.refusal("is out of range") }
    }
}
