/// A whole transcript: all that an exporter needs.
package struct Timeline: Sendable, Codable {
    /// The file's name, or the recording's.
    package var name: String
    /// How much audio there is.
    package var length: SamplePosition
    /// Which engine wrote the text.
    package var engine: EngineDescription
    /// In the order of time.
    package var segments: [Segment]
    /// Where audio was lost, in the order of time.
    package var gaps: [Gap]
    /// The user's bookmarks, in the order of time.
    package var marks: [Bookmark]
    /// What the transcription cost; nil where that was not measured.
    package var statistics: Statistics?

    /// How far the text has come, where it has not come to the end: what lies behind was not read yet, and is no silence.
    var writtenUpTo: SamplePosition?

    /// Which pass of the recording this is, counted from 1; nil where there are none.
    package var pass: Int?

    /// What a person has added besides the words; nil where nobody has.
    package var annotations: Annotations?

    /// Who spoke when; nil where nobody has looked.
    package var speakers: Speakers?

    /// What was not read yet; nil where everything was.
    package var unwritten: SampleRange? {
        writtenUpTo.flatMap { $0 < length ? SampleRange(max(.zero, $0), length) : nil }
    }

    package init(
        name: String, length: SamplePosition, engine: EngineDescription, segments: [Segment] = [], gaps: [Gap] = [],
        marks: [Bookmark] = [], statistics: Statistics? = nil, writtenUpTo: SamplePosition? = nil,
        annotations: Annotations? = nil, speakers: Speakers? = nil
    ) {
        self.name = name
        self.length = length
        self.engine = engine
        self.segments = segments
        self.gaps = gaps
        self.marks = marks
        self.statistics = statistics
        self.writtenUpTo = writtenUpTo
        self.annotations = annotations
        self.speakers = speakers
    }
}

extension Timeline {
    /// Who says a segment: whoever has most of its words; nil where nobody has looked.
    package func speaker(of segment: Segment) -> Int? {
        guard let speakers, speakers.count > 0 else { return nil }
        var shares = [Double](repeating: 0, count: speakers.count)
        for word in segment.words {
            if let speaker = speakers.speaker(of: word.range) { shares[speaker] += Double(max(1, word.range.count)) }
        }
        if let most = shares.max(), most > 0 { return shares.firstIndex(of: most) }
        return speakers.speaker(of: segment.range)
    }

    /// What a person is called: the name that somebody has given, else the label.
    package func name(ofSpeaker speaker: Int) -> String {
        let label = Speakers.label(speaker)
        let name = annotations?.speakers?[label] ?? ""
        return name.isEmpty ? label : name
    }

    /// Whether there are several people to be told apart.
    package var tellsSpeakers: Bool { (speakers?.count ?? 0) > 1 }
}

/// Which engine wrote the text.
package struct EngineDescription: Hashable, Sendable, Codable {
    /// `moonshine`, `pocketsphinx`, or what another engine calls itself.
    package var name: String
    /// As the engine tells it; may be empty.
    package var version: String
    /// The model's name or folder; may be empty.
    package var model: String

    package init(name: String, version: String, model: String) {
        self.name = name
        self.version = version
        self.model = model
    }
}

/// What a transcription cost.
package struct Statistics: Hashable, Sendable, Codable {
    /// Audio that was read, in seconds, silence included.
    package var audioSeconds = 0.0
    /// Audio that was decoded, in seconds.
    package var speechSeconds = 0.0

    /// CPU time of the decode workers.
    package var cpuSeconds = 0.0
    /// How long it took, in seconds.
    package var wallSeconds = 0.0

    /// Recognizer sessions: one an utterance, one more for each that had to be decoded again, and one for each seam that
    /// was read across.
    package var sessions = 0

    /// Places where two overlapping sessions were stitched.
    package var seams = 0

    package init() {}
}
