import Core

/// A field of a request and its allowed values. `all` is the only place that limits what a client sends.
struct RequestField: Sendable {
    /// The path in the request: `limit`, `strike.from`.
    let name: String
    /// The allowed values, as in errors: `a whole number from 1 to 100000`.
    let allowed: String
    /// Whether the request omits the field or has an allowed value.
    let accepts: @Sendable (RequestObject) -> Bool

    /// - Parameter accepts: by default, only the type is a limit.
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

    /// - Parameter most: how many numbers are allowed.
    private static func numbers(
        _ name: String, _ range: ClosedRange<Int>, most: Int, _ value: @escaping @Sendable (RequestObject) -> [Int]?
    ) -> RequestField {
        RequestField(name, "at most \(most) whole numbers from \(range.lowerBound) to \(range.upperBound)") {
            guard let numbers = value($0) else { return true }
            return numbers.count <= most && numbers.allSatisfy(range.contains)
        }
    }

    private static func seconds(
        _ name: String, upTo most: Double, _ value: @escaping @Sendable (RequestObject) -> Double?
    ) -> RequestField {
        // A range contains neither infinity nor NaN.
        RequestField(name, "a number of seconds from 0 to \(Int64(nearest: most))") {
            value($0).map((0...most).contains) ?? true
        }
    }

    private static func text(
        _ name: String, upTo most: Int, _ value: @escaping @Sendable (RequestObject) -> String?
    ) -> RequestField {
        RequestField(name, "a text of at most \(most) bytes") { (value($0)?.utf8.count ?? 0) <= most }
    }

    /// Row numbers, see `Row.integer`; 0 stands for an omitted recording.
    private static let rowNumbers = 0...(1 << 53)
    /// The longest possible recording; see `SamplePosition.furthest`.
    private static let longest = SamplePosition(SamplePosition.furthest).seconds
    /// Bytes of a path: PATH_MAX.
    private static let pathBytes = 4_096
    /// Bytes of names and digests.
    private static let nameBytes = 1_024
    private static let flag = "true or false"

    static let all: [RequestField] = [
        RequestField("command", "the name of a command"),
        .text("text", upTo: ControlLine.longest) { $0.text },
        .number("recording", rowNumbers) { $0.recording },
        .number("pass", rowNumbers) { $0.pass },
        .numbers("recordings", rowNumbers, most: 10_000) { $0.recordings },
        RequestField("quick", flag),
        .text("volume", upTo: pathBytes) { $0.volume },
        RequestField("export", "started, finished, failed or refused"),
        .text("key", upTo: ControlLine.longest) { $0.key },
        .text("name", upTo: pathBytes) { $0.name },
        RequestField("connected", flag),
        .text("words", upTo: ControlLine.longest) { $0.words },
        .number("limit", 1...100_000) { $0.limit },
        .text("directory", upTo: pathBytes) { $0.directory },
        RequestField("partials", flag),

        RequestField("strike", "an object with last, or with from and to"),
        .number("strike.recording", rowNumbers) { $0.strike?.recording },
        .seconds("strike.last", upTo: longest) { $0.strike?.last },
        .seconds("strike.from", upTo: longest) { $0.strike?.from },
        .seconds("strike.to", upTo: longest) { $0.strike?.to },

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
        .text("part.text", upTo: ImportPart.longest) { $0.part?.text },
        RequestField("part.isLast", flag),
        .text("part.person", upTo: nameBytes) { $0.part?.person },
        .text("part.neighbour", upTo: ControlLine.longest) { $0.part?.neighbour },
    ]

    /// The error for a value that is not allowed.
    ///
    /// - Parameter problem: `is out of range`.
    func refusal(_ problem: String) -> DeviceError {
        DeviceError(.unsupported, "control", on: name, problem, remedy: "give \(allowed)")
    }

    /// The error for the field that could not be decoded; nil if the line is not a request at all.
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
    /// - Throws: `DeviceError` with `unsupported` and the field's name, for a value that `RequestField.all` does not allow.
    func check() throws(DeviceError) {
        if let field = RequestField.all.first(where: { !$0.accepts(self) }) { throw field.refusal("is out of range") }
    }
}
