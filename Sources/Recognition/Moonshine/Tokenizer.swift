import Core
import System

/// Converts between tokens and text with `tokenizer.bin`.
///
/// The file has one entry per token: a length and that many bytes. A length below 128 takes one byte; others take
/// two: second byte x 128 + first - 128. Token 0 stands for unknown text, 1 for the start, and 2 for the end. Tokens
/// 3 to 258 are single bytes. The others are word pieces, in which U+2581 is a space. Special tokens such
/// as `<<ST_0>>` have no text.
struct Tokenizer: Sendable {
    static let start = 1
    static let end = 2
    private static let bytes = 3...258
    private static let specialToken = (prefix: Array("<<ST_".utf8), suffix: Array(">>".utf8))
    /// The maximum number of tokens: eight times as many as in current models.
    private static let maximumTokens = 1 << 18

    private static let space: [UInt8] = [0xE2, 0x96, 0x81]

    private let pieces: [[UInt8]]
    private let ids: [[UInt8]: Int]

    var count: Int { pieces.count }

    /// - Throws: `DeviceError` with `missing` or `denied`; `damaged` for an invalid file.
    init(path: String) throws(DeviceError) {
        let file = try content(ofFile: path, limit: 1 << 22)
        guard let pieces = Self.pieces(of: file), pieces.count > Self.bytes.upperBound else {
            throw DeviceError(.damaged, "read", on: path, "not a list of tokens", remedy: "reinstall the model")
        }
        self.pieces = pieces
        ids = Dictionary(pieces.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
    }

    private static func pieces(of file: [UInt8]) -> [[UInt8]]? {
        var pieces: [[UInt8]] = []
        var offset = 0
        while offset < file.count {
            var length = Int(file[offset])
            offset += 1
            if length >= 128 {
                guard offset < file.count else { return nil }
                length = Int(file[offset]) * 128 + length - 128
                offset += 1
            }
            guard offset + length <= file.count else { return nil }
            let piece = Array(file[offset..<offset + length])
            let isSpecial =
                piece.starts(with: specialToken.prefix)
                && piece.suffix(specialToken.suffix.count) == specialToken.suffix[...]
            pieces.append(isSpecial ? [] : piece)
            guard pieces.count <= maximumTokens else { return nil }
            offset += length
        }
        return pieces
    }

    /// Returns a token's bytes, with U+2581 for a space; empty for special tokens.
    func text(of token: Int) -> [UInt8] {
        guard pieces.indices.contains(token), token >= Self.bytes.lowerBound else { return [] }
        if Self.bytes.contains(token) { return [UInt8(token - Self.bytes.lowerBound)] }
        return pieces[token]
    }

    /// Whether a token begins with a space, which starts a new word.
    func beginsWord(_ token: Int) -> Bool { text(of: token).starts(with: Self.space) }

    /// Returns the words of a text with their token ranges. Joins characters that are split over several tokens, and
    /// replaces invalid UTF-8.
    func words(of tokens: [Int]) -> [(text: String, tokens: Range<Int>)] {
        var words: [(bytes: [UInt8], tokens: Range<Int>)] = []
        for (index, token) in tokens.enumerated() {
            var rest = text(of: token)[...]
            while !rest.isEmpty {
                if rest.starts(with: Self.space) {
                    rest = rest.dropFirst(Self.space.count)
                    words.append(([], index..<index + 1))
                } else {
                    if words.isEmpty { words.append(([], index..<index + 1)) }
                    words[words.count - 1].bytes.append(rest.removeFirst())
                    words[words.count - 1].tokens = words[words.count - 1].tokens.lowerBound..<index + 1
                }
            }
        }
        return words.compactMap { word in
            let text = String(decoding: word.bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined()
            return text.isEmpty ? nil : (text, word.tokens)
        }
    }

    /// Tokenizes a text by byte-pair encoding, merging the pair whose token has the lowest ID first. Encodes characters
    /// without a token as bytes.
    func tokens(of text: String) -> [Int] {
        var parts: [[UInt8]] = []
        for word in text.split(whereSeparator: \.isWhitespace) {
            parts.append(Self.space)
            parts += word.unicodeScalars.map { Array(String($0).utf8) }
        }
        while let index = bestPair(parts) {
            parts[index] += parts[index + 1]
            parts.remove(at: index + 1)
        }
        return parts.flatMap { part in ids[part].map { [$0] } ?? part.map { Int($0) + Self.bytes.lowerBound } }
    }

    /// Returns the index of the first part of the pair to merge next; nil if no pair forms a token.
    private func bestPair(_ parts: [[UInt8]]) -> Int? {
        var best: (index: Int, id: Int)?
        for index in parts.indices.dropLast() {
            guard let id = ids[parts[index] + parts[index + 1]], id < best?.id ?? .max else { continue }
            best = (index, id)
        }
        return best?.index
    }
}
