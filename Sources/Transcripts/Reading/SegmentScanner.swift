import Core

// Parses the segments of `transcript.json`, most of an archive's input: the standard decoder takes ten times as long
// for their words. Anything unusual is left to that decoder, so that both give the same result.
extension JSONScanner {
    /// Returns the segments of a transcript and the range of their list; nil if the standard decoder has to decode it.
    ///
    /// - Parameter bytes: JSON with well-formed strings.
    static func segments(in bytes: [UInt8]) -> (segments: [TranscriptDocument.Part], place: Range<Int>)? {
        try? read(bytes) { (scanner) throws(Unexpected) in
            var found: (segments: [TranscriptDocument.Part], place: Range<Int>)?
            try scanner.object { (scanner, name) throws(Unexpected) in
                guard scanner.isName(name, "segments") else { return try scanner.skip() }
                guard found == nil else { throw Unexpected() }
                let start = scanner.place
                let segments = try scanner.list { (scanner) throws(Unexpected) in try scanner.segment() }
                found = (segments, start..<scanner.place)
            }
            guard let found else { throw Unexpected() }
            return found
        }
    }

    private mutating func segment() throws(Unexpected) -> TranscriptDocument.Part {
        var (id, start, end): (Int?, Double?, Double?) = (nil, nil, nil)
        var reason: EndReason?
        var words: [TranscriptDocument.Piece]?
        var alternatives: [TranscriptDocument.Other]?
        var isUnclear: Bool?
        try object { (scanner, name) throws(Unexpected) in
            if scanner.isName(name, "id") {
                try scanner.set(&id)
            } else if scanner.isName(name, "start") {
                try scanner.set(&start)
            } else if scanner.isName(name, "end") {
                try scanner.set(&end)
            } else if scanner.isName(name, "endedBy") {
                try scanner.set(&reason) { (scanner) throws(Unexpected) in
                    guard let reason = EndReason(rawValue: try scanner.string()) else { throw Unexpected() }
                    return reason
                }
            } else if scanner.isName(name, "words") {
                try scanner.set(&words) { (scanner) throws(Unexpected) in
                    try scanner.list { (scanner) throws(Unexpected) in try scanner.word() }
                }
            } else if scanner.isName(name, "alternatives") {
                try scanner.set(&alternatives) { (scanner) throws(Unexpected) in
                    try scanner.list { (scanner) throws(Unexpected) in try scanner.alternative() }
                }
            } else if scanner.isName(name, "unclear") {
                try scanner.set(&isUnclear)
            } else {
                try scanner.skip()
            }
        }
        guard let id, let start, let end else { throw Unexpected() }
        return TranscriptDocument.Part(
            id: id, start: start, end: end, endedBy: reason, words: words, alternatives: alternatives,
            unclear: isUnclear)
    }

    private mutating func word() throws(Unexpected) -> TranscriptDocument.Piece {
        var (text, speaker): (String?, String?) = (nil, nil)
        var (start, end, confidence): (Double?, Double?, Double?) = (nil, nil, nil)
        var isEstimated: Bool?
        try object { (scanner, name) throws(Unexpected) in
            if scanner.isName(name, "text") {
                try scanner.set(&text)
            } else if scanner.isName(name, "start") {
                try scanner.set(&start)
            } else if scanner.isName(name, "end") {
                try scanner.set(&end)
            } else if scanner.isName(name, "confidence") {
                try scanner.set(&confidence)
            } else if scanner.isName(name, "speaker") {
                try scanner.set(&speaker)
            } else if scanner.isName(name, "timeEstimated") {
                try scanner.set(&isEstimated)
            } else {
                try scanner.skip()
            }
        }
        guard let text, let start, let end else { throw Unexpected() }
        return TranscriptDocument.Piece(
            text: text, start: start, end: end, confidence: confidence, timeEstimated: isEstimated, speaker: speaker)
    }

    private mutating func alternative() throws(Unexpected) -> TranscriptDocument.Other {
        var (text, confidence): (String?, Double?) = (nil, nil)
        try object { (scanner, name) throws(Unexpected) in
            if scanner.isName(name, "text") {
                try scanner.set(&text)
            } else if scanner.isName(name, "confidence") {
                try scanner.set(&confidence)
            } else {
                try scanner.skip()
            }
        }
        guard let text else { throw Unexpected() }
        return TranscriptDocument.Other(text: text, confidence: confidence)
    }
}
