/// Speakers in folds of about the same size. No speaker is in two.
struct SpeakerFolds {
    /// The speakers of each fold, the largest first.
    let speakers: [[String]]
    private let places: [String: Int]

    /// Puts one speaker after another, the largest first, into the smallest fold.
    ///
    /// - Parameter sizes: the size of each speaker, such as the number of words.
    init(_ sizes: [String: Double], count: Int) {
        var speakers = [[String]](repeating: [], count: count)
        var filled = [Double](repeating: 0, count: count)
        for (speaker, size) in sizes.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            guard let smallest = filled.indices.min(by: { filled[$0] < filled[$1] }) else { continue }
            speakers[smallest].append(speaker)
            filled[smallest] += size
        }
        self.speakers = speakers
        places = Dictionary(
            speakers.enumerated().flatMap { fold, names in names.map { ($0, fold) } }, uniquingKeysWith: { $1 })
    }

    /// The fold of a speaker, from 0; nil for an unknown one.
    func fold(of speaker: String) -> Int? { places[speaker] }
}
