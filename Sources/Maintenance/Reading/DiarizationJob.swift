import Audio
import Core
import Settings

/// Tells who spoke in recordings whose text is whole; it stays told, whatever reads them again.
///
/// May be cancelled, or killed: the recording that it was at is looked at again from its beginning.
package struct DiarizationJob: Sendable {
    private let configuration: Configuration
    private let archive: any ArchiveMaintenance
    private let hub: EventHub
    private let unreadable: UnreadableRecordings
    private let telling: DiarizationProcess

    /// - Parameters:
    ///   - unreadable: what not to try again; it grows.
    ///   - telling: looks at the voices; nil: with the model that the configuration names.
    package init(
        configuration: Configuration, archive: any ArchiveMaintenance, hub: EventHub,
        unreadable: UnreadableRecordings = UnreadableRecordings(), telling: DiarizationProcess? = nil
    ) {
        self.configuration = configuration
        self.archive = archive
        self.hub = hub
        self.unreadable = unreadable
        self.telling = telling ?? DiarizationProcess(configuration)
    }

    /// The recordings of which nobody has looked who spoke, oldest first; none where that is not wanted.
    package func waiting() async throws -> [RecordingSummary] {
        guard configuration.recognizer.speakers != .no else { return [] }
        return try await archive.withoutSpeakers().filter { !unreadable.contains($0.id) }
    }

    /// Looks at them all. One that fails is a fault, and the next one's turn; one that is erased meanwhile is left out.
    ///
    /// - Returns: the recordings, and how many people speak in each.
    /// - Throws: `CancellationError`; `DeviceError` where the model cannot be used, or two in a row failed for the same.
    @discardableResult
    func run() async throws -> [(recording: Int, count: Int)] { try await run(try await waiting()) }

    /// Looks at recordings again, whatever was told of them; what is told now takes its place.
    ///
    /// - Parameter recordings: whose text is whole.
    /// - Returns: the recordings, and how many people speak in each.
    /// - Throws: as `run` does.
    package func run(_ waiting: [RecordingSummary]) async throws -> [(recording: Int, count: Int)] {
        guard !waiting.isEmpty else { return [] }
        let problem = Self.problem(of: telling)
        let storage = configuration.storage.directory
        let turns = SequentialJobs(storage: storage, archive: archive, hub: hub, unreadable: unreadable)
        var told: [(Int, Int)] = []
        var needsModel = false
        _ = try await turns.run(waiting) { recording in
            let path = RecordingFolder(storage: storage, recording: recording.id).audio
            try RecordedAudio.check(path)
            let passes = try await archive.passes(of: recording.id)
            let shown = try await archive.shownPass(of: recording.id)
            let heard = shown.flatMap { passes.heard(under: $0) } ?? shown
            var segments: [Segment] = []
            if let heard {
                segments = try await archive.transcript(of: recording.id, pass: heard.id)?.1.segments ?? []
            }
            let regions = DiarizationProcess.regions(of: segments, length: recording.length)
            var speakers = try await telling.speakersByChannel(in: path, regions: regions)
            if speakers == nil {
                // What needs no model goes on without it.
                guard problem == nil else {
                    needsModel = true
                    return
                }
                speakers = try await telling.speakers(in: path, regions: regions)
            }
            guard let speakers else { return }
            try await archive.keep(speakers, recording: recording.id)
            told.append((recording.id, speakers.count))
        }
        if let problem, needsModel { throw problem }
        return told
    }

    private static func problem(of telling: DiarizationProcess) -> DeviceError? {
        do throws(DeviceError) { try telling.check() } catch { return error }
        return nil
    }
}
