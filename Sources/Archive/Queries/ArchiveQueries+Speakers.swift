import Core

/// A speaker, and the FTS5 phrases that they must say.
typealias SpokenPhrases = (person: NamedSpeaker, phrases: [String])

/// Finds the person whom `speaker:` names in each recording, by label or by the name in that recording.
final class NamedSpeaker {
    private typealias Candidates = (speakers: Speakers, matches: Set<Int>)

    private let name: String
    private let queries: ArchiveQueries
    private var cache: [Int: Candidates] = [:]

    /// - Parameter name: The label or name, in lower case.
    init(_ name: String, _ queries: ArchiveQueries) {
        self.name = name
        self.queries = queries
    }

    /// Returns a predicate that is true if that person says the word in a range; nil if nobody in the recording has the
    /// label or name.
    func says(in recording: Int) throws -> ((SampleRange) -> Bool)? {
        let (speakers, matches) = try candidates(in: recording)
        guard matches.contains(where: { $0 < speakers.count }) else { return nil }
        return { range in speakers.speaker(of: range).map(matches.contains) ?? false }
    }

    private func candidates(in recording: Int) throws -> Candidates {
        if let cached = cache[recording] { return cached }
        var found: Candidates = (speakers: Speakers(turns: []), matches: [])
        let annotations = try queries.shownPass(of: recording)?.correction?.annotations
        if let speaker = Speakers.speaker(labelled: name) {
            found.matches = [speaker]
        } else {
            let names = annotations?.speakers ?? [:]
            found.matches = Set(names.filter { Self.matches(name, $1) }.keys.compactMap(Speakers.speaker(labelled:)))
        }
        if !found.matches.isEmpty {
            found.speakers = try annotations?.turns ?? queries.speakers(of: recording) ?? found.speakers
        }
        cache[recording] = found
        return found
    }

    /// Whether `name` is the full name or one of its words.
    private static func matches(_ name: String, _ fullName: String) -> Bool {
        let words = fullName.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
        return words.contains(name) || words.joined(separator: " ") == name
    }
}

extension ArchiveQueries {
    /// Finds the newest segments in which a person says anything.
    func segments(spokenBy person: NamedSpeaker, limit: Int) throws -> [SearchHit] {
        var hits: [SearchHit] = []
        let recordings = try connection.rows(
            """
            SELECT recording FROM turn UNION SELECT recording FROM pass WHERE correction LIKE '%"turns"%'
            ORDER BY recording DESC
            """, []
        ) { $0.integer(0) }
        for recording in recordings {
            guard let says = try person.says(in: recording), let pass = try shownPass(of: recording) else { continue }
            for segment in try segments(ofPass: pass.id).reversed() {
                guard segment.words.contains(where: { says($0.range) }) else { continue }
                hits.append(
                    SearchHit(
                        recording: recording, segment: segment.id, range: segment.range, text: segment.text,
                        excerpt: segment.text))
                if hits.count == limit { return hits }
            }
        }
        return hits
    }

    /// Whether a person says each of the phrases in a segment. True if `spoken` is nil.
    ///
    /// - Parameter segment: The segment's row ID.
    func says(_ spoken: SpokenPhrases?, in segment: Int, of recording: Int) throws -> Bool {
        guard let spoken else { return true }
        guard let says = try spoken.person.says(in: recording) else { return false }
        let words = try connection.rows(
            "SELECT text, start_sample, end_sample FROM word WHERE segment = ? ORDER BY number", [.integer(segment)]
        ) { (text: $0.text(0), isSaid: says($0.range(1, 2))) }
        for phrase in spoken.phrases {
            // highlight() marks what FTS5 matched, which may be longer than the phrase or have other diacritics.
            let markedText = try connection.rows(
                """
                SELECT highlight(segment_text, 0, char(2), char(3)) FROM segment_text
                WHERE segment_text MATCH ? AND rowid = ?
                """, [.text(phrase), .integer(segment)]
            ) { $0.text(0) }.first
            guard let markedText,
                zip(Self.areMarked(words.map(\.text), in: markedText), words).contains(where: { $0 && $1.isSaid })
            else { return false }
        }
        return true
    }

    /// Returns, for each word, whether it is marked, wholly or in part, in the joined text of all words.
    private static func areMarked(_ words: [String], in markedText: String) -> [Bool] {
        var rest = Array(markedText.utf8)[...]
        var isOpen = false
        return words.map { word in
            var remaining = word.utf8.count
            var isMarked = false
            while let byte = rest.first, remaining > 0 || byte == 3 {
                rest.removeFirst()
                switch byte {
                case 2: isOpen = true
                case 3: isOpen = false
                default:
                    remaining -= 1
                    if isOpen { isMarked = true }
                }
            }
            // Skips the space between words.
            if rest.first == 0x20 { rest.removeFirst() }
            return isMarked
        }
    }
}
