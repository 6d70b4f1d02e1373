import Core

/// A part of a file that is to be imported, since a request is short.
package struct ImportPart: Hashable, Sendable, Codable {
    /// Tells the parts of one file from those of another.
    var token: String
    /// The file's name.
    var name: String
    /// Of its text; the parts come in order.
    var text: String
    /// Whether it is the last one: then the file is taken.
    var isLast: Bool
    /// Who has corrected it, where the file does not say so.
    var person: String
    /// What the files beside it say of the recording; nil where they do not.
    var neighbour: String?

    /// Bytes of text that a part has at most: as JSON, they may become six times as many.
    static let longest = 8_192

    init(token: String, name: String, text: String, isLast: Bool, person: String, neighbour: String?) {
        self.token = token
        self.name = name
        self.text = text
        self.isLast = isLast
        self.person = person
        self.neighbour = neighbour
    }

    /// The pieces of a text that parts can hold, in order; a single one of an empty text. A `Character` may be longer than
    /// a part, so the text is cut between Unicode scalars.
    static func pieces(of text: String) -> [(text: Substring, isLast: Bool)] {
        var pieces: [(text: Substring, isLast: Bool)] = []
        var start = text.startIndex
        repeat {
            var end = text.utf8.index(start, offsetBy: longest, limitedBy: text.endIndex) ?? text.endIndex
            while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
            pieces.append((text[start..<end], end == text.endIndex))
            start = end
        } while start < text.endIndex
        return pieces
    }
}

/// The texts that clients are sending in parts, one for each client.
struct ImportedTexts {
    /// Bytes of all texts together.
    static let most = 64 << 20

    private var texts: [Int: (token: String, text: String)] = [:]

    /// How many bytes there are.
    var bytes: Int { texts.values.reduce(0) { $0 + $1.text.utf8.count } }

    /// Adds a part. A part with another token begins another file, which replaces this client's unfinished one.
    ///
    /// - Returns: the whole text with the last part; nil before it.
    /// - Throws: `DeviceError` with `unsupported` if this file is too long, `busy` if the others leave no room for it. The
    ///   client's text is dropped then.
    mutating func append(_ part: ImportPart, from client: Int) throws(DeviceError) -> String? {
        if texts[client]?.token != part.token { texts[client] = (part.token, "") }
        let own = texts[client]?.text.utf8.count ?? 0
        guard bytes + part.text.utf8.count <= Self.most else {
            drop(client)
            throw own + part.text.utf8.count > Self.most
                ? DeviceError(
                    .unsupported, "import", on: part.name, "is longer than \(Self.most) bytes",
                    remedy: "nothing was changed")
                : DeviceError(
                    .busy, "import", on: part.name, "other files are being imported, and there is no room for this one",
                    remedy: "nothing was changed; try again later")
        }
        texts[client]?.text += part.text
        guard part.isLast else { return nil }
        return texts.removeValue(forKey: client)?.text
    }

    /// Frees what a client has sent.
    mutating func drop(_ client: Int) { texts[client] = nil }
}
