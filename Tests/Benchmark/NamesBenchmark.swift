import Core
import Platform
import TestKit

/// What a list of names does to those that people say in the open set, to the words around them, and how often one is put in that
/// nobody said.
struct NamesBenchmark {
    /// Names of the open set, as they are written.
    private static let said = [
        "Margaret", "Hale", "Thornton", "Helstone", "Allah", "Zau al Makan", "Nuzhat al Zaman", "Zarathustra",
        "Sherburn", "Puttel", "Polly", "Liddy", "Jamieson", "Warner", "Innes", "Netherlands", "Gutenberg",
        "Abigail Claflin", "Abbie", "Exhibition", "Bible", "Middle Ages", "Americans", "Chinese", "Sunday",
    ]

    /// Names that nobody says in it.
    private static let others = [
        "Ouedraogo", "Sawadogo", "Zongo", "Bintou", "Hamidou", "Koudougou", "Yatenga", "Ouagadougou", "Dioula", "Awa",
        "Traore", "Compaore", "Kabore", "Ilboudo", "Tapsoba", "Nikiema", "Sankara", "Bobo", "Banfora", "Tenkodogo",
        "Kaya", "Dori", "Djibo", "Fada", "Manga", "Gaoua", "Houndé", "Nouna", "Tougan", "Yako", "Abernathy", "Ackerman",
        "Albright", "Archibald", "Bancroft", "Barlow", "Beaumont", "Bellamy", "Blackwood", "Bramley", "Broderick",
        "Callahan", "Carmichael", "Chadwick", "Cordelia", "Crawford", "Cunningham", "Dempsey", "Donovan", "Drummond",
        "Eleanor", "Ellsworth", "Esmeralda", "Fairbanks", "Farquhar", "Fitzgerald", "Fleming", "Gallagher", "Garrison",
        "Gwendolyn", "Hathaway", "Hawthorne", "Hendricks", "Holloway", "Humphrey", "Isadora", "Jefferson", "Josephine",
        "Kensington", "Kirkpatrick", "Lancaster", "Leopold", "Lombardi", "MacAllister", "Madeleine", "Marlowe",
        "Maximilian", "McKenzie", "Montgomery", "Nathaniel", "Nightingale", "Octavia", "Pemberton", "Penelope",
        "Pickering", "Quincy", "Rafferty", "Rosalind", "Rutherford", "Sebastian", "Shackleton", "Sinclair", "Tiberius",
        "Underwood", "Valentina", "Vanderbilt", "Wellington", "Whitaker", "Winifred", "Zimmerman",
    ]

    private struct Count {
        var names = 0
        var namesWrong = 0
        var words = 0
        var wordsWrong = 0
        var falseNames: [String] = []
    }

    let workshop: Workshop
    let corpus: Corpus

    func run(_ contenders: [Contender]) throws {
        let list = "\(workshop.folder)/names.txt"
        try durableReplace(path: list, with: (Self.said + Self.others).joined(separator: "\n") + "\n")
        var table = Table(
            "\(Self.said.count) names of the files among \(Self.others.count) others", "said", "wrong, %",
            "with the list, %", "other words wrong, %", "with the list, %", "names put in", "with the list")
        for contender in contenders where !contender.isPeer && !contender.isSmallBoard {
            let paths = corpus.items.map(\.path)
            let plain = try workshop.transcribe(paths, by: contender, into: "names-plain-\(contender.name)").transcripts
            let raised = try workshop.transcribe(
                paths, by: contender, into: "names-raised-\(contender.name)", options: ["--vocabulary", list]
            ).transcripts
            let (before, after) = (count(plain), count(raised))
            table.add([
                contender.name, "\(before.names)", percent(before.namesWrong, before.names),
                percent(after.namesWrong, after.names), percent(before.wordsWrong, before.words),
                percent(after.wordsWrong, after.words), "\(before.falseNames.count)", "\(after.falseNames.count)",
            ])
            for name in after.falseNames { print("\(contender.name) put in: \(name)") }
        }
        print("\n\(table.markdown)")
    }

    private func percent(_ part: Int, _ all: Int) -> String { shown(100 * Double(part) / Double(max(1, all)), 1) }

    /// Errors on words of names and on others; what is put in counts to the others, and as a false name where it is one.
    private func count(_ transcripts: [String: TranscriptFile]) -> Count {
        let names = Set(Self.said.flatMap(WordErrorRate.normalized))
        let listed = names.union(Self.others.flatMap(WordErrorRate.normalized))
        var count = Count()
        for item in corpus.items {
            let reference = WordErrorRate.normalized(item.text)
            let written = WordErrorRate.normalized(transcripts[item.name]?.text ?? "")
            for step in WordErrorRate.align(reference, written) {
                switch step {
                case .same(let word, _):
                    if names.contains(reference[word]) { count.names += 1 } else { count.words += 1 }
                case .deleted(let word), .substituted(let word, _):
                    if names.contains(reference[word]) {
                        count.names += 1
                        count.namesWrong += 1
                    } else {
                        count.words += 1
                        count.wordsWrong += 1
                    }
                case .inserted: count.wordsWrong += 1
                }
                switch step {
                case .inserted(let index), .substituted(_, let index):
                    if listed.contains(written[index]) { count.falseNames.append("\(written[index]) in \(item.name)") }
                default: break
                }
            }
        }
        return count
    }
}
