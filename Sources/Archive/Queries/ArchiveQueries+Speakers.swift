import Core

/// A speaker, and the FTS5 phrases that they must say.
typealias SpokenPhrases = (person: NamedSpeaker, phrases: [String])

/// The person that `speaker:` names, in each recording: by letter or by a name given there.
final class NamedSpeaker {
    private let name: String
    private let queries: ArchiveQueries
    private var known: [Int: (speakers: Speakers, wanted: Set<Int>)] = [:]

    /// - Parameter name: in lower case.
    init(_ name: String, _ queries: ArchiveQueries) {
        self.name = name
        self.queries = queries
    }

    /// Returns a test of whether that person says a word of a recording; nil if nobody there has the name.
    func says(in recording: Int) throws -> ((SampleRange) -> Bool)? {
        let (speakers, wanted) = try candidates(in: recording)
        guard wanted.contains(where: { $0 < speakers.count }) else { return nil }
        return { range in speakers.speaker(of: range).map(wanted.contains) ?? false }
    }

    private func candidates(in recording: Int) throws -> (speakers: Speakers, wanted: Set<Int>) {
        if let found = known[recording] { return found }
        var found = (speakers: Speakers(turns: []), wanted: Set<Int>())
        let added = try queries.shownPass(of: recording)?.correction?.annotations
        if let speaker = Speakers.speaker(labelled: name) {
            found.wanted = [speaker]
        } else {
            let names = added?.speakers ?? [:]
            found.wanted = Set(names.filter { Self.means(name, $1) }.keys.compactMap(Speakers.speaker(labelled:)))
        }
        if !found.wanted.isEmpty {
            found.speakers = try added?.turns ?? queries.speakers(of: recording) ?? found.speakers
        }
        known[recording] = found
        return found
    }

    /// Whether a name is the whole name or one word of it.
    private static func means(_ name: String, _ given: String) -> Bool {
        let words = given.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
        return words.contains(name) || words.joined(separator: " ") == name
    }
}

extension ArchiveQueries {
    /// Finds the newest segments in which a person says anything.
    func said(by person: NamedSpeaker, limit: Int) throws -> [SearchHit] {
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

    /// Whether a person says each of the phrases in a segment.
    ///
    /// - Parameter place: the segment's row.
    func says(_ spoken: SpokenPhrases?, in place: Int, of recording: Int) throws -> Bool {
        guard let spoken else { return true }
        guard let says = try spoken.person.says(in: recording) else { return false }
        let words = try connection.rows(
            "SELECT text, start_sample, end_sample FROM word WHERE segment = ? ORDER BY number", [.integer(place)]
        ) { (text: $0.text(0), isSaid: says($0.range(1, 2))) }
        for phrase in spoken.phrases {
            // highlight() marks what the index matched, including other forms of the word.
            let marked = try connection.rows(
                """
                SELECT highlight(segment_text, 0, char(2), char(3)) FROM segment_text
                WHERE segment_text MATCH ? AND rowid = ?
                """, [.text(phrase), .integer(place)]
            ) { $0.text(0) }.first
            guard let marked, zip(Self.isMarked(words.map(\.text), marked), words).contains(where: { $0 && $1.isSaid })
            else { return false }
        }
        return true
    }

    /// The words that are marked, wholly or in part, in their joined text.
    private static func isMarked(_ words: [String], _ marked: String) -> [Bool] {
        var rest = Array(marked.utf8)[...]
        var isOpen = false
        return words.map { word in
            var left = word.utf8.count
            var isFound = false
            while let byte = rest.first, left > 0 || byte == 3 {
                rest.removeFirst()
                switch byte {
                case 2: isOpen = true
                case 3: isOpen = false
                default:
                    left -= 1
                    if isOpen { isFound = true }
                }
            }
            // The space between words.
            if rest.first == 0x20 { rest.removeFirst() }
            return isFound
        }
    }
}
