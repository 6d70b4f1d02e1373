import Core
import Transcripts

/// What a file that was taken has changed, in words. Pure.
struct TakenCorrection {
    /// In so many places other words stand than on the page, or in the text, that it was made of.
    var changes: Int
    /// So many lines, or words of them, stand at other times.
    var moved = 0
    /// Of so many words the times are an estimate.
    var estimated: Int
    /// The text as it is now.
    var segments: [Segment]
    /// Whose it is.
    var person: EngineDescription
    /// What was added to it, as it is now.
    var annotations: Annotations
    /// What was shown before.
    var shown: Timeline?

    /// Never empty: `corrected in 2 places, 1 person named`.
    var text: String {
        var parts: [String] = []
        if changes > 0 {
            parts.append("corrected in \(Self.count(changes, "place", "places"))")
            if estimated > 0 { parts.append("the times of \(Self.count(estimated, "word", "words")) estimated") }
        } else if let shown, shown.engine == person {
            let back = WordChange.changes(from: shown.segments, to: segments).count
            if back > 0 { parts.append("taken back in \(Self.count(back, "place", "places"))") }
        }
        if moved > 0 { parts.append("\(Self.count(moved, "line", "lines")) at another time") }
        let (old, new) = (shown?.annotations?.speakers ?? [:], annotations.speakers ?? [:])
        let named = new.count { old[$0.key] != $0.value }
        let gone = old.keys.count { new[$0] == nil }
        if named > 0 { parts.append("\(Self.count(named, "person", "people")) named") }
        if gone > 0 { parts.append("\(Self.count(gone, "name", "names")) taken away") }
        if parts.isEmpty {
            let isSame = annotations == shown?.annotations ?? Annotations()
            parts.append(isSame ? "confirmed where it was right" : "what is told of it changed")
        }
        return parts.joined(separator: ", ")
    }

    private static func count(_ number: Int, _ one: String, _ several: String) -> String {
        number == 1 ? "1 \(one)" : "\(number) \(several)"
    }
}
