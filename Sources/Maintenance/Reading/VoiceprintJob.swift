import Archive
import Audio
import Core
import Settings

/// If `speakers.remember` is yes: learns the voices of named people, and proposes their names in later recordings. It never
/// names anybody itself.
struct VoiceprintJob: Sendable {
    /// Seconds of each person's speech to use: the longest turns.
    private static let most = 60.0

    private let configuration: Configuration
    private let archive: SQLiteArchive
    private let diarization: DiarizationProcess
    private var storage: String { configuration.storage.directory }

    /// - Parameter diarization: the diarization process; nil to use the configuration's model.
    init(configuration: Configuration, archive: SQLiteArchive, diarization: DiarizationProcess? = nil) {
        self.configuration = configuration
        self.archive = archive
        self.diarization = diarization ?? DiarizationProcess(configuration)
    }

    /// Processes each pass of each recording with speakers once. Recordings with unnamed people are processed again when
    /// there are new names.
    ///
    /// - Returns: the recordings whose proposed names changed.
    /// - Throws: `CancellationError`; `DeviceError` if the model or the file cannot be used.
    @discardableResult
    func run() async throws -> [Int] {
        guard configuration.speakers.remember, configuration.recognizer.speakers != .no else { return [] }
        var known = try VoiceprintStore(in: storage)
        let recordings = try await archive.recordings().sorted { $0.id < $1.id }
        let before = known
        // A sealed recording's voices stay: they cannot be learned again.
        let there = Set(recordings.map(\.id))
        known.drop { !there.contains($0) }
        if known != before { try known.save(in: storage) }
        var heard: [PassSummary] = []
        for recording in recordings
        where !recording.isSealed && !recording.isMissing && recording.id > known.ignoredUpTo {
            if let pass = try await archive.shownPass(of: recording.id) { heard.append(pass) }
        }
        // Named ones first: their people may speak in earlier recordings, too.
        for isNaming in [true, false] {
            for pass in heard {
                try Task.checkCancellation()
                try await process(pass, isNaming: isNaming, &known)
            }
        }
        return known.proposals.keys.filter { known.proposals[$0] != before.proposals[$0] }.sorted()
    }

    /// Processes a recording's default pass.
    ///
    /// - Parameter isNaming: whether to process only recordings with named people.
    private func process(_ pass: PassSummary, isNaming: Bool, _ known: inout VoiceprintStore) async throws {
        let recording = pass.recording
        guard known.needsProcessing(recording, pass: pass.id) else { return }
        // Without any name, there is nothing to learn or propose.
        let names = pass.correction?.annotations.speakers ?? [:]
        let isNamed = names.values.contains { known.canLearn($0, in: recording) }
        guard isNamed || !isNaming && known.voices.contains(where: { $0.recording != recording }),
            let speakers = try await archive.transcript(of: recording)?.1.speakers, speakers.count > 0
        else { return }
        try diarization.check()
        let path = RecordingFolder(storage: storage, recording: recording).audio
        let voices = try await diarization.voices(in: path, of: Self.longest(speakers))
        // Read again: a person may have removed all voices in the meantime.
        known = try VoiceprintStore(in: storage)
        guard recording > known.ignoredUpTo else { return }
        known.learn(voices, names: names, recording: recording, pass: pass.id)
        try known.save(in: storage)
    }

    /// Each person's longest turns in which nobody else speaks.
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
