import Core

/// Compares what was read from a file with its container: which audio is missing, and where.
package struct SoundReport: Equatable, Sendable {
    /// The ranges that could not be read and were replaced with silence.
    package var gaps: [SampleRange] = []

    /// The seconds missing at the end, according to the container.
    var missingAtEnd = 0.0

    /// Remarks that do not concern missing audio, one line each.
    package var notes: [String] = []
    var problems: [String] = []

    package init() {}

    /// A description of the missing audio, in one line; nil if the audio is complete.
    package var damage: String? {
        let lines = (gaps.isEmpty ? [] : [Self.line(gaps)]) + problems
        return lines.isEmpty ? nil : lines.joined(separator: "; ")
    }

    /// Adds the report for a part that begins at a position.
    mutating func add(_ part: SoundReport, at start: SamplePosition) {
        gaps += part.gaps.map { SampleRange(start + $0.start.samples, start + $0.end.samples) }
        notes += part.notes.filter { !notes.contains($0) }
        problems += part.problems
        missingAtEnd += part.missingAtEnd
    }

    private static func line(_ gaps: [SampleRange]) -> String {
        let ranges = gaps.prefix(3).map { gap in
            let (start, end) = (number(gap.start.seconds), number(gap.end.seconds))
            return start == end ? "at \(start) s" : "from \(start) to \(end) s"
        }
        var line = "no sound can be read \(ranges.joined(separator: ", "))"
        if gaps.count > ranges.count { line += " and in \(gaps.count - ranges.count) more places" }
        if gaps.count > 1 { line += ", \(seconds(gaps.reduce(0) { $0 + $1.seconds })) in total" }
        return line
    }

    /// Reports that the file contains more or less audio than its header promises.
    mutating func add(promisedSeconds: Double, heldSeconds: Double) {
        problems.append("the header says \(Self.seconds(promisedSeconds)), the file holds \(Self.seconds(heldSeconds))")
        missingAtEnd += max(0, promisedSeconds - heldSeconds)
    }

    /// Formats seconds with two decimals and a unit.
    static func seconds(_ value: Double) -> String { "\(number(value)) s" }

    private static func number(_ value: Double) -> String {
        let hundredths = Int64((min(max(0, value), 1e12) * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
    }
}
