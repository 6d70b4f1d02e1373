import Core

/// A part of a file to import. Files are split, since requests are limited to 64 KiB.
package struct ImportPart: Hashable, Sendable, Codable {
    /// Identifies the file; the same in all its parts.
    var token: String
    var name: String
    var text: String
    /// Whether this is the last part of the file.
    var isLast: Bool
    /// Who made the corrections, if the file does not name a person.
    var person: String
    /// The identity of the recording, from another file in the imported file's folder; nil if there is none.
    var siblingIdentity: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case token, name, text, isLast, person
        case siblingIdentity = "neighbour"
    }

    /// The maximum size of a part's text, in bytes. In JSON, it may be six times as large.
    static let maximumTextBytes = 8_192

    /// Splits a text between Unicode scalars, since a `Character` may be longer than a part. An empty text becomes one
    /// empty chunk.
    static func chunks(of text: String) -> [(text: Substring, isLast: Bool)] {
        var chunks: [(text: Substring, isLast: Bool)] = []
        var start = text.startIndex
        repeat {
            var end = text.utf8.index(start, offsetBy: maximumTextBytes, limitedBy: text.endIndex) ?? text.endIndex
            while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
            chunks.append((text[start..<end], end == text.endIndex))
            start = end
        } while start < text.endIndex
        return chunks
    }
}

/// The incomplete files, at most one for each client.
struct ImportedTexts {
    /// The maximum size of all texts together, in bytes.
    static let maximumBytes = 64 << 20

    private var texts: [Int: (token: String, text: String)] = [:]

    var bytes: Int { texts.values.reduce(0) { $0 + $1.text.utf8.count } }

    /// Appends a part. A part with a different token begins a new file, which replaces this client's incomplete one.
    ///
    /// - Returns: the whole text if this was the last part, otherwise nil.
    /// - Throws: `DeviceError` with `unsupported` if this file is too long, `busy` if other files leave no space for
    ///   it. This client's file is then dropped.
    mutating func append(_ part: ImportPart, from client: Int) throws(DeviceError) -> String? {
        if texts[client]?.token != part.token { texts[client] = (part.token, "") }
        let ownBytes = texts[client]?.text.utf8.count ?? 0
        guard bytes + part.text.utf8.count <= Self.maximumBytes else {
            drop(client)
            throw ownBytes + part.text.utf8.count > Self.maximumBytes
                ? DeviceError(
                    .unsupported, "import", on: part.name, "is longer than \(Self.maximumBytes) bytes",
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
