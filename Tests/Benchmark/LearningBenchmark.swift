import Core
import Recognition
import Settings
import System
import TestKit
import Transcripts

/// Measures what corrections gain: half of the speech is corrected from its reference, as with `fieldscribe import`,
/// and the other half is transcribed with and without the learned words.
struct LearningBenchmark {
    private struct Passage {
        /// `fit` or `judge`.
        var part: String
        var reference: [String]
        var recognized: [TranscriptFile.Word]
    }

    /// A passage with its start and end in the recording, in seconds.
    private typealias TimedPassage = (start: Double, end: Double, passage: Passage)

    let harness: Harness
    let corpus: Corpus

    func run(_ contenders: [Contender]) throws {
        for contender in contenders where !contender.isPeer && !contender.isSmallBoard {
            var table = Table(
                contender.name, "corrected words", "learned words", "their occurrences in the rest", "wrong before, %",
                "after, %", "other words wrong before, %", "after, %", "inserted before", "after")
            var fillerTable = Table(
                "\(contender.name), added names", "`fit`: other words wrong, %", "inserted",
                "`judge`: other words wrong, %", "inserted")
            try measureOpenSet(contender, &table, &fillerTable)
            try measureHour(contender, &table)
            print("\n\(table.markdown)\n\(fillerTable.markdown)")
        }
    }

    // MARK: The open set

    private func measureOpenSet(_ contender: Contender, _ table: inout Table, _ fillerTable: inout Table) throws {
        let plain = try harness.transcribe(
            corpus.items.map(\.path), by: contender, into: "learning-plain-\(contender.name)"
        ).transcripts
        var rows: [Int: [String]] = [:]
        let addedCounts = [0, 50, 100, 200]
        for part in Corpus.partNames {
            let (correctedItems, otherItems) = halves(corpus.part(part))
            let corrected = correctedItems.map { passage($0, part, plain) }
            let (file, words, count) = try learn(from: corrected, names: names(plain.values.flatMap(\.words)))
            let before = otherItems.map { passage($0, part, plain) }
            for added in addedCounts {
                let list = file + fillers(added, except: before + corrected)
                let name = "learning-\(part)-\(added)-\(contender.name)"
                let after = try harness.transcribe(
                    otherItems.map(\.path), by: contender, into: name, options: try options(list, name)
                ).transcripts
                let passages = otherItems.map { passage($0, part, after) }
                if added == 0 { table.add(row("open, `\(part)`", count, words, before, passages)) }
                let errors = errors(passages, words).others
                rows[added, default: []] += [
                    formatted(errors.percent, 1), "\(insertions(passages, wordsOfList(list)).count)",
                ]
                if added == addedCounts.last {
                    insertions(passages, wordsOfList(list)).forEach { print("inserted in \(part): \($0)") }
                }
            }
        }
        for added in addedCounts { fillerTable.add(["\(added)"] + (rows[added] ?? [])) }
    }

    /// Splits the files into the first half of each speaker's files, and the rest.
    private func halves(_ corpus: Corpus) -> (first: [Corpus.Item], rest: [Corpus.Item]) {
        let speakers = Dictionary(grouping: corpus.items) { item in String(item.name.prefix { $0 != "-" }) }
        let first = Set(speakers.values.flatMap { $0.prefix($0.count / 2).map(\.name) })
        return (corpus.items.filter { first.contains($0.name) }, corpus.items.filter { !first.contains($0.name) })
    }

    private func passage(_ item: Corpus.Item, _ part: String, _ transcripts: [String: TranscriptFile]) -> Passage {
        Passage(
            part: part, reference: WordErrorRate.normalized(item.text), recognized: transcripts[item.name]?.words ?? [])
    }

    // MARK: The field hour

