import Core

/// Removes what formats insert between words: gaps, marks, speakers, time stamps.
struct SpokenWords {
    /// Bracketed insertions by their first two words, longest first.
    private var insertions: [ArraySlice<UInt8>: [[UInt8]]] = [:]
    /// The speaker prefixes, longest first: one name may start with another.
    private let people: [[UInt8]]
    private let hasTimeStamps: Bool
    private let hasOverlaps: Bool

    /// - Parameter format: The name of the file's format.
    init(_ timeline: Timeline, format: String) {
        hasTimeStamps = format == "qda" || format == "text"
        for text in Transcripts.insertions(in: timeline) {
            let line = oneLine(text)
            let bytes = Array((hasTimeStamps ? escapingSigns(line) : line).utf8)
            insertions[Self.head(bytes[...]), default: []].append(bytes)
        }
        for head in insertions.keys { insertions[head]?.sort { $0.count > $1.count } }
        let tellsPeople = timeline.hasSeveralSpeakers && ["text", "qda", "srt"].contains(format)
        hasOverlaps = timeline.hasSeveralSpeakers && !(timeline.speakers?.alongside.isEmpty ?? true)
        let names = (0..<(tellsPeople ? timeline.speakers?.count ?? 0 : 0)).flatMap {
            [oneLine(timeline.name(ofSpeaker: $0)), Speakers.label($0)]
        }
        // As SubRip writes them, and after time stamps and pauses were removed.
        let written = names.flatMap { [$0, withoutArrow($0), withoutTimeStamps("\($0) #00:00:00-0#")] }
        people = Set(written).map { Array("\($0): ".utf8) }.sorted { $0.count > $1.count }
    }

    /// Returns the words of a piece, without overlap marks.
    func tokens(of piece: String) -> [String] {
        var line = withoutInsertions(oneLine(piece))
        if hasTimeStamps { line = withoutTimeStamps(line) }
        let words = words(in: people.isEmpty ? line : withoutPerson(line))
        let isPlain = !hasOverlaps && line.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: ">") }
        return isPlain ? words : words.map(bare).filter { !$0.isEmpty }
    }

    /// Returns the words of a recognized word, in the same form.
    func tokens(ofWord word: String) -> [String] {
        if !hasOverlaps, !word.isEmpty, word.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x3E }) {
            return [word]
        }
        return words(in: word).map(bare).filter { !$0.isEmpty }
    }

    /// Returns a word without a format's additions.
    private func bare(_ word: String) -> String {
        let word = hasOverlaps ? withoutOverlapSign(word) : word
        guard word.utf8.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: ">") }) else { return word }
        var scalars = String.UnicodeScalarView()
        for scalar in word.unicodeScalars where scalar != wordJoiner {
            scalars.append(scalar == "\u{FFFE}" || scalar == "\u{FFFF}" ? "\u{FFFD}" : scalar)
        }
        return withoutArrow(String(scalars))
    }

    private func withoutPerson(_ line: String) -> String {
        let bytes = line.utf8
        guard let person = people.first(where: { bytes.starts(with: $0) }) else { return line }
        return String(Substring(bytes.dropFirst(person.count)))
    }

    private func withoutInsertions(_ line: String) -> String {
        let open = UInt8(ascii: "[")
        guard line.utf8.contains(open) else { return line }
        let bytes = Array(line.utf8)
        var left: [UInt8] = []
        var isFirst = true
        var index = 0
        while index < bytes.count {
            if bytes[index] == open, let end = endOfInsertion(bytes[index...], isFirst: isFirst) {
                left.append(0x20)
                index = end
            } else {
                isFirst = isFirst && bytes[index] == 0x20
                left.append(bytes[index])
                index += 1
            }
        }
        return oneLine(String(decoding: left, as: UTF8.self))
    }

    /// Returns the end of an insertion here; nil if there is none. If the recording has changed, its insertions were
    /// different.
    ///
    /// - Parameter isFirst: Whether it starts the piece, as a bookmark does.
    private func endOfInsertion(_ rest: ArraySlice<UInt8>, isFirst: Bool) -> Int? {
        if let known = insertions[Self.head(rest)]?.first(where: { rest.starts(with: $0) }) {
            return rest.startIndex + known.count
        }
        let isNumber = { (byte: UInt8) in byte.isASCIIDigit || byte == 0x2E || byte == 0x3A }
        if rest.starts(with: "[gap ".utf8) {
            let unit = rest.dropFirst(5).drop(while: isNumber)
            let cause = unit.starts(with: " ms: ".utf8) ? unit.dropFirst(5) : unit.dropFirst(4)
            guard unit.starts(with: " ms: ".utf8) || unit.starts(with: " s: ".utf8) else { return nil }
            return Self.end(cause.drop { (0x61...0x7A).contains($0) })
        }
        if rest.starts(with: "[transcribed up to ".utf8) {
            let of = rest.dropFirst(19).drop(while: isNumber)
            return of.starts(with: " of ".utf8) ? Self.end(of.dropFirst(4).drop(while: isNumber)) : nil
        }
        if rest.starts(with: "[not transcribed yet: ".utf8) {
            return Self.end(rest.dropFirst(22).drop(while: isNumber))
        }
        guard isFirst, rest.starts(with: "[bookmark ".utf8) else { return nil }
        let text = rest.dropFirst(10).drop(while: isNumber)
        return text.first == 0x20 ? text.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } : nil
    }

    private static func end(_ rest: ArraySlice<UInt8>) -> Int? {
        rest.first == UInt8(ascii: "]") ? rest.startIndex + 1 : nil
    }

    /// Returns the bytes up to the second space.
    private static func head(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let near = bytes.prefix(40)
        let blank = near.firstIndex(of: 0x20) ?? near.endIndex
        let second = near[blank...].dropFirst().firstIndex(of: 0x20) ?? near.endIndex
        return near[..<second]
    }
}
