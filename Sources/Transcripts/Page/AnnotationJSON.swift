import Core

// The members that a page's data and its corrections share.

/// A recording's identity.
struct IdentityJSON: Codable {
    var id: Int
    var sound: String
    var pass: Int?
}

/// The texts about a recording.
struct DetailsJSON: Codable {
    var title: String
    var people: String
    var place: String
    var note: String
    var consent: String
}

/// A turn of a speaker.
struct TurnJSON: Codable {
    var start: Double
    var end: Double
    var speaker: String
}

/// A bookmark or note.
struct MarkJSON: Codable {
    var time: Double
    var text: String
}

extension MarkJSON {
    init(_ mark: Bookmark) { self.init(time: mark.position.seconds, text: mark.text) }
}

struct QuotationJSON: Codable {
    var start: Double
    var end: Double
    var text: String
    var word: String
    var colour: String
}

extension QuotationJSON {
    init(_ quotation: Quotation) {
        self.init(
            start: quotation.range.start.seconds, end: quotation.range.end.seconds, text: quotation.text,
            word: quotation.word, colour: quotation.colour)
    }
}
