/// A complete transcript with everything that an export needs. Arrays are in chronological order.
package struct Timeline: Sendable, Codable {
    package var name: String
    package var length: SamplePosition
    package var engine: EngineDescription
    package var segments: [Segment]
    package var gaps: [Gap]
    package var marks: [Bookmark]
    /// The cost of the transcription; nil if not measured.
    package var statistics: Statistics?
    /// The end of the transcribed range; nil if everything is transcribed.
    var transcribedUpTo: SamplePosition?
    /// The pass, counted from 1 within the recording; nil if there are no passes.
    package var pass: Int?
    /// The title in the imported audio file; nil for other recordings.
    package var fileTitle: String?
    package var annotations: Annotations?
    /// The speakers and their turns; nil if not diarized.
    package var speakers: Speakers?

    private enum CodingKeys: String, CodingKey {
        case name, length, engine, segments, gaps, marks, statistics, pass, fileTitle, annotations, speakers
        case transcribedUpTo = "writtenUpTo"
    }

    /// The range that is not transcribed yet; nil if everything is transcribed.
    package var untranscribed: SampleRange? {
        transcribedUpTo.flatMap { $0 < length ? SampleRange(max(.zero, $0), length) : nil }
    }

    /// The title that a person gave the recording; otherwise `fileTitle`.
    package var title: String? { annotations.flatMap { $0.title.isEmpty ? nil : $0.title } ?? fileTitle }

    /// Updates the length and the transcribed range of a recording in progress.
    package mutating func grow(to length: SamplePosition, transcribedUpTo position: SamplePosition) {
        self.length = max(self.length, length)
        transcribedUpTo = position
    }

    package init(
        name: String, length: SamplePosition, engine: EngineDescription, segments: [Segment] = [], gaps: [Gap] = [],
        marks: [Bookmark] = [], statistics: Statistics? = nil, transcribedUpTo: SamplePosition? = nil,
        annotations: Annotations? = nil, speakers: Speakers? = nil
    ) {
        self.name = name
        self.length = length
        self.engine = engine
        self.segments = segments
        self.gaps = gaps
        self.marks = marks
        self.statistics = statistics
        self.transcribedUpTo = transcribedUpTo
        self.annotations = annotations
        self.speakers = speakers
    }
}

extension Timeline {
    /// Returns the speaker with the largest share of a segment's words, by duration, or of its range if no word has a
    /// speaker; nil if the recording is not diarized or has no speakers.
    package func speaker(of segment: Segment) -> Int? {
        guard let speakers, speakers.count > 0 else { return nil }
        var shares = [Double](repeating: 0, count: speakers.count)
        for word in segment.words {
            if let speaker = speakers.speaker(of: word.range) { shares[speaker] += Double(max(1, word.range.count)) }
        }
        if let maximum = shares.max(), maximum > 0 { return shares.firstIndex(of: maximum) }
        return speakers.speaker(of: segment.range)
    }

    /// Returns a speaker's name or, if a person gave no name, the label.
    package func name(ofSpeaker speaker: Int) -> String {
        let label = Speakers.label(speaker)
        let name = annotations?.speakers?[label] ?? ""
        return name.isEmpty ? label : name
    }

    package var hasSeveralSpeakers: Bool { speakers?.hasSeveral ?? false }
}

/// The engine that produced a transcript.
package struct EngineDescription: Hashable, Sendable, Codable {
    /// `moonshine`, `pocketsphinx`, or the name of another engine.
    package var name: String
    /// The engine's version; may be empty.
    package var version: String
    /// The model's name or folder; may be empty.
    package var model: String

    package init(name: String, version: String, model: String) {
        self.name = name
        self.version = version
        self.model = model
    }
}

/// The cost of a transcription.
package struct Statistics: Hashable, Sendable, Codable {
    /// The transcribed audio in seconds, including silence.
    package var audioSeconds = 0.0
    /// The decoded audio in seconds.
    package var speechSeconds = 0.0
    /// The decode workers' CPU time.
    package var cpuSeconds = 0.0
    package var wallSeconds = 0.0
    /// The number of recognizer sessions: one per group of utterances, plus repetitions and sessions across seams.
    package var sessions = 0
    package var seams = 0

    package init() {}
}
