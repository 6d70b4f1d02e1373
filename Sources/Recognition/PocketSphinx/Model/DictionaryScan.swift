import Glibc

/// Finds words in a pronouncing dictionary: one pronunciation per line, `word` or `word(2)` and its phones.
struct DictionaryScan {
    private let words: Set<String>
    /// Whether any word has a given first byte and length. This quickly rejects most lines.
    private var candidates = [Bool](repeating: false, count: 1 << 16)

    init(_ words: Set<String>) {
        self.words = words
        for word in words {
            guard let first = word.utf8.first else { continue }
            candidates[Self.candidateIndex(first, word.utf8.count)] = true
        }
    }

    private static func candidateIndex(_ first: UInt8, _ count: Int) -> Int { Int(first) << 8 | min(count, 255) }

    /// Calls `body` with the word, without its number, and the phones of each matching line.
    func run(over bytes: UnsafeRawBufferPointer, _ body: (String, Substring) -> Void) {
        guard !words.isEmpty, let base = bytes.baseAddress else { return }
        candidates.withUnsafeBufferPointer { candidates in
            var start = 0
            while start < bytes.count {
                let remaining = bytes.count - start
                let newline = memchr(base + start, 0x0A, remaining)
                let end = newline.map { UnsafeRawPointer($0) - UnsafeRawPointer(base) } ?? bytes.count
                var next = start
                // A parenthesis ends the word unless it is the first character.
                while next < end, bytes[next] > 0x20, bytes[next] != 0x28 || next == start { next += 1 }
                if next > start, candidates[Self.candidateIndex(bytes[start], next - start)] {
                    let word = String(decoding: bytes[start..<next], as: UTF8.self)
                    if words.contains(word) {
                        let line = String(decoding: bytes[next..<end], as: UTF8.self)
                        body(word, line.drop { $0 != " " && $0 != "\t" })
                    }
                }
                start = end + 1
            }
        }
    }
}
