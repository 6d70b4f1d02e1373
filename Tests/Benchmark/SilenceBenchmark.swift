import Core
import Recognition
import System
import TestKit

/// Measures the text recognized in sound without speech and in other languages, and the speech that the gate rejects.
struct SilenceBenchmark {
    static let seed: UInt64 = 7

    let workshop: Workshop
    let corpus: Corpus
    /// The step between measured pieces.
    var step = 1

    func run(_ contenders: [Contender]) throws {
        let contenders = contenders.filter { !$0.isPeer && !$0.isSmallBoard }
        try soundless(contenders)
        try room(contenders, minutes: 60 / step)
        try lost(contenders)
        try repeated(contenders)
        try languages(contenders)
    }

    private func soundless(_ contenders: [Contender]) throws {
        var soundless = Soundless(seed: Self.seed)
        let pieces = soundless.pieces().enumerated().filter { $0.offset % step == 0 }.map(\.element)
        let folder = "\(workshop.folder)/soundless"
        try makeFolder(folder)
        let paths = try pieces.map { piece in
            let path = "\(folder)/\(Corpus.Item(path: piece.name, text: "").name).wav"
            try writeWave(piece.pcm, to: path)
            return path
        }
        var table = Table(
            "\(pieces.count) pieces without speech, seed \(soundless.seed)", "text, by transcribe", "%",
            "unclear, by transcribe", "text, read directly", "%")
        for contender in contenders {
            let transcripts = try workshop.transcribe(paths, by: contender, into: "soundless-\(contender.name)")
                .transcripts
            var texts: [String] = []
            for (name, transcript) in transcripts.sorted(by: { $0.key < $1.key }) where !transcript.words.isEmpty {
                texts.append("\(contender.name), by transcribe, \(name): \(transcript.text)")
            }
            let written = texts.count
            let unclear = transcripts.filter { $0.value.unclear > 0 }.keys.sorted()
            if !unclear.isEmpty { print("\(contender.name), unclear: \(unclear.joined(separator: ", "))") }
            if let read = try contender.reader(in: workshop) {
                for piece in pieces {
                    let words = try piece.pcm.withUnsafeBufferPointer { try read($0) }
                    guard !words.isEmpty else { continue }
                    texts.append(
                        "\(contender.name), directly, \(piece.name): \(words.map(\.text).joined(separator: " "))")
                }
            }
            for text in texts { print(text) }
            func share(_ count: Int) -> String { shown(100 * Double(count) / Double(max(1, pieces.count)), 1) }
            table.add([
                contender.name, "\(written)", share(written), "\(unclear.count)", "\(texts.count - written)",
                share(texts.count - written),
            ])
        }
        print("\n\(table.markdown)")
    }

    private func room(_ contenders: [Contender], minutes: Int) throws {
        var soundless = Soundless(seed: Self.seed)
        let path = "\(workshop.folder)/room.wav"
        try writeWave(soundless.room(seconds: max(1, minutes) * 60), to: path)
        for contender in contenders {
            let room = try workshop.transcribe([path], by: contender, into: "room-\(contender.name)").transcripts[
                "room"]
            print(
                "\(max(1, minutes)) minutes of a room, \(contender.name): \(room?.segments.count ?? 0) segments, "
                    + "\(room?.unclear ?? 0) unclear, \(room?.words.count ?? 0) words: \(room?.text ?? "")")
        }
        print("")
    }

