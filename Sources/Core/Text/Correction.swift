/// The origin of a pass that a person wrote.
package struct Correction: Hashable, Sendable, Codable {
    /// A name as free text; may be empty.
    package var person: String
    /// When it was saved by the person's clock, in seconds since 1970.
    package var savedAt: Double
    /// The corrected pass, counted from 1 within its recording.
    var base: Int
    package var annotations: Annotations

    /// - Parameters:
    ///   - savedAt: Seconds since 1970, clamped as by `Double.asWallTime`.
    ///   - base: Counted from 1 within the recording.
    package init(person: String, savedAt: Double, base: Int, annotations: Annotations = Annotations()) {
        self.person = person
        self.savedAt = savedAt.asWallTime
        self.base = base
        self.annotations = annotations
    }

    package var engine: EngineDescription {
        EngineDescription(name: EngineDescription.person, version: "", model: person)
    }
}

extension EngineDescription {
    /// The engine name of a person's pass.
    package static let person = "person"
}

extension Array where Element == PassSummary {
    /// Returns the engine's pass under a person's corrections, or nil if it is missing.
    ///
    /// The array holds all passes of the recording, oldest first.
    package func heard(under pass: PassSummary) -> PassSummary? {
        var pass = pass
        while let correction = pass.correction {
            // A base is an earlier pass; anything else would be a cycle.
            guard indices.contains(correction.base - 1), self[correction.base - 1].id < pass.id else { return nil }
            pass = self[correction.base - 1]
        }
        return pass
    }
}
