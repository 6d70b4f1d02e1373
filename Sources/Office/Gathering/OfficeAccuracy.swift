import Core
import Transcripts

/// Measures engines' word errors in a recording by comparing their transcripts with the corrected one.
package enum OfficeAccuracy {
    /// Compares each engine's transcript with the corrected one. Returns nothing if nobody changed or confirmed a word.
    ///
    /// - Throws: `DeviceError` if the archive cannot be read.
    package static func measured(
        _ recording: Int, in archive: any OfficeArchive
    ) throws(DeviceError) -> [(engine: EngineDescription, accuracy: Accuracy)] {
        let readings = try archive.readings(of: recording)
        guard let shown = readings.first, shown.person != nil, let corrected = try archive.timeline(ofReading: shown.id)
        else { return [] }
        var transcripts: [Timeline] = []
        for reading in readings.reversed() where reading.person == nil {
            if let timeline = try archive.timeline(ofReading: reading.id) { transcripts.append(timeline) }
        }
        // A transcript restored from corrections counts only until a copy with the engine's own transcript is added.
        let passes = transcripts.filter { $0.engine.model != EngineDescription.restored }.compactMap(\.pass)
        transcripts.removeAll { timeline in
            timeline.engine.model == EngineDescription.restored && timeline.pass.map(passes.contains) ?? false
        }
        let ranges = { (timeline: Timeline) in timeline.segments.map { [$0.range.start, $0.range.end] } }
        // A correction has the same segments as the transcript that it corrects.
        guard let base = transcripts.last(where: { ranges($0) == ranges(corrected) }) else { return [] }
        return transcripts.compactMap { timeline in
            let accuracy = Accuracy(of: timeline.segments, base: base.segments, corrected: corrected.segments)
            // If only notes were added, the words were not checked.
            return accuracy.checked.words + accuracy.checked.errors > 0 ? (timeline.engine, accuracy) : nil
        }
    }
}