    /// Counts lost speech: files without text from `transcribe`, and groups and single utterances that the gate holds
    /// back.
    private func lost(_ contenders: [Contender]) throws {
        let pieces = try corpus.items.map { (name: $0.name, pieces: try SpeechPieces(path: $0.path)) }
        let groups = pieces.flatMap { file in file.pieces.grouped.map { (name: file.name, piece: $0) } }
        let alone = pieces.flatMap { file in file.pieces.utterances.map { (name: file.name, piece: $0) } }
        var table = Table(
            "speech that was lost", "files without a word", "of groups", "held back", "%",
            "of utterances read alone", "held back", "%")
        for contender in contenders {
            let transcripts = try workshop.transcribe(
                corpus.items.map(\.path), by: contender, into: "lost-\(contender.name)"
            ).transcripts
            let empty = corpus.items.filter { transcripts[$0.name]?.words.isEmpty ?? true }
            for item in empty { print("\(contender.name) has no word of \(item.name): \(item.text)") }
            let read = try gated(contender)
            let counts = try [groups, alone].map { pieces in
                try pieces.count { file in
                    guard let text = try read(file.piece) else { return false }
                    let seconds = shown(Double(file.piece.samples.count) / Double(SamplePosition.rate), 1)
                    print("\(contender.name) holds back, of \(file.name), \(seconds) s: \(text)")
                    return true
                }
            }
            func share(_ count: Int, _ all: Int) -> String { shown(100 * Double(count) / Double(max(1, all)), 1) }
            table.add([
                contender.name, "\(empty.count) of \(corpus.items.count)", "\(groups.count)", "\(counts[0])",
                share(counts[0], groups.count), "\(alone.count)", "\(counts[1])", share(counts[1], alone.count),
            ])
        }
        print("\n\(table.markdown)")
    }

    /// Counts repeated speech that the gate holds back. People repeat themselves in dictation, elicitation and by
    /// radio; the gate must not take that for a loop of the network.
    private func repeated(_ contenders: [Contender]) throws {
        let pause = [Int16](repeating: 0, count: SamplePosition.rate / 2)
        let short = try corpus.items.map { (name: $0.name, samples: try SeamReport.samples($0.path)) }
            .filter { $0.samples.count < 6 * SamplePosition.rate }
        var table = Table(
            "speech of less than 6 s, said again", "times", "groups", "held back", "%")
        for contender in contenders {
            let read = try gated(contender)
            for times in 2...5 {
                let groups = short.flatMap { file in
                    SpeechPieces(Array((0..<times).map { _ in file.samples + pause }.joined())).grouped
                        .map { (name: file.name, piece: $0) }
                }
                let lost = try groups.count { file in
                    guard let text = try read(file.piece) else { return false }
                    print("\(contender.name) holds back, of \(file.name) said \(times) times: \(text)")
                    return true
                }
                table.add([
                    contender.name, "\(times)", "\(groups.count)", "\(lost)",
                    shown(100 * Double(lost) / Double(max(1, groups.count)), 1),
                ])
            }
        }
        print("\n\(table.markdown)")
    }

    /// Transcribes a piece; returns its text if the gate held it back, nil if it was written.
    private func gated(_ contender: Contender) throws -> (SpeechPieces.Piece) throws -> String? {
        if contender.kind == .moonshine {
            let reader = try contender.moonshineReader(in: workshop)
            return { piece in
                let outcome = try piece.samples.withUnsafeBufferPointer {
                    try reader.read($0, alternatives: 0, speech: piece.speech)
                }
                return outcome.words.isEmpty ? outcome.gate?.text ?? "nothing" : nil
            }
        }
        let read = try contender.reader(in: workshop)
        return { piece in
            try piece.samples.withUnsafeBufferPointer { try read?($0).isEmpty } == true ? "nothing" : nil
        }
    }

    private func languages(_ contenders: [Contender]) throws {
        var table = Table("sentences by espeak-ng, in", "without a word", "%", "of these unclear")
        for (language, _) in OtherLanguages.texts {
            let items = try OtherLanguages(workshop: workshop).items(in: language)
            for contender in contenders {
                let transcripts = try workshop.transcribe(
                    items.map(\.path), by: contender, into: "\(language)-\(contender.name)"
                ).transcripts
                let flagged = transcripts.values.filter { $0.words.isEmpty }
                for (name, transcript) in transcripts.sorted(by: { $0.key < $1.key }) where !transcript.words.isEmpty {
                    print("\(contender.name), \(name): \(transcript.text)")
                }
                table.add([
                    "\(language), \(items.count), \(contender.name)", "\(flagged.count)",
                    shown(100 * Double(flagged.count) / Double(max(1, items.count)), 1),
                    "\(flagged.count { $0.unclear > 0 })",
                ])
            }
        }
        print("\n\(table.markdown)")
    }
}
