import Core

/// A field of a request and its allowed values. The list `all` has every limit on the values that clients send.
struct RequestField: Sendable {
    /// The path in the request, such as `limit` or `strike.from`.
    let name: String
    /// The allowed values, for errors: `a whole number from 1 to 100000`.
    let allowed: String
    /// Returns whether the request omits the field or has an allowed value.
    let accepts: @Sendable (RequestObject) -> Bool

    /// - Parameter accepts: by default, any value of the type is allowed.
    private init(
        _ name: String, _ allowed: String, _ accepts: @escaping @Sendable (RequestObject) -> Bool = { _ in true }
    ) {
        (self.name, self.allowed, self.accepts) = (name, allowed, accepts)
    }

    private static func number(
        _ name: String, _ range: ClosedRange<Int>, _ value: @escaping @Sendable (RequestObject) -> Int?
    ) -> RequestField {
        RequestField(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") {
            value($0).map(range.contains) ?? true
        }
    }

    /// - Parameter maximumCount: how many numbers are allowed.
    private static func numbers(
        _ name: String, _ range: ClosedRange<Int>, maximumCount: Int,
        _ value: @escaping @Sendable (RequestObject) -> [Int]?
    ) -> RequestField {
        RequestField(name, "at most \(maximumCount) whole numbers from \(range.lowerBound) to \(range.upperBound)") {
            guard let numbers = value($0) else { return true }
            return numbers.count <= maximumCount && numbers.allSatisfy(range.contains)
        }
    }

    private static func seconds(
        _ name: String, upTo maximum: Double, _ value: @escaping @Sendable (RequestObject) -> Double?
    ) -> RequestField {
        // Rejects NaN, which no range contains, and infinity, since `maximum` is finite.
        RequestField(name, "a number of seconds from 0 to \(Int64(nearest: maximum))") {
            value($0).map((0...maximum).contains) ?? true
        }
    }

    private static func text(
        _ name: String, upTo maximumBytes: Int, _ value: @escaping @Sendable (RequestObject) -> String?
    ) -> RequestField {
        RequestField(name, "text of at most \(maximumBytes) bytes") { (value($0)?.utf8.count ?? 0) <= maximumBytes }
    }

    /// Row numbers, see `Row.integer`. 0 means that the recording was omitted.
    private static let rowNumbers = 0...(1 << 53)
    /// The maximum length of a recording, in seconds; see `SamplePosition.maximumSamples`.
    private static let maximumSeconds = SamplePosition(SamplePosition.maximumSamples).seconds
    /// The maximum bytes of a path: PATH_MAX.
    private static let pathBytes = 4_096
    /// The maximum bytes of a name or a digest.
    private static let nameBytes = 1_024
    private static let flag = "true or false"

    static let all: [RequestField] = [
        RequestField("command", "the name of a command"),
        .text("text", upTo: ControlLine.maximumBytes) { $0.text },
        .number("recording", rowNumbers) { $0.recording },
        .number("pass", rowNumbers) { $0.pass },
        .numbers("recordings", rowNumbers, maximumCount: 10_000) { $0.recordings },
        RequestField("quick", flag),
        .text("volume", upTo: pathBytes) { $0.volume },
        RequestField("export", "started, finished, failed or refused"),
        .text("key", upTo: ControlLine.maximumBytes) { $0.key },
        .text("name", upTo: pathBytes) { $0.name },
        RequestField("connected", flag),
        .text("words", upTo: ControlLine.maximumBytes) { $0.words },
        .number("limit", 1...100_000) { $0.limit },
        .text("directory", upTo: pathBytes) { $0.directory },
        RequestField("partials", flag),

        RequestField("strike", "an object with last, or with from and to"),
        .number("strike.recording", rowNumbers) { $0.strike?.recording },
        .seconds("strike.last", upTo: maximumSeconds) { $0.strike?.last },
        .seconds("strike.from", upTo: maximumSeconds) { $0.strike?.from },
        .seconds("strike.to", upTo: maximumSeconds) { $0.strike?.to },

        RequestField("entry", "an object that describes a copy"),
        .number("entry.recording", rowNumbers) { $0.entry?.recording },
        .number("entry.pass", rowNumbers) { $0.entry?.pass },
        .text("entry.volume", upTo: pathBytes) { $0.entry?.volume },
        .text("entry.folder", upTo: pathBytes) { $0.entry?.folder },
        .text("entry.manifest", upTo: nameBytes) { $0.entry?.manifest },
        .seconds("entry.exportedAt", upTo: Double.infinity.asWallTime) { $0.entry?.exportedAt },
        .number("entry.struck", 0...(1 << 53)) { $0.entry?.struck },

        RequestField("part", "an object with a part of a file"),
        .text("part.token", upTo: nameBytes) { $0.part?.token },
        .text("part.name", upTo: nameBytes) { $0.part?.name },
        .text("part.text", upTo: ImportPart.maximumTextBytes) { $0.part?.text },
        RequestField("part.isLast", flag),
        .text("part.person", upTo: nameBytes) { $0.part?.person },
        .text("part.neighbour", upTo: ControlLine.maximumBytes) { $0.part?.neighbour },
    ]

    /// Returns the error for a value that is not allowed.
    ///
    /// - Parameter problem: the predicate, such as `is out of range`.
    func refusal(_ problem: String) -> DeviceError {
        DeviceError(.unsupported, "control", on: name, problem, remedy: "give \(allowed)")
    }

    /// Returns the error for a field that could not be decoded; nil if the line is not a request at all.
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
        // The elements of an array have index keys.
        path.removeAll { $0.intValue != nil }
        let name = path.map(\.stringValue).joined(separator: ".")
        guard name != "command" else { return nil }
        return all.first { $0.name == name }?.refusal(problem)
    }
}

extension RequestObject {
    /// Checks all values against `RequestField.all`.
    ///
    /// - Throws: `DeviceError` with `unsupported` and the field's name for a value that is not allowed.
    func check() throws(DeviceError) {
        if let field = RequestField.all.first(where: { !$0.accepts(self) }) { throw field.refusal("is out of range") }
    }
}
