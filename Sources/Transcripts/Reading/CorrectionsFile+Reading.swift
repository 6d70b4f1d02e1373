extension CorrectionsFile.Document: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) {
        var (format, version): (String?, Int?) = (nil, nil)
        var recording: IdentityJSON?
        var editor: Editor?
        var details: DetailsJSON?
        var speakers: [String: String]?
        var segments: [Segment]?
        var turns: [TurnJSON]?
        var (notes, marks): ([MarkJSON]?, [MarkJSON]?) = (nil, nil)
        var quotations: [QuotationJSON]?
        try scanner.object { (scanner, name) throws(JSONScanner.Unexpected) in
            switch name {
            case "format": try scanner.set(&format)
            case "version": try scanner.set(&version)
            case "recording": try scanner.set(&recording)
            case "editor": try scanner.set(&editor)
            case "details": try scanner.setUnlessNull(&details)
            case "speakers": try scanner.setUnlessNull(&speakers)
            case "segments": try scanner.set(&segments)
            case "turns": try scanner.setUnlessNull(&turns)
            case "notes": try scanner.setUnlessNull(&notes)
            case "marks": try scanner.setUnlessNull(&marks)
            case "quotations": try scanner.setUnlessNull(&quotations)
            default: try scanner.skip()
            }
        }
        guard let format, let version, let recording, let editor, let segments else { throw JSONScanner.Unexpected() }
        self.init(
            format: format, version: version, recording: recording, editor: editor, details: details,
            speakers: speakers, segments: segments, turns: turns, notes: notes, marks: marks, quotations: quotations)
    }
}

extension CorrectionsFile.Document.Editor: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) {
        var (editorName, saved): (String?, Double?) = (nil, nil)
        try scanner.object { (scanner, name) throws(JSONScanner.Unexpected) in
            switch name {
            case "name": try scanner.set(&editorName)
            case "saved": try scanner.set(&saved)
            default: try scanner.skip()
            }
        }
        guard let editorName, let saved else { throw JSONScanner.Unexpected() }
        self.init(name: editorName, saved: saved)
    }
}

extension CorrectionsFile.Document.Segment: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) {
        var (id, was, text): (Int?, String?, String?) = (nil, nil, nil)
        var (isChecked, isJoined): (Bool?, Bool?) = (nil, nil)
        var (confirmed, breaks): ([Int]?, [Int]?) = (nil, nil)
        try scanner.object { (scanner, name) throws(JSONScanner.Unexpected) in
            switch name {
            case "id": try scanner.set(&id)
            case "was": try scanner.set(&was)
            case "text": try scanner.set(&text)
            case "checked": try scanner.setUnlessNull(&isChecked)
            case "confirmed": try scanner.setUnlessNull(&confirmed)
            case "breaks": try scanner.setUnlessNull(&breaks)
            case "joined": try scanner.setUnlessNull(&isJoined)
            default: try scanner.skip()
            }
        }
        guard let id, let was, let text else { throw JSONScanner.Unexpected() }
        self.init(
            id: id, was: was, text: text, checked: isChecked, confirmed: confirmed, breaks: breaks, joined: isJoined)
    }
}

extension IdentityJSON: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) {
        var (id, sound, pass): (Int?, String?, Int?) = (nil, nil, nil)
        try scanner.object { (scanner, name) throws(JSONScanner.Unexpected) in
            switch name {
            case "id": try scanner.set(&id)
            case "sound": try scanner.set(&sound)
            case "pass": try scanner.setUnlessNull(&pass)
            default: try scanner.skip()
            }
        }
        guard let id, let sound else { throw JSONScanner.Unexpected() }
        self.init(id: id, sound: sound, pass: pass)
    }
}

extension DetailsJSON: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) {
        var (title, people, place): (String?, String?, String?) = (nil, nil, nil)
        var (note, consent): (String?, String?) = (nil, nil)
        try scanner.object { (scanner, name) throws(JSONScanner.Unexpected) in
            switch name {
            case "title": try scanner.setUnlessNull(&title)
            case "people": try scanner.setUnlessNull(&people)
            case "place": try scanner.setUnlessNull(&place)
            case "note": try scanner.setUnlessNull(&note)
            case "consent": try scanner.setUnlessNull(&consent)
            default: try scanner.skip()
            }
        }
        self.init(
            title: title ?? "", people: people ?? "", place: place ?? "", note: note ?? "", consent: consent ?? "")
    }
}

extension TurnJSON: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) {
        var (start, end, speaker): (Double?, Double?, String?) = (nil, nil, nil)
        try scanner.object { (scanner, name) throws(JSONScanner.Unexpected) in
            switch name {
            case "start": try scanner.set(&start)
            case "end": try scanner.set(&end)
            case "speaker": try scanner.set(&speaker)
            default: try scanner.skip()
            }
        }
        guard let start, let end, let speaker else { throw JSONScanner.Unexpected() }
        self.init(start: start, end: end, speaker: speaker)
    }
}

extension MarkJSON: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) {
        var (time, text): (Double?, String?) = (nil, nil)
        try scanner.object { (scanner, name) throws(JSONScanner.Unexpected) in
            switch name {
            case "time": try scanner.set(&time)
            case "text": try scanner.set(&text)
            default: try scanner.skip()
            }
        }
        guard let time, let text else { throw JSONScanner.Unexpected() }
        self.init(time: time, text: text)
    }
}

extension QuotationJSON: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) {
        var (start, end): (Double?, Double?) = (nil, nil)
        var (text, word, colour): (String?, String?, String?) = (nil, nil, nil)
        try scanner.object { (scanner, name) throws(JSONScanner.Unexpected) in
            switch name {
            case "start": try scanner.set(&start)
            case "end": try scanner.set(&end)
            case "text": try scanner.set(&text)
            case "word": try scanner.set(&word)
            case "colour": try scanner.set(&colour)
            default: try scanner.skip()
            }
        }
        guard let start, let end, let text, let word, let colour else { throw JSONScanner.Unexpected() }
        self.init(start: start, end: end, text: text, word: word, colour: colour)
    }
}
