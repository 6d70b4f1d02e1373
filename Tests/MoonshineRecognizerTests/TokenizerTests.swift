import FoundationEssentials
import Testing
import TestKit

@testable import Core
@testable import Recognition

/// Creates a tokenizer with these pieces after the 259 fixed tokens.
func tokenizer(_ pieces: [String], in folder: TemporaryFolder) throws -> Tokenizer {
    let bytes = (Array(repeating: "<x>", count: 259) + pieces).flatMap { piece -> [UInt8] in
        let bytes = Array(piece.utf8)
        let length = bytes.count < 128 ? [bytes.count] : [128 + bytes.count % 128, bytes.count / 128]
        return length.map { UInt8($0) } + bytes
    }
    let path = folder.file("tokenizer.bin")
    try Data(bytes).write(to: URL(filePath: path))
    return try Tokenizer(path: path)
}

@Suite("Tokens and text")
struct TokenizerTests {
    private let folder = TemporaryFolder()

    @Test("pieces become words with their tokens; a punctuation mark belongs to the previous word")
    func words() throws {
        let tokens = try tokenizer(["▁Hello", ",", "▁wor", "ld", "▁"], in: folder)
        let words = tokens.words(of: [259, 260, 261, 262])
        #expect(words.map(\.text) == ["Hello,", "world"])
        #expect(words.map(\.tokens) == [0..<2, 2..<4])
        // Input with a separate space, and with special tokens.
        #expect(tokens.words(of: [1, 263, 262, 40_000, 2]).map(\.text) == ["ld"])
        #expect(tokens.words(of: []).isEmpty)
    }

    @Test("a character with several tokens is joined, and invalid UTF-8 is replaced")
    func bytes() throws {
        let tokens = try tokenizer(["▁caf"], in: folder)
        let bytes = Array("é".utf8).map { Int($0) + 3 }
        #expect(tokens.words(of: [259] + bytes).map(\.text) == ["café"])
        #expect(tokens.words(of: [259, bytes[0]]).map(\.text) == ["caf\u{FFFD}"])
    }

    @Test("encoding merges the pairs with the lowest token IDs first, and uses bytes for unknown characters")
    func encoding() throws {
        let tokens = try tokenizer(["▁", "a", "b", "ab", "▁a", "▁ab"], in: folder)
        // "▁a" has a higher ID than "ab", so "a" and "b" are merged first.
        #expect(tokens.tokens(of: "ab") == [264])
        #expect(tokens.tokens(of: "ab a") == [264, 263])
        #expect(tokens.tokens(of: "aé") == [263] + Array("é".utf8).map { Int($0) + 3 })
        #expect(tokens.tokens(of: "  ").isEmpty)
    }

    @Test("special tokens have no text, and any token after the fixed ones can be special or not")
    func special() throws {
        let tokens = try tokenizer(["▁a", "<<ST_0>>", "<<ST_", "b"], in: folder)
        #expect(tokens.words(of: [259, 260, 262]).map(\.text) == ["ab"])
        #expect(tokens.words(of: [259, 261]).map(\.text) == ["a<<ST_"])
        let many = try tokenizer(Array(repeating: "x", count: 40_000) + ["▁я"], in: folder)
        #expect(many.words(of: [40_259]).map(\.text) == ["я"])
        #expect(thrown { _ = try tokenizer(Array(repeating: "", count: 1 << 18), in: folder) }?.code == .damaged)
    }

    @Test("the length of a piece longer than 127 bytes takes two bytes")
    func longPieces() throws {
        let long = String(repeating: "x", count: 300)
        #expect(try tokenizer(["▁" + long], in: folder).words(of: [259]).map(\.text) == [long])
    }

    @Test("the error for an invalid file names it", arguments: ["", "\u{3}ab", "short"])
    func damaged(text: String) throws {
        let path = folder.file("tokenizer.bin")
        try Data(text.utf8).write(to: URL(filePath: path))
        let error = thrown { _ = try Tokenizer(path: path) }
        #expect(error?.code == .damaged && error?.message.hasPrefix(path) == true)
    }
}
