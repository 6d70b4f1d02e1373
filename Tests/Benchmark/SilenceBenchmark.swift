import Core
import Recognition
import System
import TestKit

/// Measures the text recognized in audio without speech and in other languages, and the speech that the gate rejects.
struct SilenceBenchmark {
    static let seed: UInt64 = 7

    let harness: Harness
    let corpus: Corpus
    /// Every `step`th sound is measured.
    var step = 1

    func run(_ contenders: [Contender]) throws {
        let contenders = contenders.filter { !$0.isPeer && !$0.isSmallBoard }
        try measureNonSpeech(contenders)
        try measureRoom(contenders, minutes: 60 / step)
        try measureLostSpeech(contenders)
        try measureRepeatedSpeech(contenders)
        try measureLanguages(contenders)
    }

    private func measureNonSpeech(_ contenders: [Contender]) throws {
        var generator = NonSpeechSounds(seed: Self.seed)
        let sounds = generator.pieces().enumerated().filter { $0.offset % step == 0 }.map(\.element)
        let folder = "\(harness.folder)/soundless"
        try makeFolder(folder)
        let paths = try sounds.map { sound in
            let path = "\(folder)/\(Corpus.Item(path: sound.name, text: "").name).wav"
            try writeWave(sound.pcm, to: path)
            return path
        }
        var table = Table(
            "\(sounds.count) sounds without speech, seed \(generator.seed)", "text from transcribe", "%",
            "unclear in transcribe", "text without segmentation", "%")
        for contender in contenders {
            let transcripts = try harness.transcribe(paths, by: contender, into: "soundless-\(contender.name)")
                .transcripts
            var texts: [String] = []
            for (name, transcript) in transcripts.sorted(by: { $0.key < $1.key }) where !transcript.words.isEmpty {
                texts.append("\(contender.name), transcribe, \(name): \(transcript.text)")
            }
            let transcribedCount = texts.count
            let unclear = transcripts.filter { $0.value.unclearCount > 0 }.keys.sorted()
            if !unclear.isEmpty { print("\(contender.name), unclear: \(unclear.joined(separator: ", "))") }
            if let recognize = try contender.reader(in: harness) {
                for sound in sounds {
                    let words = try sound.pcm.withUnsafeBufferPointer { try recognize($0) }
                    guard !words.isEmpty else { continue }
                    texts.append(
                        "\(contender.name), without segmentation, \(sound.name): "
                            + words.map(\.text).joined(separator: " "))
                }
            }
            for text in texts { print(text) }
            func share(_ count: Int) -> String { formatted(100 * Double(count) / Double(max(1, sounds.count)), 1) }
            table.add([
                contender.name, "\(transcribedCount)", share(transcribedCount), "\(unclear.count)",
                "\(texts.count - transcribedCount)", share(texts.count - transcribedCount),
            ])
        }
        print("\n\(table.markdown)")
    }

    private func measureRoom(_ contenders: [Contender], minutes: Int) throws {
        var generator = NonSpeechSounds(seed: Self.seed)
        let path = "\(harness.folder)/room.wav"
        try writeWave(generator.room(seconds: max(1, minutes) * 60), to: path)
        for contender in contenders {
            let transcript = try harness.transcribe([path], by: contender, into: "room-\(contender.name)").transcripts[
                "room"]
            guard let transcript else { continue }
            print(
                "\(max(1, minutes)) minutes of room noise, \(contender.name): \(transcript.segments.count) segments, "
                    + "\(transcript.unclearCount) unclear, \(transcript.words.count) words: \(transcript.text)")
        }
        print("")
    }

