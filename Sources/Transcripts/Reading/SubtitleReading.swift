import Core

/// Parses SubRip or WebVTT. Returns an entry for each cue, with its lines joined.
func cues(in text: String, isWeb: Bool) throws(EditedTranscript.Problem) -> [EditedTranscript.Entry] {
    var cues: [EditedTranscript.Entry] = []
    var cue: (range: SampleRange?, lines: [String])?
    var (isComment, isFirst, hasText) = (false, true, false)
    for line in TextLines(text) {
        if isFirst, isWeb, !line.utf8.starts(with: "WEBVTT".utf8) {
            throw EditedTranscript.Problem(line: 1, reason: "does not start with WEBVTT")
        }
        isFirst = false
        if line.isBlank {
            if let cue { try cues.add(cue.lines.joined(separator: " "), cue.range) }
            (cue, isComment) = (nil, false)
            continue
        }
        hasText = true
        if cue == nil {
            if isWeb, line.utf8.starts(with: "NOTE".utf8) { isComment = true }
            if !isComment, line.utf8.firstOccurrence(of: "-->") != nil { cue = (cueTimes(line), []) }
        } else if let range = cueTimes(line) {
            // The next cue starts without a blank line. The previous line may be its number.
            if let last = cue?.lines.last, last.utf8.allSatisfy(\.isASCIIDigit) {
                cue?.lines.removeLast()
            }
            if let cue { try cues.add(cue.lines.joined(separator: " "), cue.range) }
            cue = (range, [])
        } else {
            cue?.lines.append(shownText(line, isWeb: isWeb))
        }
    }
    if let cue { try cues.add(cue.lines.joined(separator: " "), cue.range) }
    if cues.isEmpty, !isWeb, hasText {
        throw EditedTranscript.Problem(line: nil, reason: "has no line with a subtitle's times")
    }
    return cues
}

/// Parses `00:00:01,500 --> 00:00:02,750`, ignoring anything after it. Returns nil for other lines.
private func cueTimes(_ line: Substring) -> SampleRange? {
    guard line.utf8.count < 1_000, let arrow = line.utf8.firstOccurrence(of: "-->") else { return nil }
    let words = { (text: Substring) in text.utf8.split { $0 == 0x20 || $0 == 0x09 }.map(Substring.init) }
    let (before, after) = (words(line[..<arrow.lowerBound]), words(line[arrow.upperBound...]))
    guard before.count == 1, let start = before.first.flatMap(seconds), let end = after.first.flatMap(seconds) else {
        return nil
    }
    return SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end))
}

/// Parses `01:02:03,456` or `02:03.456` as seconds.
private func seconds(_ timecode: Substring) -> Double? {
    let parts = timecode.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count) else { return nil }
    var seconds = 0.0
    for (index, part) in parts.enumerated() {
        let isLast = index == parts.count - 1
        let digits = part.map { isLast && $0 == UInt8(ascii: ",") ? UInt8(ascii: ".") : $0 }
        guard digits.allSatisfy({ $0.isASCIIDigit || isLast && $0 == UInt8(ascii: ".") }),
            let number = Double(String(decoding: digits, as: UTF8.self))
        else { return nil }
        seconds = seconds * 60 + number
    }
    return seconds
}

/// Returns a cue's line as players show it: without markup and without the invisible characters that `subRip` inserts.
private func shownText(_ line: Substring, isWeb: Bool) -> String {
    let special: [UInt8] = [UInt8(ascii: "<"), UInt8(ascii: "{"), UInt8(ascii: "&"), joinerBytes[0]]
    guard line.utf8.contains(where: special.contains) else { return String(line) }
    let bytes = Array(line.utf8)
    var visible: [UInt8] = []
    var index = 0
    while index < bytes.count {
        let rest = bytes[index...]
        switch bytes[index] {
        case UInt8(ascii: "<"):
            if let end = endOfTag(rest) {
                index = end
                continue
            }
        case UInt8(ascii: "{") where !isWeb && rest.starts(with: "{\\".utf8):
            let inside = rest.dropFirst().prefix { $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "}") }
            if inside.endIndex < bytes.count, bytes[inside.endIndex] == UInt8(ascii: "}") {
                index = inside.endIndex + 1
                continue
            }
        case UInt8(ascii: "&") where isWeb:
            if let (text, length) = entity(rest) {
                visible += text.utf8
                index += length
                continue
            }
        case joinerBytes[0] where !isWeb && rest.starts(with: joinerBytes):
            let isArrow =
                visible.suffix(2) == Array("--".utf8)[...]
                && rest.dropFirst(joinerBytes.count).first == UInt8(ascii: ">")
            if isArrow || visible.last.map(isFollowedByJoiner) ?? false {
                index += joinerBytes.count
                continue
            }
        default: break
        }
        visible.append(bytes[index])
        index += 1
    }
    return String(decoding: visible, as: UTF8.self)
}

private let joinerBytes = Array(wordJoiner.utf8)

private func isFollowedByJoiner(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "<") || byte == UInt8(ascii: "{") || byte == UInt8(ascii: "\\")
}

/// Returns the end index of a tag that players interpret; nil for anything else, such as the word `<laughs>`.
private func endOfTag(_ rest: ArraySlice<UInt8>) -> Int? {
    let inside = rest.dropFirst().prefix { $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">") }
    guard inside.endIndex < rest.endIndex, rest[inside.endIndex] == UInt8(ascii: ">") else { return nil }
    let name = inside.drop { $0 == UInt8(ascii: "/") }.prefix { $0 > 0x20 && $0 != UInt8(ascii: ".") }
    let knownTags = ["b", "i", "u", "s", "c", "v", "ruby", "rt", "lang", "font", "span"]
    let isTime = !name.isEmpty && name.allSatisfy { (0x30...0x3A).contains($0) }
    guard isTime || knownTags.contains(String(decoding: name.prefix(8), as: UTF8.self).lowercased()) else { return nil }
    return inside.endIndex + 1
}

/// Returns the text and the length in bytes of the WebVTT entity at the start; nil if there is none.
private func entity(_ rest: ArraySlice<UInt8>) -> (String, Int)? {
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"), ("&nbsp;", " "), ("&lrm;", ""), ("&rlm;", "")]
    return entities.first { rest.starts(with: $0.0.utf8) }.map { ($0.1, $0.0.utf8.count) }
}