    private func measureHour(_ contender: Contender, _ table: inout Table) throws {
        let (wave, times) = try HourBenchmark(harness: harness).makeHour()
        let spoken = try lines(times).dropFirst().compactMap { line -> TimedPassage? in
            let fields = line.split(separator: "\t").map(String.init)
            guard fields.count > 3, let start = Double(fields[0]), let end = Double(fields[1]) else { return nil }
            let name = Corpus.Item(path: fields[3], text: "").name
            return (
                start, end,
                Passage(
                    part: corpus.parts[name] ?? "fit", reference: WordErrorRate.normalized(fields[2]), recognized: [])
            )
        }
        func assignWords(of transcript: TranscriptFile) -> [TimedPassage] {
            var passages = spoken
            for word in transcript.words {
                let middle = (word.start + word.end) / 2
                // Each word belongs to the nearest passage.
                let nearest = passages.indices.min { left, right in
                    distance(middle, passages[left]) < distance(middle, passages[right])
                }
                if let nearest { passages[nearest].passage.recognized.append(word) }
            }
            return passages
        }
        func distance(_ time: Double, _ passage: TimedPassage) -> Double {
            max(0, passage.start - time, time - passage.end)
        }
        let name = "learning-hour-\(contender.name)"
        guard
            let plain = try harness.transcribe([wave], by: contender, jobs: 2, into: "\(name)-plain").transcripts[
                "field1h"]
        else { return }
        let half = plain.duration / 2
        let before = assignWords(of: plain)
        let (file, words, count) = try learn(
            from: before.filter { $0.end < half }.map(\.passage), names: names(plain.words))
        guard
            let after = try harness.transcribe(
                [wave], by: contender, jobs: 2, into: name, options: try options(file, name)
            ).transcripts["field1h"]
        else { return }
        let inSecondHalf = { (passages: [TimedPassage]) in
            passages.filter { $0.end >= half }.map(\.passage)
        }
        for part in Corpus.partNames {
            let inPart = { (passages: [Passage]) in passages.filter { $0.part == part } }
            table.add(
                row(
                    "field hour, `\(part)`", count, words, inPart(inSecondHalf(before)),
                    inPart(inSecondHalf(assignWords(of: after)))))
        }
    }

    // MARK: Learning

    /// Returns the `learned.txt` that results from corrections, its words, and the number of corrected words.
    private func learn(
        from passages: [Passage], names: Set<String>
    ) throws -> (file: String, words: Set<String>, count: Int) {
        var missed = MissedPhrases()
        var count = 0
        for passage in passages {
            let old = Segment(
                id: 1, range: SampleRange(.zero, SamplePosition(seconds: 60)),
                words: passage.recognized.map {
                    Word(
                        $0.text, SampleRange(SamplePosition(seconds: $0.start), SamplePosition(seconds: $0.end)),
                        confidence: $0.confidence)
                }, endedBy: .silence)
            let corrected = CorrectedSegment(old, words: corrected(passage, names: names))
            count += corrected.changes.reduce(0) { $0 + max($1.was.count, $1.now.count) }
            missed = missed + MissedPhrases(recognized: [old], corrected: [corrected.segment])
        }
        let dictionary = PocketSphinxModel(folder: PocketSphinxModel.debian).dictionary
        let phrases = try missed.worthLearning { (words) throws(DeviceError) in
            try Lexicon.known(words, inDictionary: dictionary)
        }
        var file = LearnedFile("")
        let added = file.add(
            phrases.map {
                LearnedFile.CorrectedPhrase(key: $0, text: $1.text, times: $1.times, recordings: [1], isNew: true)
            }, proposing: false)
        print("learned: \(added.joined(separator: ", "))")
        return (file.text, Set(added.flatMap(WordErrorRate.normalized)), count)
    }

    /// Returns the words after a person's corrections: correct words in the recognizer's spelling, and the reference
    /// for all others.
    private func corrected(_ passage: Passage, names: Set<String>) -> [String] {
        let recognized = passage.recognized.enumerated().flatMap { index, word in
            WordErrorRate.normalized(word.text).map { (word: index, text: $0) }
        }
        let steps = WordErrorRate.align(passage.reference, recognized.map(\.text))
        var correctCounts: [Int: Int] = [:]
        for case .same(_, let index) in steps { correctCounts[recognized[index].word, default: 0] += 1 }
        let sizes = Dictionary(grouping: recognized, by: \.word).mapValues(\.count)
        var words: [String] = []
        var last: Int?
        for step in steps {
            switch step {
            case .same(let reference, let index):
                let word = recognized[index].word
                if correctCounts[word] != sizes[word] {
                    words.append(capitalized(passage.reference[reference], names))
                } else if word != last {
                    words.append(passage.recognized[word].text)
                    last = word
                }
            case .substituted(let reference, _), .deleted(let reference):
                words.append(capitalized(passage.reference[reference], names))
            case .inserted: break
            }
        }
        return words
    }

