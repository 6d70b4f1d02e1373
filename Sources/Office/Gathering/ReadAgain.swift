import Core
import System
import Transcripts

/// Makes readings from transcripts that `fieldscribe-office work` produced.
enum ReadAgain {
    /// Parses the output of `fieldscribe transcribe --format json`.
    ///
    /// - Throws: `DeviceError` with `damaged` if it is not a transcript.
    static func timeline(_ transcript: [UInt8], name: String) throws(DeviceError) -> Timeline {
        try TranscriptReading(transcript, name: name).timeline
    }

    /// Returns a reading with the annotations and redactions of `base`, even if the sound is from before a redaction.
    ///
    /// - Parameters:
    ///   - base: the recording's default timeline; nil without one.
    ///   - now: in seconds since 1970-01-01T00:00:00Z.
    static func reading(
        _ timeline: Timeline, by engine: ReadingEngine, over base: Timeline?, now: Double
    ) -> GatheredReading {
        var timeline = timeline
        timeline.pass = nil
        if let base {
            let redacted = base.gaps.redacted
            timeline.name = base.name
            timeline.gaps = base.gaps
            timeline.segments = timeline.segments.map { $0.redacted(redacted) }
            timeline.marks = base.marks
            timeline.annotations = base.annotations
            // People named the speakers of `base`.
            timeline.speakers = base.speakers ?? timeline.speakers
        }
        // Repeated runs add only one reading per engine and number of redactions.
        let digest = Digest.of("read again by \(engine.label), struck \(timeline.gaps.redacted.count)")
        return GatheredReading(digest: digest, timeline: timeline, person: nil, madeAt: now)
    }
}
