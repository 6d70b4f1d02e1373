import Core
import System
import Transcripts

/// What a recording's sound was read as once more, beside the texts that there are of it.
package enum ReadAgain {
    /// The transcript of a recording's sound, as `fieldscribe transcribe --format json` writes it.
    ///
    /// - Throws: `DeviceError` with `damaged` where it is none.
    package static func timeline(_ transcript: [UInt8], name: String) throws(DeviceError) -> Timeline {
        try TranscriptReading(transcript, name: name).timeline
    }

    /// The same as a text of the recording: with what people have added, and without what was struck, be the sound an earlier one.
    ///
    /// - Parameters:
    ///   - base: the text that the recording is shown with; nil where there is none.
    ///   - now: in seconds since 1970-01-01T00:00:00Z.
    package static func reading(
        _ timeline: Timeline, by engine: ReadingEngine, over base: Timeline?, now: Double
    ) -> GatheredReading {
        var timeline = timeline
        timeline.pass = nil
        if let base {
            let struck = base.gaps.struck
            timeline.name = base.name
            timeline.gaps = base.gaps
            timeline.segments = timeline.segments.map { $0.struck(struck) }
            timeline.marks = base.marks
            timeline.annotations = base.annotations
            // Names are given to the voices as they were told apart first.
            timeline.speakers = base.speakers ?? timeline.speakers
        }
        // One text of an engine for each state of the recording, however often it is read.
        let digest = Digest.of("read again by \(engine.label), struck \(timeline.gaps.struck.count)")
        return GatheredReading(digest: digest, timeline: timeline, person: nil, madeAt: now)
    }
}
