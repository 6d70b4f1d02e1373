import Core
import Recognition
import Settings
import System
import TestKit
import Transcripts

/// The gain of corrections: half of the speech is corrected by its reference, as by `fieldscribe import`, and the other half is
/// transcribed without and with the learned words.
struct LearningBenchmark {
    private struct Passage {
        var part: String
        var reference: [String]
        var read: [TranscriptFile.Word]
    }

    let workshop: Workshop
    let corpus: Corpus

    func run(_ contenders: [Contender]) throws {
        for contender in contenders where !contender.isPeer && !contender.isSmallBoard {
            var table = Table(
                contender.name, "corrected words", "learned", "of these said in the rest", "wrong before, %",
                "after, %", "other words wrong before, %", "after, %", "put in before", "after")
            var padded = Table(
                "\(contender.name), other names in the list", "`fit`: other words wrong, %", "put in",
                "`judge`: other words wrong, %", "put in")
            try open(contender, &table, &padded)
            try hour(contender, &table)
            print("\n\(table.markdown)\n\(padded.markdown)")
        }
    }

    // MARK: The open set

    private func open(_ contender: Contender, _ table: inout Table, _ padded: inout Table) throws {
        let plain = try workshop.transcribe(
            corpus.items.map(\.path), by: contender, into: "learning-plain-\(contender.name)"
        ).transcripts
        var rows: [Int: [String]] = [:]
        let counts = [0, 50, 100, 200]
        for part in Corpus.partNames {
            let (first, rest) = halves(corpus.part(part))
            let corrected = first.map { passage($0, part, plain) }
            let (file, words, count) = try learned(corrected, names: names(plain.values.flatMap(\.words)))
            let before = rest.map { passage($0, part, plain) }
            for added in counts {
                let list = file + fillers(added, except: before + corrected)
                let name = "learning-\(part)-\(added)-\(contender.name)"
                let after = try workshop.transcribe(
                    rest.map(\.path), by: contender, into: name, options: try options(list, name)
                ).transcripts
                let read = rest.map { passage($0, part, after) }
                if added == 0 { table.add(row("open, `\(part)`", count, words, before, read)) }
                let errors = errors(read, words).others
                rows[added, default: []] += [shown(errors.percent, 1), "\(putIn(read, listed(list)).count)"]
                if added == counts.last { putIn(read, listed(list)).forEach { print("put in, of \(part): \($0)") } }
            }
        }
        for added in counts { padded.add(["\(added)"] + (rows[added] ?? [])) }
    }

    /// Splits the files into the first half of each speaker's, and the others.
    private func halves(_ corpus: Corpus) -> (first: [Corpus.Item], rest: [Corpus.Item]) {
        let speakers = Dictionary(grouping: corpus.items) { item in String(item.name.prefix { $0 != "-" }) }
        let first = Set(speakers.values.flatMap { $0.prefix($0.count / 2).map(\.name) })
        return (corpus.items.filter { first.contains($0.name) }, corpus.items.filter { !first.contains($0.name) })
    }

    private func passage(_ item: Corpus.Item, _ part: String, _ transcripts: [String: TranscriptFile]) -> Passage {
        Passage(
            part: part, reference: WordErrorRate.normalized(item.text), read: transcripts[item.name]?.words ?? [])
    }

    // MARK: The field hour

    private func hour(_ contender: Contender, _ table: inout Table) throws {
        let (wave, times) = try HourBenchmark(workshop: workshop).makeHour()
        let spoken = try lines(times).dropFirst().compactMap { line -> (start: Double, end: Double, Passage)? in
            let fields = line.split(separator: "\t").map(String.init)
            guard fields.count > 3, let start = Double(fields[0]), let end = Double(fields[1]) else { return nil }
            let name = Corpus.Item(path: fields[3], text: "").name
            return (
                start, end,
                Passage(
                    part: corpus.parts[name] ?? "fit", reference: WordErrorRate.normalized(fields[2]), read: [])
            )
        }
        func read(_ transcript: TranscriptFile) -> [(start: Double, end: Double, Passage)] {
            var passages = spoken
            for word in transcript.words {
                let middle = (word.start + word.end) / 2
                // Each word belongs to the nearest passage.
                let nearest = passages.indices.min { left, right in
                    distance(middle, passages[left]) < distance(middle, passages[right])
                }
                if let nearest { passages[nearest].2.read.append(word) }
            }
            return passages
        }
        func distance(_ time: Double, _ passage: (start: Double, end: Double, Passage)) -> Double {
            max(0, passage.start - time, time - passage.end)
        }
        let name = "learning-hour-\(contender.name)"
        guard
            let plain = try workshop.transcribe([wave], by: contender, jobs: 2, into: "\(name)-plain").transcripts[
                "field1h"]
        else { return }
        let half = plain.duration / 2
        let before = read(plain)
        let (file, words, count) = try learned(
            before.filter { $0.end < half }.map(\.2), names: names(plain.words))
        guard
            let after = try workshop.transcribe(
                [wave], by: contender, jobs: 2, into: name, options: try options(file, name)
            ).transcripts["field1h"]
        else { return }
        let rest = { (passages: [(start: Double, end: Double, Passage)]) in
            passages.filter { $0.end >= half }.map(\.2)
        }
        for part in Corpus.partNames {
            let of = { (passages: [Passage]) in passages.filter { $0.part == part } }
            table.add(row("field hour, `\(part)`", count, words, of(rest(before)), of(rest(read(after)))))
        }
    }

    // MARK: Learning