    /// Counts lost speech: files for which `transcribe` writes no text; groups and utterances that the gate rejects.
    private func measureLostSpeech(_ contenders: [Contender]) throws {
        let files = try corpus.items.map { (name: $0.name, audio: try SegmentedAudio(path: $0.path)) }
        let groups = files.flatMap { file in file.audio.grouped.map { (name: file.name, input: $0) } }
        let utterances = files.flatMap { file in file.audio.utterances.map { (name: file.name, input: $0) } }
        var table = Table(
            "lost speech", "files without a word", "groups", "rejected", "%", "utterances recognized alone", "rejected",
            "%")
        for contender in contenders {
            let transcripts = try harness.transcribe(
                corpus.items.map(\.path), by: contender, into: "lost-\(contender.name)"
            ).transcripts
            let empty = corpus.items.filter { transcripts[$0.name]?.words.isEmpty ?? true }
            for item in empty { print("\(contender.name) recognized nothing in \(item.name): \(item.text)") }
            let rejectedText = try rejection(by: contender)
            let counts = try [groups, utterances].map { inputs in
                try inputs.count { file in
                    guard let text = try rejectedText(file.input) else { return false }
                    let seconds = formatted(Double(file.input.samples.count) / Double(SamplePosition.rate), 1)
                    print("\(contender.name) rejected \(seconds) s of \(file.name): \(text)")
                    return true
                }
            }
            func share(_ count: Int, _ all: Int) -> String { formatted(100 * Double(count) / Double(max(1, all)), 1) }
            table.add([
                contender.name, "\(empty.count) of \(corpus.items.count)", "\(groups.count)", "\(counts[0])",
                share(counts[0], groups.count), "\(utterances.count)", "\(counts[1])",
                share(counts[1], utterances.count),
            ])
        }
        print("\n\(table.markdown)")
    }

    /// Counts repeated speech that the gate rejects. People repeat themselves in dictation, in elicitation and on the
    /// radio; the gate must not mistake that for a loop of the network.
    private func measureRepeatedSpeech(_ contenders: [Contender]) throws {
        let pause = [Int16](repeating: 0, count: SamplePosition.rate / 2)
        let short = try corpus.items.map { (name: $0.name, samples: try SeamReport.samples($0.path)) }
            .filter { $0.samples.count < 6 * SamplePosition.rate }
        var table = Table(
            "repeated files, each shorter than 6 s", "times", "groups", "rejected", "%")
        for contender in contenders {
            let rejectedText = try rejection(by: contender)
            for times in 2...5 {
                let groups = short.flatMap { file in
                    SegmentedAudio(Array((0..<times).map { _ in file.samples + pause }.joined())).grouped
                        .map { (name: file.name, input: $0) }
                }
                let rejectedCount = try groups.count { file in
                    guard let text = try rejectedText(file.input) else { return false }
                    print("\(contender.name) rejected \(file.name), said \(times) times: \(text)")
                    return true
                }
                table.add([
                    contender.name, "\(times)", "\(groups.count)", "\(rejectedCount)",
                    formatted(100 * Double(rejectedCount) / Double(max(1, groups.count)), 1),
                ])
            }
        }
        print("\n\(table.markdown)")
    }

    /// Returns a function that recognizes audio and returns the rejected text; nil if nothing was rejected.
    private func rejection(by contender: Contender) throws -> (SegmentedAudio.RecognizerInput) throws -> String? {
        if contender.kind == .moonshine {
            let reader = try contender.moonshineReader(in: harness)
            return { input in
                let outcome = try input.samples.withUnsafeBufferPointer {
                    try reader.read($0, alternatives: 0, speech: input.speech)
                }
                return outcome.words.isEmpty ? outcome.gate?.text ?? "nothing" : nil
            }
        }
        let recognize = try contender.reader(in: harness)
        return { input in
            try input.samples.withUnsafeBufferPointer { try recognize?($0).isEmpty } == true ? "nothing" : nil
        }
    }

    private func measureLanguages(_ contenders: [Contender]) throws {
        var table = Table("language, espeak-ng sentences, contender", "without a word", "%", "of these, unclear")
        for (language, _) in OtherLanguages.texts {
            let items = try OtherLanguages(harness: harness).items(in: language)
            for contender in contenders {
                let transcripts = try harness.transcribe(
                    items.map(\.path), by: contender, into: "\(language)-\(contender.name)"
                ).transcripts
                let wordless = transcripts.values.filter { $0.words.isEmpty }
                for (name, transcript) in transcripts.sorted(by: { $0.key < $1.key }) where !transcript.words.isEmpty {
                    print("\(contender.name), \(name): \(transcript.text)")
                }
                table.add([
                    "\(language), \(items.count), \(contender.name)", "\(wordless.count)",
                    formatted(100 * Double(wordless.count) / Double(max(1, items.count)), 1),
                    "\(wordless.count { $0.unclearCount > 0 })",
                ])
            }
        }
        print("\n\(table.markdown)")
    }
}
