/// A whole transcript: everything that an export needs. Arrays are in chronological order.
package struct Timeline: Sendable, Codable {
    /// The file's name, or the recording's.
    package var name: String
    package var length: SamplePosition
    package var engine: EngineDescription
    package var segments: [Segment]
    package var gaps: [Gap]
    package var marks: [Bookmark]
    /// The cost of the transcription; nil if not measured.
    package var statistics: Statistics?
    /// The end of the transcribed part; nil if complete. The rest is not silence, but not transcribed yet.
    var writtenUpTo: SamplePosition?
    /// The pass, counted from 1; nil without passes.
    package var pass: Int?
    /// The title of a recording that was made from a file; nil for others.
    package var fileTitle: String?
    /// A person's additions besides the words; nil if none.
    package var annotations: Annotations?
    /// Who spoke when; nil if not diarized.
    package var speakers: Speakers?

    /// The part that is not transcribed yet; nil if complete.
    package var unwritten: SampleRange? {
        writtenUpTo.flatMap { $0 < length ? SampleRange(max(.zero, $0), length) : nil }
    }

    /// The title that a person gave, else that of the file; nil without one.
    package var title: String? { annotations.flatMap { $0.title.isEmpty ? nil : $0.title } ?? fileTitle }

    /// Sets how far a recording that has not ended is recorded and transcribed.
    package mutating func grow(to length: SamplePosition, writtenUpTo position: SamplePosition) {
        self.length = max(self.length, length)
        writtenUpTo = position
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
    /// The speaker of most of a segment's words; nil if not diarized.
    package func speaker(of segment: Segment) -> Int? {
        guard let speakers, speakers.count > 0 else { return nil }
        var shares = [Double](repeating: 0, count: speakers.count)
        for word in segment.words {
            if let speaker = speakers.speaker(of: word.range) { shares[speaker] += Double(max(1, word.range.count)) }
        }
        if let most = shares.max(), most > 0 { return shares.firstIndex(of: most) }
        return speakers.speaker(of: segment.range)
    }

    /// A person's name, else the label.
    package func name(ofSpeaker speaker: Int) -> String {
        let label = Speakers.label(speaker)
        let name = annotations?.speakers?[label] ?? ""
        return name.isEmpty ? label : name
    }

    package var hasSeveralSpeakers: Bool { speakers?.hasSeveral ?? false }
}

/// Which engine wrote the text.
package struct EngineDescription: Hashable, Sendable, Codable {
    /// `moonshine`, `pocketsphinx`, or another engine's own name.
    package var name: String
    /// May be empty.
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
    /// Transcribed audio in seconds, silence included.
    package var audioSeconds = 0.0
    /// Decoded audio in seconds.
    package var speechSeconds = 0.0
    /// CPU time of the decode workers.
    package var cpuSeconds = 0.0
    package var wallSeconds = 0.0
    /// Recognizer sessions: one per utterance, plus repeated ones and readings across seams.
    package var sessions = 0
    /// The number of seams between overlapping sessions.
    package var seams = 0

    package init() {}
}
