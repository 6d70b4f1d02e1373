extension JSONScanner {
    /// Parses a saved page's corrections, with the decoder's rules for missing members.
    ///
    /// - Parameter most: The maximum number of elements of each list.
    mutating func corrections(most: Int) throws(Unexpected) -> CorrectionsFile.Document {
        var (format, version): (String?, Int?) = (nil, nil)
        var recording: IdentityJSON?
        var editor: CorrectionsFile.Document.Editor?
        var details: CorrectionsFile.Document.Details?
        var speakers: [String: String]?
        var segments: [CorrectionsFile.Document.Segment]?
        var turns: [TurnJSON]?
        var notes: [MarkJSON]?
        var marks: [MarkJSON]?
        var quotations: [QuotationJSON]?
        try object { (scanner, name) throws(Unexpected) in
            if scanner.isName(name, "format") {
                try scanner.set(&format)
            } else if scanner.isName(name, "version") {
                try scanner.set(&version)
            } else if scanner.isName(name, "recording") {
                try scanner.set(&recording) { (scanner) throws(Unexpected) in try scanner.identity() }
            } else if scanner.isName(name, "editor") {
                try scanner.set(&editor) { (scanner) throws(Unexpected) in try scanner.editor() }
            } else if scanner.isName(name, "details") {
                try scanner.setUnlessNull(&details) { (scanner) throws(Unexpected) in try scanner.details() }
            } else if scanner.isName(name, "speakers") {
                try scanner.setUnlessNull(&speakers) { (scanner) throws(Unexpected) in try scanner.names(most: most) }
            } else if scanner.isName(name, "segments") {
                try scanner.set(&segments) { (scanner) throws(Unexpected) in
                    try scanner.list(most: most) { (scanner) throws(Unexpected) in try scanner.edit(most: most) }
                }
            } else if scanner.isName(name, "turns") {
                try scanner.setUnlessNull(&turns) { (scanner) throws(Unexpected) in
                    try scanner.list(most: most) { (scanner) throws(Unexpected) in try scanner.turn() }
                }
            } else if scanner.isName(name, "notes") {
                try scanner.setUnlessNull(&notes) { (scanner) throws(Unexpected) in try scanner.notes(most: most) }
            } else if scanner.isName(name, "marks") {
                try scanner.setUnlessNull(&marks) { (scanner) throws(Unexpected) in try scanner.notes(most: most) }
            } else if scanner.isName(name, "quotations") {
                try scanner.setUnlessNull(&quotations) { (scanner) throws(Unexpected) in
                    try scanner.list(most: most) { (scanner) throws(Unexpected) in try scanner.quotation() }
                }
            } else {
                try scanner.skip()
            }
        }
        guard let format, let version, let recording, let editor, let segments else { throw Unexpected() }
        return CorrectionsFile.Document(
            format: format, version: version, recording: recording, editor: editor, details: details,
            speakers: speakers, segments: segments, turns: turns, notes: notes, marks: marks, quotations: quotations)
    }

    private mutating func setUnlessNull<Value>(
        _ value: inout Value?, _ read: (inout JSONScanner) throws(Unexpected) -> Value
    ) throws(Unexpected) {
        if !consume("null") { try set(&value, read) }
    }

    private mutating func identity() throws(Unexpected) -> IdentityJSON {
        var (id, sound, pass): (Int?, String?, Int?) = (nil, nil, nil)
        try object { (scanner, name) throws(Unexpected) in
            if scanner.isName(name, "id") {
                try scanner.set(&id)
            } else if scanner.isName(name, "sound") {
                try scanner.set(&sound)
            } else if scanner.isName(name, "pass") {
                if !scanner.consume("null") { try scanner.set(&pass) }
            } else {
                try scanner.skip()
            }
        }
        guard let id, let sound else { throw Unexpected() }
        return IdentityJSON(id: id, sound: sound, pass: pass)
    }

    private mutating func editor() throws(Unexpected) -> CorrectionsFile.Document.Editor {
        var (editor, saved): (String?, Double?) = (nil, nil)
        try object { (scanner, name) throws(Unexpected) in
            if scanner.isName(name, "name") {
                try scanner.set(&editor)
            } else if scanner.isName(name, "saved") {
                try scanner.set(&saved)
            } else {
                try scanner.skip()
            }
        }
        guard let editor, let saved else { throw Unexpected() }
        return CorrectionsFile.Document.Editor(name: editor, saved: saved)
    }

    private mutating func details() throws(Unexpected) -> CorrectionsFile.Document.Details {
        var details = CorrectionsFile.Document.Details()
        try object { (scanner, name) throws(Unexpected) in
            if scanner.isName(name, "title") {
                if !scanner.consume("null") { try scanner.set(&details.title) }
            } else if scanner.isName(name, "people") {
                if !scanner.consume("null") { try scanner.set(&details.people) }
            } else if scanner.isName(name, "place") {
                if !scanner.consume("null") { try scanner.set(&details.place) }
            } else if scanner.isName(name, "note") {
                if !scanner.consume("null") { try scanner.set(&details.note) }
            } else if scanner.isName(name, "consent") {
                if !scanner.consume("null") { try scanner.set(&details.consent) }
            } else {
                try scanner.skip()
            }
        }
        return details
    }

    /// Parses an object of strings.
    private mutating func names(most: Int) throws(Unexpected) -> [String: String] {
        var names: [String: String] = [:]
        try object { (scanner, name) throws(Unexpected) in
            guard names.count < most else { throw Unexpected() }
            names[scanner.text(name)] = try scanner.string()
        }
        return names
    }

    private mutating func edit(most: Int) throws(Unexpected) -> CorrectionsFile.Document.Segment {
        var (id, was, text): (Int?, String?, String?) = (nil, nil, nil)
        var isChecked: Bool?
        var (confirmed, breaks): ([Int]?, [Int]?) = (nil, nil)
        var isJoined: Bool?
        try object { (scanner, name) throws(Unexpected) in
            if scanner.isName(name, "id") {
                try scanner.set(&id)
            } else if scanner.isName(name, "was") {
                try scanner.set(&was)
            } else if scanner.isName(name, "text") {
                try scanner.set(&text)
            } else if scanner.isName(name, "checked") {
                if !scanner.consume("null") { try scanner.set(&isChecked) }
            } else if scanner.isName(name, "confirmed") {
                try scanner.setUnlessNull(&confirmed) { (scanner) throws(Unexpected) in
                    try scanner.list(most: most) { (scanner) throws(Unexpected) in try scanner.integer() }
                }
            } else if scanner.isName(name, "breaks") {
                try scanner.setUnlessNull(&breaks) { (scanner) throws(Unexpected) in
                    try scanner.list(most: most) { (scanner) throws(Unexpected) in try scanner.integer() }
                }
            } else if scanner.isName(name, "joined") {
                if !scanner.consume("null") { try scanner.set(&isJoined) }
            } else {
                try scanner.skip()
            }
        }
        guard let id, let was, let text else { throw Unexpected() }
        return CorrectionsFile.Document.Segment(
            id: id, was: was, text: text, checked: isChecked, confirmed: confirmed, breaks: breaks, joined: isJoined)
    }

    private mutating func turn() throws(Unexpected) -> TurnJSON {
        var (start, end): (Double?, Double?) = (nil, nil)
        var speaker: String?
        try object { (scanner, name) throws(Unexpected) in
            if scanner.isName(name, "start") {
                try scanner.set(&start)
            } else if scanner.isName(name, "end") {
                try scanner.set(&end)
            } else if scanner.isName(name, "speaker") {
                try scanner.set(&speaker)
            } else {
                try scanner.skip()
            }
        }
        guard let start, let end, let speaker else { throw Unexpected() }
        return TurnJSON(start: start, end: end, speaker: speaker)
    }

    private mutating func notes(most: Int) throws(Unexpected) -> [MarkJSON] {
        try list(most: most) { (scanner) throws(Unexpected) in
            var (time, text): (Double?, String?) = (nil, nil)
            try scanner.object { (scanner, name) throws(Unexpected) in
                if scanner.isName(name, "time") {
                    try scanner.set(&time)
                } else if scanner.isName(name, "text") {
                    try scanner.set(&text)
                } else {
                    try scanner.skip()
                }
            }
            guard let time, let text else { throw Unexpected() }
            return MarkJSON(time: time, text: text)
        }
    }

    private mutating func quotation() throws(Unexpected) -> QuotationJSON {
        var (start, end): (Double?, Double?) = (nil, nil)
        var (text, word, colour): (String?, String?, String?) = (nil, nil, nil)
        try object { (scanner, name) throws(Unexpected) in
            if scanner.isName(name, "start") {
                try scanner.set(&start)
            } else if scanner.isName(name, "end") {
                try scanner.set(&end)
            } else if scanner.isName(name, "text") {
                try scanner.set(&text)
            } else if scanner.isName(name, "word") {
                try scanner.set(&word)
            } else if scanner.isName(name, "colour") {
                try scanner.set(&colour)
            } else {
                try scanner.skip()
            }
        }
        guard let start, let end, let text, let word, let colour else { throw Unexpected() }
        return QuotationJSON(start: start, end: end, text: text, word: word, colour: colour)
    }
}
