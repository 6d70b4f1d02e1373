import System

/// Pronounces unknown words with eSpeak NG, from Debian's package espeak-ng.
struct EspeakVoice: Sendable {
    private static let program = "/usr/bin/espeak-ng"
    private static let maxWordsPerRun = 200
    private static let timeoutSeconds = 30

    /// The language of the words, such as `en-US`.
    let language: String

    /// Returns the pronunciations of each word; empty if eSpeak NG cannot pronounce it or is not installed, or if the
    /// language is not English.
    func pronunciations(of words: [String]) -> [[[String]]] {
        // Only English phonemes can be converted to the model's phones.
        guard language.isEmpty || language.hasPrefix("en") else { return words.map { _ in [] } }
        return stride(from: 0, to: words.count, by: Self.maxWordsPerRun).flatMap { start -> [[[String]]] in
            let part = Array(words[start..<min(words.count, start + Self.maxWordsPerRun)])
            let lines = mnemonics(part)
            // If a word produced two lines, later lines do not match their words. Pronounce each word separately.
            if lines.count == part.count { return lines.map { SpokenSounds.pronunciations($0) } }
            return part.map { word in
                let wordLines = mnemonics([word])
                return wordLines.isEmpty ? [] : SpokenSounds.pronunciations(wordLines.joined(separator: "_"))
            }
        }
    }

    private func mnemonics(_ words: [String]) -> [String] {
        let text = words.map { $0.replacing("_", with: " ") }.joined(separator: "\n\n")
        guard
            let child = try? ChildProcess(
                Self.program, arguments: ["-q", "-x", "--sep=_", "-v", "en-us", "--", text])
        else { return [] }
        let output = (try? child.output(timeoutSeconds: Self.timeoutSeconds)) ?? []
        return String(decoding: output, as: UTF8.self).split(separator: "\n").map { String($0.drop { $0 == " " }) }
            .filter { !$0.isEmpty }
    }
}
