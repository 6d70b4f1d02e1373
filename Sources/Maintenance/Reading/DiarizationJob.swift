import Archive
import Audio
import Core
import Settings

/// Identifies the speakers in transcribed recordings. Transcribing a recording again keeps the result.
///
/// May be cancelled or killed: the next run starts the current recording again.
package struct DiarizationJob: Sendable {
    private let configuration: Configuration
    private let archive: SQLiteArchive
    private let hub: EventHub
    private let unreadable: UnreadableRecordings
    private let diarization: DiarizationProcess
    private let progress: @Sendable (_ recording: Int, _ fraction: Double) -> Void

    /// - Parameters:
    ///   - unreadable: the recordings to skip. Recordings that cannot be read are added.
    ///   - diarization: the diarization process; nil to use the configuration's model.
    ///   - progress: called with a recording's ID and its progress, from 0 to 1.
    package init(
        configuration: Configuration, archive: SQLiteArchive, hub: EventHub,
        unreadable: UnreadableRecordings = UnreadableRecordings(), diarization: DiarizationProcess? = nil,
        progress: @escaping @Sendable (_ recording: Int, _ fraction: Double) -> Void = { _, _ in }
    ) {
        self.progress = progress
        self.configuration = configuration
        self.archive = archive
        self.hub = hub
        self.unreadable = unreadable
        self.diarization = diarization ?? DiarizationProcess(configuration)
    }

    /// Returns the recordings without speakers, oldest first; none if the configuration turns this off.
    package func waiting() async throws -> [RecordingSummary] {
        guard configuration.recognizer.speakers != .no else { return [] }
        return try await archive.withoutSpeakers().filter { !unreadable.contains($0.id) }
    }

    /// Identifies the speakers in all waiting recordings. If one fails, reports a fault and continues with the next.
    /// Skips erased recordings.
    ///
    /// - Returns: the IDs of the recordings, with the number of speakers in each.
    /// - Throws: `CancellationError`; `DeviceError` if the model cannot be used, or if two recordings in a row failed
    ///   for the same reason.
    @discardableResult
    func run() async throws -> [(recording: Int, count: Int)] { try await run(try await waiting()) }

    /// Identifies the speakers in transcribed recordings, and replaces earlier results.
    ///
    /// - Returns: the IDs of the recordings, with the number of speakers in each.
    /// - Throws: the same as `run()`.
    package func run(_ waiting: [RecordingSummary]) async throws -> [(recording: Int, count: Int)] {
        guard !waiting.isEmpty else { return [] }
        var problem: DeviceError?
        do throws(DeviceError) { try diarization.check() } catch { problem = error }
        let storage = configuration.storage.directory
        let jobs = SequentialJobs(storage: storage, archive: archive, hub: hub, unreadable: unreadable)
        var counts: [(Int, Int)] = []
        var needsModel = false
        _ = try await jobs.run(waiting) { recording in
            let path = RecordingFolder(storage: storage, recording: recording.id).audio
            try RecordedAudio.check(path)
            let passes = try await archive.passes(of: recording.id)
            let shownPass = try await archive.shownPass(of: recording.id)
            let enginePass = shownPass.flatMap { passes.enginePass(under: $0) } ?? shownPass
            var timeline: Timeline?
            if let enginePass { timeline = try await archive.transcript(of: recording.id, pass: enginePass.id)?.1 }
            let regions = DiarizationProcess.regions(of: timeline?.segments ?? [], length: recording.length)
            var speakers = try await diarization.speakersByChannel(in: path, regions: regions)
            if speakers == nil {
                // If the model is missing, continues with recordings that do not need it.
                guard problem == nil else {
                    needsModel = true
                    return
                }
                speakers = try await diarization.speakers(in: path, regions: regions) { [progress] fraction in
                    progress(recording.id, fraction)
                }
            }
            guard let speakers else { return }
            // The labels may now stand for other people.
            if timeline?.speakers != nil { try VoiceprintStore.drop(recording.id, in: storage) }
            try await archive.keep(speakers, recording: recording.id)
            counts.append((recording.id, speakers.count))
        }
        if let problem, needsModel { throw problem }
        return counts
    }
}
