import Audio
import Core
import Settings

/// Where `speakers.remember` asks for it: learns the voices of people whom somebody has named, and proposes these names in later
/// recordings. It never names anybody itself.
struct VoiceprintJob: Sendable {
    /// Of each person so much is listened to, in seconds: the longest turns.
    private static let most = 60.0

    private let configuration: Configuration
    private let archive: any ArchiveMaintenance
    private let telling: DiarizationProcess
    private var storage: String { configuration.storage.directory }

    /// - Parameter telling: looks at the voices; nil: with the model that the configuration names.
    init(configuration: Configuration, archive: any ArchiveMaintenance, telling: DiarizationProcess? = nil) {
        self.configuration = configuration
        self.archive = archive
        self.telling = telling ?? DiarizationProcess(configuration)
    }

    /// Looks at each recording whose people were told apart, once for each reading of it; where somebody has no name, again when there are new
    /// names.
    ///
    /// - Returns: the recordings in which other names are proposed now.
    /// - Throws: `CancellationError`; `DeviceError` where the model or the file cannot be used.
    @discardableResult
    func run() async throws -> [Int] {
        guard configuration.speakers.remember, configuration.recognizer.speakers != .no else { return [] }
        var known = try VoiceprintStore(in: storage)
        let recordings = try await archive.recordings().sorted { $0.id < $1.id }
        let before = known
        // What a sealed one has left stays; nobody can hear it again.
        let there = Set(recordings.map(\.id))
        known.drop { !there.contains($0) }
        if known != before { try known.save(in: storage) }
        var heard: [PassSummary] = []
        for recording in recordings where !recording.isSealed && !recording.isMissing && recording.id > known.after {
            if let pass = try await archive.shownPass(of: recording.id) { heard.append(pass) }
        }
        // Those with names first: whom they name may speak in an earlier one, too.
        for isNaming in [true, false] {
            for pass in heard {
                try Task.checkCancellation()
                try await look(at: pass, isNaming: isNaming, &known)
            }
        }
        return known.proposals.keys.filter { known.proposals[$0] != before.proposals[$0] }.sorted()
    }

    /// Looks at a recording, as it is shown.
    ///
    /// - Parameter isNaming: whether only those are looked at in which somebody has a name.
    private func look(at pass: PassSummary, isNaming: Bool, _ known: inout VoiceprintStore) async throws {
        let recording = pass.recording
        guard known.isToBeLookedAt(recording, pass: pass.id) else { return }
        // Where nobody was named yet, there is nothing to learn and nobody to propose.
        let names = pass.correction?.annotations.speakers ?? [:]
        let isNamed = names.values.contains { known.learns($0, in: recording) }
        guard isNamed || !isNaming && known.voices.contains(where: { $0.recording != recording }),
            let speakers = try await archive.transcript(of: recording)?.1.speakers, speakers.count > 0
        else { return }
        try telling.check()
        let path = RecordingFolder(storage: storage, recording: recording).audio
        let voices = try await telling.voices(in: path, of: Self.longest(speakers))
        // Read again: somebody may have had all of it forgotten meanwhile.
        known = try VoiceprintStore(in: storage)
        guard recording > known.after else { return }
        known.learn(voices, names: names, recording: recording, pass: pass.id)
        try known.save(in: storage)
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
