import Core

/// A part of a file to import, since requests are limited to 64 KiB.
package struct ImportPart: Hashable, Sendable, Codable {
    /// Identical in all parts of a file.
    var token: String
    var name: String
    var text: String
    /// Whether the file is complete with this part.
    var isLast: Bool
    /// Who corrected the file, if it does not say so itself.
    var person: String
    /// What the files beside it say about the recording.
    var neighbour: String?

    /// The largest size of a part's text, in bytes; JSON may need six times as many.
    static let longest = 8_192

    /// Splits a text into pieces for the parts; an empty text gives one piece. Cuts are between Unicode scalars, since a
    /// `Character` may be longer than a part.
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

/// The unfinished texts of clients, one for each client.
struct ImportedTexts {
    /// The largest total size of all texts, in bytes.
    static let most = 64 << 20

    private var texts: [Int: (token: String, text: String)] = [:]

    var bytes: Int { texts.values.reduce(0) { $0 + $1.text.utf8.count } }

    /// Appends a part. A part with another token begins a new file, which replaces this client's unfinished one.
    ///
    /// - Returns: the whole text after the last part, otherwise nil.
    /// - Throws: `DeviceError` with `unsupported` if this file is too long, `busy` if other files leave no space for
    ///   it. The client's text is then dropped.
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
                    .busy, "import", on: part.name,
                    "other files are being imported, and there is no space for this one",
                    remedy: "nothing was changed; try again later")
        }
        texts[client]?.text += part.text
        guard part.isLast else { return nil }
        return texts.removeValue(forKey: client)?.text
    }

    mutating func drop(_ client: Int) { texts[client] = nil }
}
