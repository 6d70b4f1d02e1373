import Core

// The JSON members that a page's data and its corrections have in common.

struct IdentityJSON: Codable {
    var id: Int
    var sound: String
    var pass: Int?
}

struct DetailsJSON: Codable {
    var title: String
    var people: String
    var place: String
    var note: String
    var consent: String
}

extension DetailsJSON {
    init(title: String, _ annotations: Annotations) {
        self.init(
            title: title, people: annotations.people, place: annotations.place, note: annotations.note,
            consent: annotations.consent)
    }
}

struct TurnJSON: Codable {
    var start: Double
    var end: Double
    var speaker: String
}

/// A bookmark or note.
struct MarkJSON: Codable, Equatable {
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
