import Core

// Reads the segments of a transcript as `json` writes them: the decoder of the standard library takes ten times as long for their words,
// which are most of what an archive reads. What is written in any other way is left to that decoder, so that both always say the same.
extension JSONScanner {
    /// The segments of a transcript, and where their list stands in it; nil where that is to be decoded as a whole.
    ///
    /// - Parameter bytes: JSON whose strings are well-formed.
    static func segments(in bytes: [UInt8]) -> (segments: [TranscriptDocument.Part], place: Range<Int>)? {
        try? read(bytes) { (scanner) throws(Unusual) in
            var found: (segments: [TranscriptDocument.Part], place: Range<Int>)?
            try scanner.object { (scanner, name) throws(Unusual) in
                guard scanner.isName(name, "segments") else { return try scanner.skip() }
                guard found == nil else { throw Unusual() }
                let start = scanner.place
                let segments = try scanner.list { (scanner) throws(Unusual) in try scanner.segment() }
                found = (segments, start..<scanner.place)
            }
            guard let found else { throw Unusual() }
            return found
        }
    }

    private mutating func segment() throws(Unusual) -> TranscriptDocument.Part {
        var (id, start, end): (Int?, Double?, Double?) = (nil, nil, nil)
        var reason: EndReason?
        var words: [TranscriptDocument.Piece]?
        var alternatives: [TranscriptDocument.Other]?
        try object { (scanner, name) throws(Unusual) in
            if scanner.isName(name, "id") {
                try scanner.set(&id) { (scanner) throws(Unusual) in try scanner.whole() }
            } else if scanner.isName(name, "start") {
                try scanner.set(&start) { (scanner) throws(Unusual) in try scanner.number() }
            } else if scanner.isName(name, "end") {
                try scanner.set(&end) { (scanner) throws(Unusual) in try scanner.number() }
            } else if scanner.isName(name, "endedBy") {
                try scanner.set(&reason) { (scanner) throws(Unusual) in
                    guard let reason = EndReason(rawValue: try scanner.string()) else { throw Unusual() }
                    return reason
                }
            } else if scanner.isName(name, "words") {
                try scanner.set(&words) { (scanner) throws(Unusual) in
                    try scanner.list { (scanner) throws(Unusual) in try scanner.word() }
                }
            } else if scanner.isName(name, "alternatives") {
                try scanner.set(&alternatives) { (scanner) throws(Unusual) in
                    try scanner.list { (scanner) throws(Unusual) in try scanner.alternative() }
                }
            } else {
                try scanner.skip()
            }
        }
        guard let id, let start, let end else { throw Unusual() }
        return TranscriptDocument.Part(
            id: id, start: start, end: end, endedBy: reason, words: words, alternatives: alternatives)
    }

    private mutating func word() throws(Unusual) -> TranscriptDocument.Piece {
        var (text, speaker): (String?, String?) = (nil, nil)
        var (start, end, confidence): (Double?, Double?, Double?) = (nil, nil, nil)
        var isEstimated: Bool?
        try object { (scanner, name) throws(Unusual) in
            if scanner.isName(name, "text") {
                try scanner.set(&text) { (scanner) throws(Unusual) in try scanner.string() }
            } else if scanner.isName(name, "start") {
                try scanner.set(&start) { (scanner) throws(Unusual) in try scanner.number() }
            } else if scanner.isName(name, "end") {
                try scanner.set(&end) { (scanner) throws(Unusual) in try scanner.number() }
            } else if scanner.isName(name, "confidence") {
                try scanner.set(&confidence) { (scanner) throws(Unusual) in try scanner.number() }
            } else if scanner.isName(name, "speaker") {
                try scanner.set(&speaker) { (scanner) throws(Unusual) in try scanner.string() }
            } else if scanner.isName(name, "timeEstimated") {
                try scanner.set(&isEstimated) { (scanner) throws(Unusual) in try scanner.truth() }
            } else {
                try scanner.skip()
            }
        }
        guard let text, let start, let end else { throw Unusual() }
        return TranscriptDocument.Piece(
            text: text, start: start, end: end, confidence: confidence, timeEstimated: isEstimated, speaker: speaker)
    }

    private mutating func alternative() throws(Unusual) -> TranscriptDocument.Other {
        var (text, confidence): (String?, Double?) = (nil, nil)
        try object { (scanner, name) throws(Unusual) in
            if scanner.isName(name, "text") {
                try scanner.set(&text) { (scanner) throws(Unusual) in try scanner.string() }
            } else if scanner.isName(name, "confidence") {
                try scanner.set(&confidence) { (scanner) throws(Unusual) in try scanner.number() }
            } else {
                try scanner.skip()
            }
        }
        guard let text else { throw Unusual() }
        return TranscriptDocument.Other(text: text, confidence: confidence)
    }
}
