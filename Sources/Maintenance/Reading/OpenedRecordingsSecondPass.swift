import Archive
import Audio
import Copying
import Core
import Glibc
import Recognition
import Settings
import System

/// Runs the second pass for recordings that were opened with a private key, and seals them again with the better text.
/// Keeps the sound of one recording at a time in memory. If the task is cancelled, the sealed file stays unchanged.
struct OpenedRecordingsSecondPass: Sendable {
    let configuration: Configuration
    let archive: SQLiteArchive
    let opened: OpenedRecordings
    let hub: EventHub
    let progress: SecondPassProgress

    /// Transcribes and seals the recordings.
    ///
    /// - Parameters:
    ///   - pool: starts the decode workers; called before the first recording, and again if that failed.
    ///   - report: called with each failure.
    /// - Returns: the IDs of the recordings that were transcribed and sealed again.
    /// - Throws: `CancellationError`.
    func run(pool: () async throws -> WorkerPool, report: (DeviceError) -> Void) async throws -> [Int] {
        var resealed: [Int] = []
        guard let open = await opened.current() else { return [] }
        var openedConfiguration = configuration
        openedConfiguration.storage.directory = open.storage
        let (hub, opened) = (hub, opened)
        // Once the recordings are locked again, a missing file is not a fault.
        let unlockedHub = EventHub { event in
            if case .fault = event, opened.state != nil { hub.publish(event) }
        }
        let secondPass = SecondPassJob(
            configuration: openedConfiguration, archive: open.archive, hub: unlockedHub, progress: progress)
        do {
            var workers: WorkerPool?
            for recording in try await secondPass.waiting() {
                try Task.checkCancellation()
                do {
                    if workers == nil { workers = try await pool() }
                    try await decryptAudio(of: recording, open)
                    defer { try? Self.removeAudio(from: RecordingFolder.open(recording.id, in: open.storage)) }
                    guard let workers, try await secondPass.run([recording], pool: workers) == [recording.id],
                        let manifest = try await SealingJob(configuration, archive: archive).reseal(
                            recording.id, from: open)
                    else { continue }
                    await opened.updateManifest(of: recording.id, to: manifest)
                    resealed.append(recording.id)
                } catch let error as DeviceError {
                    if error.status == ECANCELED { throw CancellationError() }
                    if opened.state == nil { break }
                    report(error)
                }
            }
        } catch let error as DeviceError {
            if opened.state != nil { report(error) }
        }
        return resealed
    }

    private func decryptAudio(of recording: RecordingSummary, _ open: OpenedRecordings.Open) async throws {
        guard let manifest = open.manifests[recording.id] else { return }
        let (storage, key) = (configuration.storage.directory, open.key)
        try await onStoppableThread(named: "open") { shouldContinue in
            let source = try RecordingFolder.open(recording.id, in: storage)
            try RecordingDecryptor(source, manifest, key: key, shouldContinue: shouldContinue).writeAudio(
                recording.length, recording.stopReason, into: RecordingFolder.open(recording.id, in: open.storage))
        }
    }

    private static func removeAudio(from folder: Folder) throws(DeviceError) {
        for name in try folder.names() where name == RecordingFolder.audioName || RecordingFolder.isOriginal(name) {
            try folder.remove(name)
        }
    }
}
