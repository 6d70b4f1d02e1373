/// Where a pass comes from that a person has written: who put what right.
package struct Correction: Hashable, Sendable, Codable {
    /// Who it was, as the person wrote it; may be empty.
    package var person: String
    /// When it was saved, by the clock of whoever wrote it, in seconds since 1970-01-01T00:00:00Z.
    package var savedAt: Double
    /// Which pass was put right, counted within its recording: 1, 2 ...
    var base: Int
    /// What was added besides the words.
    package var annotations: Annotations

    /// - Parameters:
    ///   - savedAt: in seconds since 1970-01-01T00:00:00Z; moved into the years that a date can have.
    ///   - base: counted within the recording, from 1.
    package init(person: String, savedAt: Double, base: Int, annotations: Annotations = Annotations()) {
        self.person = person
        self.savedAt = savedAt.asWallTime
        self.base = base
        self.annotations = annotations
    }

    /// The engine of a pass that a person has written.
    package var engine: EngineDescription {
        EngineDescription(name: EngineDescription.person, version: "", model: person)
    }
}

extension EngineDescription {
    /// The name of the engine where a person has written.
    package static let person = "person"
}

extension Array where Element == PassSummary {
    /// What an engine heard, of which a person's pass was made, perhaps over those of other people; nil where that is not there.
    ///
    /// The array holds all passes of the recording, in the order in which they were begun.
    package func heard(under pass: PassSummary) -> PassSummary? {
        var pass = pass
        while let correction = pass.correction {
            // A pass was made of an earlier one: whatever is told otherwise would go round in circles.
            guard indices.contains(correction.base - 1), self[correction.base - 1].id < pass.id else { return nil }
            pass = self[correction.base - 1]
        }
        return pass
    }
}
