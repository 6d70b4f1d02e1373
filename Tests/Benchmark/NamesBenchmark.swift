import Core
import System
import TestKit

/// The effect of a list of names on spoken names in the open set and on the words around them, and how often a name is inserted
/// that nobody said.
struct NamesBenchmark {
    /// Names of the open set, as they are written.
    static let said = [
        "Margaret", "Hale", "Thornton", "Helstone", "Allah", "Zau al Makan", "Nuzhat al Zaman", "Zarathustra",
        "Sherburn", "Puttel", "Polly", "Liddy", "Jamieson", "Warner", "Innes", "Netherlands", "Gutenberg",
        "Abigail Claflin", "Abbie", "Exhibition", "Bible", "Middle Ages", "Americans", "Chinese", "Sunday",
    ]

    /// Names that nobody says in the open set.
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

    let workshop: Workshop
    let corpus: Corpus

    /// Writes all names as a vocabulary; returns its path.
    static func writeList(in folder: String) throws -> String {
        let list = "\(folder)/names.txt"
        try durableReplace(path: list, with: (said + others).joined(separator: "\n") + "\n")
        return list
    }

    func run(_ contenders: [Contender]) throws {
        let list = try Self.writeList(in: workshop.folder)
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
                contender.name, "\(before.errors.listed.said)", shown(before.errors.listed.percent, 1),
                shown(after.errors.listed.percent, 1), shown(before.errors.others.percent, 1),
                shown(after.errors.others.percent, 1), "\(before.putIn.count)", "\(after.putIn.count)",
            ])
            for name in after.putIn { print("\(contender.name) put in: \(name)") }
        }
        print("\n\(table.markdown)")
    }

    /// Returns the errors on words of names and on others, and the names that were inserted or replaced another word.
    private func count(_ transcripts: [String: TranscriptFile]) -> (errors: ListedErrors, putIn: [String]) {
        let names = Set(Self.said.flatMap(WordErrorRate.normalized))
        let listed = names.union(Self.others.flatMap(WordErrorRate.normalized))
        var errors = ListedErrors()
        var putIn: [String] = []
        for item in corpus.items {
            let reference = WordErrorRate.normalized(item.text)
            let written = WordErrorRate.normalized(transcripts[item.name]?.text ?? "")
            errors.add(reference, written, list: names)
            for step in WordErrorRate.align(reference, written) {
                switch step {
                case .inserted(let index), .substituted(_, let index):
                    if listed.contains(written[index]) { putIn.append("\(written[index]) in \(item.name)") }
                case .same, .deleted: break
                }
            }
        }
        return (errors, putIn)
    }
}
