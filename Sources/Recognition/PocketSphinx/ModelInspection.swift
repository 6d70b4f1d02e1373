import Core
import System

// Checks a model without loading it, because the library exits the process on some errors.
extension ModelFolder {
    /// One line per problem: the file, the problem and the remedy. Empty if the model can be loaded.
    package var problems: [String] {
        do throws(DeviceError) { try model.check() } catch { return [error.message] }
        var problems: [String] = []
        if sampleRate != SamplePosition.rate {
            problems.append(
                "\(model.acousticModel)/feat.params: made for \(sampleRate) Hz, but recordings have "
                    + "\(SamplePosition.rate) Hz; use a model for \(SamplePosition.rate) Hz")
        }
        for name in ["means", "variances", "transition_matrices"] {
            let path = "\(model.acousticModel)/\(name)"
            if !Self.begins(path, with: ["s3\n"]) {
                problems.append("\(path): not an acoustic model file; copy the model again")
            }
        }
        if !Self.begins(model.languageModel, with: Self.languageModelBeginnings) {
            problems.append(
                "\(model.languageModel): neither an ARPA language model nor one written by sphinx_lm_convert; "
                    + "convert it, or set recognizer.language-model to another file")
        }
        guard let sounds = Self.sounds(of: model.acousticModel) else {
            return problems + ["\(model.acousticModel)/mdef: not a model definition; copy the model again"]
        }
        return problems + dictionaryProblems(sounds)
    }

    private static let languageModelBeginnings = [
        "Trie Language Model", "Darpa Trigram LM", "\\data\\", "#", "\n", "\u{1F}",
    ]
    private static let maxDictionary = 1 << 28

    /// Returns the problems in the dictionary. The library skips words with phones that the acoustic model lacks.
    private func dictionaryProblems(_ sounds: Set<String>) -> [String] {
        let text: [UInt8]
        do throws(DeviceError) { text = try content(ofFile: model.dictionary, limit: Self.maxDictionary) } catch {
            return [error.message]
        }
        let knownSounds = Set(sounds.map { Array($0.utf8)[...] })
        var wordCount = 0
        var unusableCount = 0
        var first: (line: Int, sound: String)?
        for (index, line) in text.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let fields = line.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            guard let word = fields.first, !word.starts(with: [0x3B, 0x3B]), !word.starts(with: [0x23, 0x23]) else {
                continue
            }
            wordCount += 1
            guard let sound = fields.dropFirst().first(where: { !knownSounds.contains($0) }) else { continue }
            unusableCount += 1
            first = first ?? (index + 1, String(decoding: sound, as: UTF8.self))
        }
        if wordCount == 0 { return ["\(model.dictionary): contains no words; copy the model again"] }
        guard let first else { return [] }
        return [
            "\(model.dictionary):\(first.line): the acoustic model has no sound \(first.sound); \(unusableCount) of "
                + "\(wordCount) words cannot be recognized; use the dictionary that belongs to the model"
        ]
    }

    private static func begins(_ path: String, with beginnings: [String]) -> Bool {
        guard let bytes = try? beginning(ofFile: path, count: 32) else { return false }
        return beginnings.contains { bytes.starts(with: $0.utf8) }
    }
}

extension PocketSphinxModel {
    /// Returns the phones of the acoustic model.
    ///
    /// - Throws: `DeviceError` with `damaged` if its definition cannot be parsed.
    func sounds() throws(DeviceError) -> Set<String> {
        if let sounds = ModelFolder.sounds(of: acousticModel) { return sounds }
        throw DeviceError(
            .damaged, "mdef", "\(acousticModel)/mdef: not a model definition", remedy: "see fieldscribe models")
    }
}

extension ModelFolder {
    /// Returns the phones of an acoustic model; nil if its definition cannot be parsed.
    static func sounds(of acousticModel: String) -> Set<String>? {
        guard let bytes = try? content(ofFile: "\(acousticModel)/mdef", limit: 1 << 27) else { return nil }
        guard bytes.starts(with: Array("BMDF".utf8)) else { return textSounds(bytes) }
        return ModelDefinition(bytes).map { Set($0.sounds) }
    }

    /// Parses a definition in text form, which has one phone per line after the counts. A line without neighbors
    /// describes a context-independent phone; only these are returned.
    private static func textSounds(_ bytes: [UInt8]) -> Set<String>? {
        var sounds: Set<String> = []
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
            let fields = line.split { $0 == " " || $0 == "\t" }
            if fields.count > 5, fields[1...3].allSatisfy({ $0 == "-" }) { sounds.insert(String(fields[0])) }
        }
        return sounds.isEmpty ? nil : sounds
    }
}
