import Archive
import Audio
import Core
import Settings

/// Learns the voices of named people if `speakers.remember` is yes, and proposes their names in other recordings. Never
/// assigns a name.
struct VoiceprintJob: Sendable {
    /// The amount of each person's speech to use, from the longest turns.
    private static let secondsPerPerson = 60.0

    private let configuration: Configuration
    private let archive: SQLiteArchive
    private let diarization: DiarizationProcess
    private var storage: String { configuration.storage.directory }

    init(configuration: Configuration, archive: SQLiteArchive, diarization: DiarizationProcess? = nil) {
        self.configuration = configuration
        self.archive = archive
        self.diarization = diarization ?? DiarizationProcess(configuration)
    }

    /// Processes the shown pass of each recording with speakers once. Recordings with unnamed people are processed
    /// again when there are new names.
    ///
    /// - Returns: the IDs of the recordings with new or changed proposed names.
    /// - Throws: `CancellationError`; `DeviceError` if the model or `voices.json` cannot be used.
    @discardableResult
    func run() async throws -> [Int] {
        guard configuration.speakers.remember, configuration.recognizer.speakers != .no else { return [] }
        var known = try VoiceprintStore(in: storage)
        let recordings = try await archive.recordings().sorted { $0.id < $1.id }
        let before = known
        // The voices from sealed recordings stay, because they cannot be learned again.
        let existing = Set(recordings.map(\.id))
        known.drop { !existing.contains($0) }
        if known != before { try known.save(in: storage) }
        var passes: [PassSummary] = []
        for recording in recordings
        where !recording.isSealed && !recording.isMissing && recording.id > known.ignoredUpTo {
            if let pass = try await archive.shownPass(of: recording.id) { passes.append(pass) }
        }
        // Recordings with names come first, because the named people may also speak in earlier recordings.
        for needsNames in [true, false] {
            for pass in passes {
                try Task.checkCancellation()
                try await process(pass, needsNames: needsNames, &known)
            }
        }
        return known.proposals.keys.filter { known.proposals[$0] != before.proposals[$0] }.sorted()
    }

    /// Processes a recording's shown pass.
    ///
    /// - Parameter needsNames: whether to process only recordings with named people.
    private func process(_ pass: PassSummary, needsNames: Bool, _ known: inout VoiceprintStore) async throws {
        let recording = pass.recording
        guard known.needsProcessing(recording, pass: pass.id) else { return }
        // If there are no names, there is nothing to learn or propose.
        let names = pass.correction?.annotations.speakers ?? [:]
        let hasNames = names.values.contains { known.canLearn($0, in: recording) }
        guard hasNames || !needsNames && known.voices.contains(where: { $0.recording != recording }),
            let speakers = try await archive.transcript(of: recording)?.1.speakers, speakers.count > 0
        else { return }
        try diarization.check()
        let path = RecordingFolder(storage: storage, recording: recording).audio
        let voices = try await diarization.voices(in: path, of: Self.longest(speakers))
        // Reads the file again, because a person may have removed all voices in the meantime.
        known = try VoiceprintStore(in: storage)
        guard recording > known.ignoredUpTo else { return }
        known.learn(voices, names: names, recording: recording, pass: pass.id)
        try known.save(in: storage)
    }

    /// Returns each person's longest turns, without the ranges in which several people speak.
    static func longest(_ speakers: Speakers) -> Speakers {
        var turns: [Speakers.Turn] = []
        for speaker in 0..<speakers.count {
            var remaining = secondsPerPerson
            let candidates = speakers.without(speakers.alongside.map(\.range)).turns.filter { $0.speaker == speaker }
            for turn in candidates.sorted(by: { $0.range.seconds > $1.range.seconds }) where remaining > 0 {
                turns.append(turn)
                remaining -= turn.range.seconds
            }
        }
        return Speakers(turns: turns)
    }
}
