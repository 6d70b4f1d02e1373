/// The details of a pass that a person made by correcting an earlier pass.
package struct Correction: Hashable, Sendable, Codable {
    /// The person's name as free text; may be empty.
    package var person: String
    /// When the correction was saved, according to the person's clock, in seconds since 1970.
    package var savedAt: Double
    var base: Int
    package var annotations: Annotations

    /// - Parameters:
    ///   - savedAt: Seconds since 1970, clamped with `Double.asWallTime`.
    ///   - base: The corrected pass, counted from 1 within the recording.
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
    /// The engine name for a person's pass.
    package static let person = "person"
}

extension Array where Element == PassSummary {
    /// Returns the engine's pass that a pass corrects, directly or through other corrections; nil if it is missing.
    ///
    /// The array must contain all passes of the recording, oldest first.
    package func enginePass(under pass: PassSummary) -> PassSummary? {
        var pass = pass
        while let correction = pass.correction {
            // A base must be an earlier pass; otherwise there could be a cycle.
            guard indices.contains(correction.base - 1), self[correction.base - 1].id < pass.id else { return nil }
            pass = self[correction.base - 1]
        }
        return pass
    }
}
