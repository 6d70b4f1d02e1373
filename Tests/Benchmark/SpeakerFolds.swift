/// Speakers, divided into folds of about the same size. Each speaker is in one fold only.
struct SpeakerFolds {
    /// The speakers of each fold, in order of decreasing size.
    let speakers: [[String]]
    private let foldsBySpeaker: [String: Int]

    /// Assigns the speakers in order of decreasing size, each to the fold that is the smallest so far.
    ///
    /// - Parameter sizes: the size of each speaker, such as the number of words.
    init(_ sizes: [String: Double], count: Int) {
        var speakers = [[String]](repeating: [], count: count)
        var foldSizes = [Double](repeating: 0, count: count)
        for (speaker, size) in sizes.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            guard let smallest = foldSizes.indices.min(by: { foldSizes[$0] < foldSizes[$1] }) else { continue }
            speakers[smallest].append(speaker)
            foldSizes[smallest] += size
        }
        self.speakers = speakers
        foldsBySpeaker = Dictionary(
            speakers.enumerated().flatMap { fold, names in names.map { ($0, fold) } }, uniquingKeysWith: { $1 })
    }

    /// Returns the index of a speaker's fold; nil if the speaker is unknown.
    func fold(of speaker: String) -> Int? { foldsBySpeaker[speaker] }
}
