import Core

/// Splits the text in a file into words, without what formats insert between them: gaps, bookmarks, speakers and time
/// stamps.
struct SpokenWords {
    /// Bracketed insertions by their first two words, longest first.
    private var insertions: [ArraySlice<UInt8>: [[UInt8]]] = [:]
    /// Longest first: one name may start with another.
    private let speakerPrefixes: [[UInt8]]
    private let hasTimeStamps: Bool
    private let hasOverlaps: Bool

    /// - Parameter format: The name of the file's format.
    init(_ timeline: Timeline, format: String) {
        hasTimeStamps = format == "qda" || format == "text"
        for text in Transcripts.insertions(in: timeline) {
            let line = oneLine(text)
            let bytes = Array((hasTimeStamps ? escapingTimeStamps(line) : line).utf8)
            insertions[Self.head(bytes[...]), default: []].append(bytes)
        }
        for head in insertions.keys { insertions[head]?.sort { $0.count > $1.count } }
        let hasNames = timeline.hasSeveralSpeakers && ["text", "qda", "srt"].contains(format)
        hasOverlaps = timeline.hasSeveralSpeakers && !(timeline.speakers?.alongside.isEmpty ?? true)
        let names = (0..<(hasNames ? timeline.speakers?.count ?? 0 : 0)).flatMap {
            [oneLine(timeline.name(ofSpeaker: $0)), Speakers.label($0)]
        }
        // Each name in three forms: unchanged, as SubRip writes it, and without what looks like time stamps and pauses.
        let variants = names.flatMap { [$0, withoutArrow($0), withoutTimeStamps("\($0) #00:00:00-0#")] }
        speakerPrefixes = Set(variants).map { Array("\($0): ".utf8) }.sorted { $0.count > $1.count }
    }

    /// Returns the words in an entry of a file, without overlap marks.
    func tokens(of entry: String) -> [String] {
        var line = withoutInsertions(oneLine(entry))
        if hasTimeStamps { line = withoutTimeStamps(line) }
        let words = words(in: speakerPrefixes.isEmpty ? line : withoutSpeaker(line))
        let isPlain = !hasOverlaps && line.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: ">") }
        return isPlain ? words : words.map(bare).filter { !$0.isEmpty }
    }

    /// Returns the words into which `tokens(of:)` splits a recognized word in an export.
    func tokens(ofWord word: String) -> [String] {
        if !hasOverlaps, !word.isEmpty, word.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x3E }) {
            return [word]
        }
        return words(in: word).map(bare).filter { !$0.isEmpty }
    }

    /// Returns a word without the characters that formats add or replace.
    private func bare(_ word: String) -> String {
        let word = hasOverlaps ? withoutOverlapSign(word) : word
        guard word.utf8.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: ">") }) else { return word }
        var scalars = String.UnicodeScalarView()
        for scalar in word.unicodeScalars where scalar != wordJoiner {
            scalars.append(scalar == "\u{FFFE}" || scalar == "\u{FFFF}" ? "\u{FFFD}" : scalar)
        }
        return withoutArrow(String(scalars))
    }

    private func withoutSpeaker(_ line: String) -> String {
        let bytes = line.utf8
        guard let prefix = speakerPrefixes.first(where: { bytes.starts(with: $0) }) else { return line }
        return String(Substring(bytes.dropFirst(prefix.count)))
    }

    private func withoutInsertions(_ line: String) -> String {
        let open = UInt8(ascii: "[")
        guard line.utf8.contains(open) else { return line }
        let bytes = Array(line.utf8)
        var keptBytes: [UInt8] = []
        var isFirst = true
        var index = 0
        while index < bytes.count {
            if bytes[index] == open, let end = endOfInsertion(bytes[index...], isFirst: isFirst) {
                keptBytes.append(0x20)
                index = end
            } else {
                isFirst = isFirst && bytes[index] == 0x20
                keptBytes.append(bytes[index])
                index += 1
            }
        }
        return oneLine(String(decoding: keptBytes, as: UTF8.self))
    }

    /// Returns the end of the insertion at the start of `rest`; nil if there is none.
    ///
    /// Also recognizes insertions by their form, because the file may have insertions from an older transcript.
    ///
    /// - Parameter isFirst: Whether `rest` starts the entry, as a bookmark does.
    private func endOfInsertion(_ rest: ArraySlice<UInt8>, isFirst: Bool) -> Int? {
        if let insertion = insertions[Self.head(rest)]?.first(where: { rest.starts(with: $0) }) {
            return rest.startIndex + insertion.count
        }
        let isNumber = { (byte: UInt8) in byte.isASCIIDigit || byte == 0x2E || byte == 0x3A }
        if rest.starts(with: "[gap ".utf8) {
            let unit = rest.dropFirst(5).drop(while: isNumber)
            let cause = unit.starts(with: " ms: ".utf8) ? unit.dropFirst(5) : unit.dropFirst(4)
            guard unit.starts(with: " ms: ".utf8) || unit.starts(with: " s: ".utf8) else { return nil }
            return Self.end(cause.drop { (0x61...0x7A).contains($0) })
        }
        if rest.starts(with: "[transcribed up to ".utf8) {
            let total = rest.dropFirst(19).drop(while: isNumber)
            return total.starts(with: " of ".utf8) ? Self.end(total.dropFirst(4).drop(while: isNumber)) : nil
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

    /// Returns the bytes before the second space, at most 40.
    private static func head(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let prefix = bytes.prefix(40)
        let first = prefix.firstIndex(of: 0x20) ?? prefix.endIndex
        let second = prefix[first...].dropFirst().firstIndex(of: 0x20) ?? prefix.endIndex
        return prefix[..<second]
    }
}
