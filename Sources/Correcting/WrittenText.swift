import Core
import Exporting

/// What a file says was said: one or more readings of the whole recording, each in pieces.
package struct WrittenText: Hashable, Codable, Sendable {
    /// Lines, cues, or annotations; of a format that has segments and words, the segments first.
    package var readings: [[String]]

    package init(readings: [[String]]) { self.readings = readings }

    /// The text of each segment as the file has it, for those whose text has changed; nil where this cannot be a text of that
    /// recording.
    ///
    /// - Parameter timeline: the text that the file was made of, perhaps.
    package func texts(over timeline: Timeline) -> [Int: [String]]? {
        // Who speaks stands in front of a turn, and was not said.
        let people = timeline.tellsSpeakers ? Self.people(timeline) : []
        let insertions = insertions(in: timeline).sorted { $0.utf8.count > $1.utf8.count }
        var texts: [Int: [String]] = [:]
        for reading in readings.reversed() {
            guard
                let found = Self.texts(of: reading, by: people, over: timeline.segments, without: insertions)
            else { return nil }
            texts.merge(found) { _, new in new }
        }
        return texts
    }

    /// What can stand in front of a turn, the longest first: one name may begin with another's.
    private static func people(_ timeline: Timeline) -> [String] {
        let names = (0..<(timeline.speakers?.count ?? 0)).flatMap {
            [oneLine(timeline.name(ofSpeaker: $0)), Speakers.label($0)]
        }
        // As SubRip has them, and as they are left where time stamps and pauses are taken away.
        let written = names.flatMap { [$0, withoutArrow($0), withoutTimeStamps("\($0) #00:00:00-0#")] }
        return Set(written).map { $0 + ": " }.sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
    }

    /// A piece, in which nothing is left of what formats insert, without who speaks.
    private static func spoken(_ piece: String, _ people: [String]) -> String {
        let piece = piece.drop { $0 == " " }
        let person = people.first { piece.hasPrefix($0) }
        return String(piece.dropFirst(person?.count ?? 0))
    }

    /// Words of a text, as all formats write them.
    private static func tokens(_ text: String) -> [String] {
        withoutArrow(oneLine(text)).split(separator: " ").map { withoutOverlapSign(String($0)) }.filter { !$0.isEmpty }
    }

    private static func texts(
        of pieces: [String], by people: [String], over segments: [Segment], without insertions: [String]
    ) -> [Int: [String]]? {
        let old = segments.flatMap { segment in tokens(segment.text).map { (segment: segment.id, text: $0) } }
        var new: [(piece: Int, text: String)] = []
        for (index, piece) in pieces.enumerated() {
            var line = oneLine(piece)
            for insertion in insertions where line.contains("[") {
                line = line.replacing(oneLine(insertion), with: " ")
            }
            new += tokens(spoken(line, people)).map { (index, $0) }
        }
        let counterparts = TextAlignment.counterparts(of: new.map { key($0.text) }, in: old.map { key($0.text) })
        let same = new.indices.count { index in
            counterparts[index].map { key(old[$0].text) == key(new[index].text) } ?? false
        }
        // Half of the longer one is what a text of this recording shares with it, be it ever so wrong.
        guard same * 2 >= max(old.count, new.count) else { return nil }
        var owners = counterparts.map { $0.map { old[$0].segment } }
        // What stands in nobody's place belongs to the word before it in its piece, else to the one behind it.
        for index in new.indices.dropFirst() where owners[index] == nil && new[index].piece == new[index - 1].piece {
            owners[index] = owners[index - 1]
        }
        for index in new.indices.reversed() where owners[index] == nil {
            owners[index] = index + 1 < new.count ? owners[index + 1] : old.last?.segment
        }
        for index in new.indices where owners[index] == nil { owners[index] = index > 0 ? owners[index - 1] : nil }
        var said: [Int: [String]] = [:]
        for (token, owner) in zip(new, owners) { if let owner { said[owner, default: []].append(token.text) } }
        return Dictionary(
            uniqueKeysWithValues: segments.compactMap { segment in
                let now = said[segment.id] ?? []
                return now == tokens(segment.text) ? nil : (segment.id, now)
            })
    }

    private static func key(_ text: String) -> String {
        let key = Word.key(of: text)
        return key.isEmpty ? text : key
    }
}
