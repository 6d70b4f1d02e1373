import Core
import System

/// eSpeak NG, which says any word, as Debian's package espeak-ng installs it.
struct EspeakVoice: Sendable {
    /// Where Debian puts it.
    static let program = "/usr/bin/espeak-ng"
    private static let mostAtOnce = 200
    private static let patience = 30

    private let language: String

    /// - Parameter language: of the words: `en-US`.
    init(language: String) { self.language = language }

    /// Whether its phonemes can be told in the model's sounds: those of English, that is.
    var isUsable: Bool { language.isEmpty || language.hasPrefix("en") }

    /// The ways to say each word; none where it cannot be said, or the program is not there.
    func ways(_ words: [String]) -> [[[String]]] {
        guard isUsable else { return words.map { _ in [] } }
        return stride(from: 0, to: words.count, by: Self.mostAtOnce).flatMap { start -> [[[String]]] in
            let part = Array(words[start..<min(words.count, start + Self.mostAtOnce)])
            let lines = mnemonics(part)
            // A word that it says in two lines would shift all that follow.
            if lines.count == part.count { return lines.map { SpokenSounds.ways($0) } }
            return part.map { word in
                let own = mnemonics([word])
                return own.isEmpty ? [] : SpokenSounds.ways(own.joined(separator: "_"))
            }
        }
    }

    private func mnemonics(_ words: [String]) -> [String] {
        let text = words.map { $0.replacing("_", with: " ") }.joined(separator: "\n\n")
        guard
            let child = try? ChildProcess(
                Self.program, arguments: ["-q", "-x", "--sep=_", "-v", "en-us", text])
        else { return [] }
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = chunk.withUnsafeMutableBytes { (try? child.read(into: $0, timeoutSeconds: Self.patience)) ?? 0 }
            if count == 0 { break }
            output += chunk[..<count]
        }
        return String(decoding: output, as: UTF8.self).split(separator: "\n").map { String($0.drop { $0 == " " }) }
            .filter { !$0.isEmpty }
    }
}
