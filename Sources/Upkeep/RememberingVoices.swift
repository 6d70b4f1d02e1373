import Configuration
import Core
import Equipment
import Recording

/// Where `speakers.remember` asks for it: learns the voices of people whom somebody has named, and proposes these names in later
/// recordings. It never names anybody itself.
package struct RememberingVoices: Sendable {
    /// Of each person so much is listened to, in seconds: the longest turns.
    private static let most = 60.0

    private let configuration: Configuration
    private let archive: any ArchiveUpkeep
    private let telling: SpeakerTelling
    private var storage: String { configuration.storage.directory }

    /// - Parameter telling: looks at the voices; nil: with the model that the configuration names.
    package init(configuration: Configuration, archive: any ArchiveUpkeep, telling: SpeakerTelling? = nil) {
        self.configuration = configuration
        self.archive = archive
        self.telling = telling ?? SpeakerTelling(configuration)
    }

    /// Looks at each recording whose people were told apart, once for each reading of it.
    ///
    /// - Returns: the recordings in which names are proposed now.
    /// - Throws: `CancellationError`; `DeviceError` where the model or the file cannot be used.
    @discardableResult
    package func run() async throws -> [Int] {
        guard configuration.speakers.remember, configuration.recognizer.speakers != .no else { return [] }
        var known = try RememberedVoices(in: storage)
        let recordings = try await archive.recordings()
        let there = Set(recordings.filter { !$0.isSealed }.map(\.id))
        let before = known
        known.drop { !there.contains($0) }
        if known != before { try known.save(in: storage) }
        var proposed: [Int] = []
        for recording in recordings.sorted(by: { $0.id < $1.id })
        where recording.id > known.after && there.contains(recording.id) && !recording.isMissing {
            try Task.checkCancellation()
            guard let pass = try await archive.shownPass(of: recording.id), known.looked[recording.id] != pass.id,
                let timeline = try await archive.transcript(of: recording.id)?.1, let speakers = timeline.speakers,
                speakers.count > 0
            else { continue }
            let names = timeline.annotations?.speakers ?? [:]
            // Where nobody was named yet, there is nothing to learn and nobody to propose.
            let isNeeded = !names.isEmpty || known.voices.contains { $0.recording != recording.id }
            var voices: [[Float]] = []
            if isNeeded {
                try telling.check()
                let path = RecordingFolder(storage: storage, recording: recording.id).audio
                voices = try await telling.voices(in: path, of: Self.longest(speakers))
            }
            // Read again: somebody may have had all of it forgotten meanwhile.
            let now = try RememberedVoices(in: storage)
            guard now.after == known.after else { return proposed }
            known = now
            known.learn(voices, names: names, recording: recording.id, pass: pass.id)
            try known.save(in: storage)
            if known.proposals[recording.id] != nil { proposed.append(recording.id) }
        }
        return proposed
    }

    /// Each person's longest turns, where nobody else speaks.
    static func longest(_ speakers: Speakers) -> Speakers {
        var turns: [Speakers.Turn] = []
        for speaker in 0..<speakers.count {
            var left = most
            let own = speakers.without(speakers.alongside.map(\.range)).turns.filter { $0.speaker == speaker }
            for turn in own.sorted(by: { $0.range.seconds > $1.range.seconds }) where left > 0 {
                turns.append(turn)
                left -= turn.range.seconds
            }
        }
        return Speakers(turns: turns)
    }
}
