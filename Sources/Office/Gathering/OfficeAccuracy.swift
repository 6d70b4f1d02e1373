import Core
import Transcripts

/// Measures the word errors of engines in a recording.
package enum OfficeAccuracy {
    /// Compares each engine's transcript with the shown, corrected one. The result is empty if nobody changed or confirmed
    /// a word, or if the transcript that was corrected is missing.
    package static func accuracies(
        of recording: Int, in archive: any OfficeArchive
    ) throws(DeviceError) -> [(engine: EngineDescription, accuracy: Accuracy)] {
        let transcripts = try archive.transcripts(of: recording)
        guard let shown = transcripts.first, shown.person != nil,
            let corrected = try archive.timeline(ofTranscript: shown.id)
        else { return [] }
        var timelines: [Timeline] = []
        for transcript in transcripts.reversed() where transcript.person == nil {
            if let timeline = try archive.timeline(ofTranscript: transcript.id) { timelines.append(timeline) }
        }
        // The engine's own transcript replaces one that was restored from corrections.
        let passes = timelines.filter { $0.engine.model != EngineDescription.restored }.compactMap(\.pass)
        timelines.removeAll { timeline in
            timeline.engine.model == EngineDescription.restored && timeline.pass.map(passes.contains) ?? false
        }
        let ranges = { (timeline: Timeline) in timeline.segments.map { [$0.range.start, $0.range.end] } }
        // A corrected transcript has the ranges of the original, unless a person split or joined lines.
        guard let base = timelines.last(where: { ranges($0) == ranges(corrected) }) else { return [] }
        return timelines.compactMap { timeline in
            let accuracy = Accuracy(of: timeline.segments, base: base.segments, corrected: corrected.segments)
            // If only notes were added, the words were not checked.
            return accuracy.checked.words + accuracy.checked.errors > 0 ? (timeline.engine, accuracy) : nil
        }
    }
}
