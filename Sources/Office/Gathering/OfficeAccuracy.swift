import Core
import Transcripts

/// Measures engines' word errors in a recording by its corrections.
package enum OfficeAccuracy {
    /// Compares each engine's transcript with the corrected one; returns nothing if nobody changed or confirmed a word.
    ///
    /// - Throws: `DeviceError` if the archive cannot be read.
    package static func measured(
        _ recording: Int, in archive: any OfficeArchive
    ) throws(DeviceError) -> [(engine: EngineDescription, accuracy: Accuracy)] {
        let readings = try archive.readings(of: recording)
        guard let shown = readings.first, shown.person != nil, let corrected = try archive.timeline(ofReading: shown.id)
        else { return [] }
        var heard: [Timeline] = []
        for reading in readings.reversed() where reading.person == nil {
            if let timeline = try archive.timeline(ofReading: reading.id) { heard.append(timeline) }
        }
        // A text restored from corrections counts only until a copy with the engine's own text is added.
        let passes = heard.filter { $0.engine.model != EngineDescription.restored }.compactMap(\.pass)
        heard.removeAll { timeline in
            timeline.engine.model == EngineDescription.restored && timeline.pass.map(passes.contains) ?? false
        }
        let places = { (timeline: Timeline) in timeline.segments.map { [$0.range.start, $0.range.end] } }
        // A correction has the same segments as the transcript that it corrects.
        guard let base = heard.last(where: { places($0) == places(corrected) }) else { return [] }
        return heard.compactMap { timeline in
            let accuracy = Accuracy(of: timeline.segments, base: base.segments, corrected: corrected.segments)
            // Notes without corrected words are no evidence of accuracy.
            return accuracy.heard.words + accuracy.heard.errors > 0 ? (timeline.engine, accuracy) : nil
        }
    }
}
