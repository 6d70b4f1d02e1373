import Core

/// What was read of a file against what its container holds: what is missing, where, and what was made of it.
package struct SoundAccount: Equatable, Sendable {
    /// Where no sound could be read; silence stands for it.
    package var gaps: [SampleRange] = []

    /// Seconds that are missing behind the end, as far as the container tells.
    var missingAtEnd = 0.0

    /// What a person should know of a file of which nothing is missing, a line each.
    package var notes: [String] = []

    /// What else is missing or wrong.
    var complaints: [String] = []

    package init() {}

    /// One line on what is missing; nil if the sound is whole.
    package var damage: String? {
        let lines = (gaps.isEmpty ? [] : [Self.line(gaps)]) + complaints
        return lines.isEmpty ? nil : lines.joined(separator: "; ")
    }

    /// Adds what was read of the next part of a file, which begins at a position.
    mutating func add(_ part: SoundAccount, at start: SamplePosition) {
        gaps += part.gaps.map { SampleRange(start + $0.start.samples, start + $0.end.samples) }
        notes += part.notes.filter { !notes.contains($0) }
        complaints += part.complaints
        missingAtEnd += part.missingAtEnd
    }

    private static func line(_ gaps: [SampleRange]) -> String {
        let shown = gaps.prefix(3).map { gap in
            let (start, end) = (number(gap.start.seconds), number(gap.end.seconds))
            return start == end ? "at \(start) s" : "from \(start) to \(end) s"
        }
        var line = "no sound can be read \(shown.joined(separator: ", "))"
        if gaps.count > shown.count { line += " and in \(gaps.count - shown.count) more places" }
        if gaps.count > 1 { line += ", \(seconds(gaps.reduce(0) { $0 + $1.seconds })) in all" }
        return line
    }

    /// Sets down what the header says against what the file holds.
    mutating func add(promised: Double, held: Double) {
        complaints.append("the header says \(Self.seconds(promised)), the file holds \(Self.seconds(held))")
        missingAtEnd += max(0, promised - held)
    }

    /// Seconds with two digits behind the point and the unit.
    static func seconds(_ value: Double) -> String { "\(number(value)) s" }

    private static func number(_ value: Double) -> String {
        let hundredths = Int64((min(max(0, value), 1e12) * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
    }
}