    /// Returns the `learned.txt` that results from corrections, its words, and the number of corrected words.
    private func learned(
        _ passages: [Passage], names: Set<String>
    ) throws -> (file: String, words: Set<String>, count: Int) {
        var missed = MissedPhrases()
        var count = 0
        for passage in passages {
            let old = Segment(
                id: 1, range: SampleRange(.zero, SamplePosition(seconds: 60)),
                words: passage.read.map {
                    Word(
                        $0.text, SampleRange(SamplePosition(seconds: $0.start), SamplePosition(seconds: $0.end)),
                        confidence: $0.confidence)
                }, endedBy: .silence)
            let corrected = CorrectedSegment(old, words: corrected(passage, names: names))
            count += corrected.changes.reduce(0) { $0 + max($1.was.count, $1.now.count) }
            missed = missed + MissedPhrases(heard: [old], corrected: [corrected.segment])
        }
        let dictionary = PocketSphinxModel(folder: PocketSphinxModel.debian).dictionary
        let worth = try missed.worthLearning { (words) throws(DeviceError) in
            try Lexicon.known(words, inDictionary: dictionary)
        }
        var file = LearnedFile("")
        let added = file.add(
            worth.map {
                LearnedFile.Found(key: $0, text: $1.text, times: $1.times, recordings: [1], isNew: true)
            }, proposing: false)
        print("learned: \(added.joined(separator: ", "))")
        return (file.text, Set(added.flatMap(WordErrorRate.normalized)), count)
    }

    /// Returns the text after a person's corrections: right words in the recognizer's spelling, otherwise the
    /// reference.
    private func corrected(_ passage: Passage, names: Set<String>) -> [String] {
        let read = passage.read.enumerated().flatMap { index, word in
            WordErrorRate.normalized(word.text).map { (word: index, text: $0) }
        }
        let steps = WordErrorRate.align(passage.reference, read.map(\.text))
        var same: [Int: Int] = [:]
        for case .same(_, let index) in steps { same[read[index].word, default: 0] += 1 }
        let sizes = Dictionary(grouping: read, by: \.word).mapValues(\.count)
        var words: [String] = []
        var last: Int?
        for step in steps {
            switch step {
            case .same(let reference, let index):
                let word = read[index].word
                if same[word] != sizes[word] {
                    words.append(written(passage.reference[reference], names))
                } else if word != last {
                    words.append(passage.read[word].text)
                    last = word
                }
            case .substituted(let reference, _), .deleted(let reference):
                words.append(written(passage.reference[reference], names))
            case .inserted: break
            }
        }
        return words
    }

    /// References have no capitals; a person would write them.
    private func written(_ word: String, _ names: Set<String>) -> String {
        names.contains(word) ? word.prefix(1).uppercased() + word.dropFirst() : word
    }

    /// Returns words that the recognizer writes with a capital within a sentence, and the names of the open set.
    private func names(_ words: [TranscriptFile.Word]) -> Set<String> {
        let within = words.indices.dropFirst().filter { index in
            !words[index - 1].text.contains { ".?!:\"".contains($0) } && words[index].text.first?.isUppercase == true
        }
        return Set(within.flatMap { WordErrorRate.normalized(words[$0].text) })
            .union(NamesBenchmark.said.flatMap(WordErrorRate.normalized)).subtracting(["i", "i'm", "i'll", "i've"])
    }

    /// Returns names that nobody says, evenly spaced in the dictionary, as additional lines of `learned.txt`.
    private func fillers(_ count: Int, except passages: [Passage]) -> String {
        guard count > 0, let dictionary = try? lines(PocketSphinxModel(folder: PocketSphinxModel.debian).dictionary)
        else { return "" }
        let said = Set(passages.flatMap(\.reference))
        let words = dictionary.compactMap { $0.split(separator: " ").first.map(String.init) }.filter { word in
            word.count > 5 && word.allSatisfy { $0.isASCII && $0.isLetter } && !said.contains(word)
        }
        return (0..<count).map { index in
            let word = words[index * words.count / count]
            return "\(word.prefix(1).uppercased())\(word.dropFirst())  # 1 time, in 1\n"
        }.joined()
    }

    /// Returns the options that make `transcribe` use a list as learned words.
    private func options(_ list: String, _ name: String) throws -> [String] {
        let storage = "\(workshop.folder)/\(name)-storage"
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
        let (first, second) = (errors(before, words), errors(after, words))
        return [
            name, "\(corrected)", "\(words.count)", "\(first.listed.said)", shown(first.listed.percent, 1),
            shown(second.listed.percent, 1), shown(first.others.percent, 1), shown(second.others.percent, 1),
            "\(putIn(before, words).count)", "\(putIn(after, words).count)",
        ]
    }

    private func errors(_ passages: [Passage], _ words: Set<String>) -> ListedErrors {
        passages.reduce(into: ListedErrors()) { $0.add($1.reference, text($1), list: words) }
    }

    private func text(_ passage: Passage) -> [String] {
        WordErrorRate.normalized(passage.read.map(\.text).joined(separator: " "))
    }

    private func listed(_ file: String) -> Set<String> {
        Set(VocabularyFile(file).phrases.flatMap { WordErrorRate.normalized($0.words.joined(separator: " ")) })
    }

    /// Returns words of the list that were written although nobody says them.
    private func putIn(_ passages: [Passage], _ words: Set<String>) -> [String] {
        passages.flatMap { passage in
            let read = text(passage)
            return WordErrorRate.align(passage.reference, read).compactMap { step in
                switch step {
                case .inserted(let index), .substituted(_, let index): words.contains(read[index]) ? read[index] : nil
                case .same, .deleted: nil
                }
            }
        }
    }
}
