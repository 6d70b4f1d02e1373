import Core
import Transcripts

/// How well engines have read a recording, by what a person has put right in it.
package enum OfficeAccuracy {
    /// Each text of an engine against what a person left; none where nobody has changed or confirmed a word of it.
    ///
    /// - Throws: `DeviceError` where the archive cannot be read.
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
        let places = { (timeline: Timeline) in timeline.segments.map { [$0.range.start, $0.range.end] } }
        // A correction has the segments of the text that it was made of.
        guard let base = heard.last(where: { places($0) == places(corrected) }) else { return [] }
        return heard.compactMap { timeline in
            let accuracy = Accuracy(of: timeline.segments, base: base.segments, corrected: corrected.segments)
            // Notes alone say nothing of its words.
            return accuracy.heard.words + accuracy.heard.errors > 0 ? (timeline.engine, accuracy) : nil
        }
    }
}
