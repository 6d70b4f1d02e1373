import Core
import Transcripts

/// Describes the changes of an imported file.
struct CorrectionSummary {
    /// The number of places where the words differ from the base.
    var changes: Int
    /// The number of lines whose times, or whose words' times, changed.
    var moved = 0
    var isDivided = false
    /// The number of words with estimated times.
    var estimated: Int
    var segments: [Segment]
    /// The person who made the correction, as the engine of its pass.
    var person: EngineDescription
    var annotations: Annotations
    /// The transcript that was shown before the import; nil if there was none.
    var shown: Timeline?

    /// The summary, such as `corrected in 2 places, 1 person named`. Never empty.
    var text: String {
        var parts: [String] = []
        if changes > 0 {
            parts.append("corrected in \(counted(changes, "place", "places"))")
            if estimated > 0 { parts.append("the times of \(counted(estimated, "word", "words")) estimated") }
        } else if let shown, shown.engine == person {
            let reverted = WordChange.changes(from: shown.segments, to: segments).count
            if reverted > 0 { parts.append("reverted in \(counted(reverted, "place", "places"))") }
        }
        if moved > 0 { parts.append("\(counted(moved, "line", "lines")) moved to another time") }
        if isDivided { parts.append("lines split or joined") }
        if annotations.turns != shown?.annotations?.turns { parts.append("speakers changed") }
        let (old, new) = (shown?.annotations?.speakers ?? [:], annotations.speakers ?? [:])
        let named = new.count { old[$0.key] != $0.value }
        let removed = old.keys.count { new[$0] == nil }
        if named > 0 { parts.append("\(counted(named, "person", "people")) named") }
        if removed > 0 { parts.append("\(counted(removed, "name", "names")) removed") }
        if parts.isEmpty {
            let isSame = annotations == shown?.annotations ?? Annotations()
            parts.append(isSame ? "unchanged lines confirmed" : "description changed")
        }
        return parts.joined(separator: ", ")
    }
}
