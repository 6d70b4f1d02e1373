import Core

// Parses the segments in `transcript.json`, which are most of the file: the standard decoder takes ten times as long
// for their words. That decoder still decodes any file with something unusual, so the result is always the same.
extension JSONScanner {
    /// Returns a transcript's segments and the range of their list; nil if the standard decoder must decode them.
    ///
    /// - Parameter bytes: JSON with well-formed strings.
    static func segments(in bytes: [UInt8]) -> (segments: [TranscriptDocument.SegmentRecord], range: Range<Int>)? {
        try? read(bytes) { (scanner) throws(Unexpected) in
            var found: (segments: [TranscriptDocument.SegmentRecord], range: Range<Int>)?
            try scanner.object { (scanner, name) throws(Unexpected) in
                guard case "segments" = name else { return try scanner.skip() }
                guard found == nil else { throw Unexpected() }
                let start = scanner.offset
                let segments = try [TranscriptDocument.SegmentRecord](scanning: &scanner)
                found = (segments, start..<scanner.offset)
            }
            guard let found else { throw Unexpected() }
            return found
        }
    }
}

extension EndReason: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) {
        guard let reason = EndReason(rawValue: try scanner.string()) else { throw JSONScanner.Unexpected() }
        self = reason
    }
}

extension TranscriptDocument.SegmentRecord: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) {
        var (id, start, end): (Int?, Double?, Double?) = (nil, nil, nil)
        var reason: EndReason?
        var words: [TranscriptDocument.WordRecord]?
        var alternatives: [TranscriptDocument.AlternativeRecord]?
        var isUnclear: Bool?
        try scanner.object { (scanner, name) throws(JSONScanner.Unexpected) in
            switch name {
            case "id": try scanner.set(&id)
            case "start": try scanner.set(&start)
            case "end": try scanner.set(&end)
            case "endedBy": try scanner.set(&reason)
            case "words": try scanner.set(&words)
            case "alternatives": try scanner.set(&alternatives)
            case "unclear": try scanner.set(&isUnclear)
            default: try scanner.skip()
            }
        }
        guard let id, let start, let end else { throw JSONScanner.Unexpected() }
        self.init(
            id: id, start: start, end: end, endedBy: reason, words: words, alternatives: alternatives,
            unclear: isUnclear)
    }
}

extension TranscriptDocument.WordRecord: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) {
        var (text, speaker): (String?, String?) = (nil, nil)
        var (start, end, confidence): (Double?, Double?, Double?) = (nil, nil, nil)
        var isEstimated: Bool?
        try scanner.object { (scanner, name) throws(JSONScanner.Unexpected) in
            switch name {
            case "text": try scanner.set(&text)
            case "start": try scanner.set(&start)
            case "end": try scanner.set(&end)
            case "confidence": try scanner.set(&confidence)
            case "speaker": try scanner.set(&speaker)
            case "timeEstimated": try scanner.set(&isEstimated)
            default: try scanner.skip()
            }
        }
        guard let text, let start, let end else { throw JSONScanner.Unexpected() }
        self.init(
            text: text, start: start, end: end, confidence: confidence, timeEstimated: isEstimated, speaker: speaker)
    }
}

extension TranscriptDocument.AlternativeRecord: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) {
        var (text, confidence): (String?, Double?) = (nil, nil)
        try scanner.object { (scanner, name) throws(JSONScanner.Unexpected) in
            switch name {
            case "text": try scanner.set(&text)
            case "confidence": try scanner.set(&confidence)
            default: try scanner.skip()
            }
        }
        guard let text else { throw JSONScanner.Unexpected() }
        self.init(text: text, confidence: confidence)
    }
}
