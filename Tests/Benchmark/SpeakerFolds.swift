/// Speakers, divided into folds of about the same size. Each speaker is in one fold only.
struct SpeakerFolds {
    /// The speakers of each fold, those with the largest size first.
    let speakers: [[String]]
    private let foldsBySpeaker: [String: Int]

    /// Assigns each speaker to the smallest fold so far, starting with the largest speaker.
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
        foldsBySpeaker = Dictionary(
            speakers.enumerated().flatMap { fold, names in names.map { ($0, fold) } }, uniquingKeysWith: { $1 })
    }

    /// Returns the index of a speaker's fold; nil if the speaker is unknown.
    func fold(of speaker: String) -> Int? { foldsBySpeaker[speaker] }
}