    /// Returns a word of the reference, capitalized if it is a name.
    private func capitalized(_ word: String, _ names: Set<String>) -> String {
        names.contains(word) ? word.prefix(1).uppercased() + word.dropFirst() : word
    }

    /// Returns the words that the recognizer capitalized within a sentence, and the names that occur in the open set.
    private func names(_ words: [TranscriptFile.Word]) -> Set<String> {
        let capitalized = words.indices.dropFirst().filter { index in
            !words[index - 1].text.contains { ".?!:\"".contains($0) } && words[index].text.first?.isUppercase == true
        }
        return Set(capitalized.flatMap { WordErrorRate.normalized(words[$0].text) })
            .union(NamesBenchmark.spokenNames.flatMap(WordErrorRate.normalized))
            .subtracting(["i", "i'm", "i'll", "i've"])
    }

    /// Returns additional lines for `learned.txt`: words that do not occur in the passages, evenly spaced in the
    /// dictionary.
    private func fillers(_ count: Int, except passages: [Passage]) -> String {
        guard count > 0, let dictionary = try? lines(PocketSphinxModel(folder: PocketSphinxModel.debian).dictionary)
        else { return "" }
        let spoken = Set(passages.flatMap(\.reference))
        let words = dictionary.compactMap { $0.split(separator: " ").first.map(String.init) }.filter { word in
            word.count > 5 && word.allSatisfy { $0.isASCII && $0.isLetter } && !spoken.contains(word)
        }
        return (0..<count).map { index in
            let word = words[index * words.count / count]
            return "\(word.prefix(1).uppercased())\(word.dropFirst())  # 1 time, in 1\n"
        }.joined()
    }

    /// Returns the options with which `transcribe` uses a list as its learned words.
    private func options(_ list: String, _ name: String) throws -> [String] {
        let storage = "\(harness.folder)/\(name)-storage"
        try makeFolder(storage)
        try durableReplace(path: "\(storage)/\(LearnedFile.name)", with: list)
        let configuration = "\(storage)/fieldscribe.conf"
        try durableReplace(
            path: configuration, with: "[storage]\ndirectory = \(storage)\n[vocabulary]\nlearn = yes\n")
        return ["--config", configuration]
    }

    // MARK: Counting

    private func row(
        _ name: String, _ corrected: Int, _ words: Set<String>, _ before: [Passage], _ after: [Passage]
    ) -> [String] {
        let (errorsBefore, errorsAfter) = (errors(before, words), errors(after, words))
        return [
            name, "\(corrected)", "\(words.count)", "\(errorsBefore.listed.count)",
            formatted(errorsBefore.listed.percent, 1),
            formatted(errorsAfter.listed.percent, 1), formatted(errorsBefore.others.percent, 1),
            formatted(errorsAfter.others.percent, 1),
            "\(insertions(before, words).count)", "\(insertions(after, words).count)",
        ]
    }

    private func errors(_ passages: [Passage], _ words: Set<String>) -> ListedErrors {
        passages.reduce(into: ListedErrors()) { $0.add($1.reference, text($1), list: words) }
    }

    private func text(_ passage: Passage) -> [String] {
        WordErrorRate.normalized(passage.recognized.map(\.text).joined(separator: " "))
    }

    private func wordsOfList(_ file: String) -> Set<String> {
        Set(VocabularyFile(file).phrases.flatMap { WordErrorRate.normalized($0.words.joined(separator: " ")) })
    }

    /// Returns the recognized words that are in the list but were not spoken.
    private func insertions(_ passages: [Passage], _ words: Set<String>) -> [String] {
        passages.flatMap { passage in
            let recognized = text(passage)
            return WordErrorRate.align(passage.reference, recognized).compactMap { step in
                switch step {
                case .inserted(let index), .substituted(_, let index):
                    words.contains(recognized[index]) ? recognized[index] : nil
                case .same, .deleted: nil
                }
            }
        }
    }
}
