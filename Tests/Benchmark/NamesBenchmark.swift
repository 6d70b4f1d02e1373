import Core
import System
import TestKit

/// Measures the effect of a list of names on the names spoken in the open set and on the words around them, and counts
/// inserted names.
struct NamesBenchmark {
    /// Names that occur in the open set.
    static let spokenNames = [
        "Margaret", "Hale", "Thornton", "Helstone", "Allah", "Zau al Makan", "Nuzhat al Zaman", "Zarathustra",
        "Sherburn", "Puttel", "Polly", "Liddy", "Jamieson", "Warner", "Innes", "Netherlands", "Gutenberg",
        "Abigail Claflin", "Abbie", "Exhibition", "Bible", "Middle Ages", "Americans", "Chinese", "Sunday",
    ]

    /// Names that do not occur in the open set.
    private static let unspokenNames = [
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

    let harness: Harness
    let corpus: Corpus

    /// Writes all names to a vocabulary file; returns its path.
    static func writeList(in folder: String) throws -> String {
        let list = "\(folder)/names.txt"
        try durableReplace(path: list, with: (spokenNames + unspokenNames).joined(separator: "\n") + "\n")
        return list
    }

    func run(_ contenders: [Contender]) throws {
        let list = try Self.writeList(in: harness.folder)
        var table = Table(
            "\(Self.spokenNames.count) spoken names among \(Self.unspokenNames.count) others", "occurrences",
            "wrong, %",
            "with the list, %", "other words wrong, %", "with the list, %", "inserted names", "with the list")
        for contender in contenders where !contender.isPeer && !contender.isSmallBoard {
            let paths = corpus.items.map(\.path)
            let plain = try harness.transcribe(paths, by: contender, into: "names-plain-\(contender.name)").transcripts
            let boosted = try harness.transcribe(
                paths, by: contender, into: "names-raised-\(contender.name)", options: ["--vocabulary", list]
            ).transcripts
            let (withoutList, withList) = (count(plain), count(boosted))
            table.add([
                contender.name, "\(withoutList.errors.listed.count)", formatted(withoutList.errors.listed.percent, 1),
                formatted(withList.errors.listed.percent, 1), formatted(withoutList.errors.others.percent, 1),
                formatted(withList.errors.others.percent, 1), "\(withoutList.insertions.count)",
                "\(withList.insertions.count)",
            ])
            for name in withList.insertions { print("\(contender.name) inserted \(name)") }
        }
        print("\n\(table.markdown)")
    }

    /// Returns the errors on words of spoken names and on other words, and the listed names that were recognized
    /// although another word or nothing was spoken.
    private func count(_ transcripts: [String: TranscriptFile]) -> (errors: ListedErrors, insertions: [String]) {
        let names = Set(Self.spokenNames.flatMap(WordErrorRate.normalized))
        let listedNames = names.union(Self.unspokenNames.flatMap(WordErrorRate.normalized))
        var errors = ListedErrors()
        var insertions: [String] = []
        for item in corpus.items {
            let reference = WordErrorRate.normalized(item.text)
            let recognized = WordErrorRate.normalized(transcripts[item.name]?.text ?? "")
            errors.add(reference, recognized, list: names)
            for step in WordErrorRate.align(reference, recognized) {
                switch step {
                case .inserted(let index), .substituted(_, let index):
                    if listedNames.contains(recognized[index]) {
                        insertions.append("\(recognized[index]) in \(item.name)")
                    }
                case .same, .deleted: break
                }
            }
        }
        return (errors, insertions)
    }
}
