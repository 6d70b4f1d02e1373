import Archive
import Audio
import Copying
import Core
import Glibc
import Recognition
import Settings
import System

/// Reads once more what a private key has opened, where that is due, and seals it again with the better text. Its sound is in memory
/// meanwhile, of one recording at a time; what is cut off leaves the sealed file as it was.
struct OpenedSecondPass: Sendable {
    let configuration: Configuration
    let archive: SQLiteArchive
    let opened: OpenedRecordings
    let hub: EventHub
    let progress: SecondPassProgress

    /// - Parameters:
    ///   - pool: makes what reads, once there is something to read.
    ///   - complain: hears what failed for one.
    /// - Returns: the recordings that were read and sealed again.
    /// - Throws: `CancellationError`.
    func run(pool: () async throws -> WorkerPool, complain: (DeviceError) -> Void) async throws -> [Int] {
        var done: [Int] = []
        guard let open = await opened.current() else { return [] }
        var inner = configuration
        inner.storage.directory = open.storage
        let (hub, opened) = (hub, opened)
        // Once it is locked, that something is gone is no fault.
        let told = EventHub { event in
            if case .fault = event, opened.state != nil { hub.publish(event) }
        }
        let rereading = SecondPassJob(configuration: inner, archive: open.archive, hub: told, progress: progress)
        do {
            var readers: WorkerPool?
            for recording in try await rereading.waiting() {
                try Task.checkCancellation()
                do {
                    if readers == nil { readers = try await pool() }
                    try await openSound(of: recording, open)
                    defer { try? Self.folder(of: recording.id, open).remove(RecordingFolder.audioName) }
                    guard let readers, try await rereading.run([recording], pool: readers) == [recording.id],
                        let manifest = try await SealingRecordings(configuration, archive: archive).seal(
                            again: recording.id, from: open)
                    else { continue }
                    await opened.take(again: recording.id, as: manifest)
                    done.append(recording.id)
                } catch let error as DeviceError {
                    if error.status == ECANCELED { throw CancellationError() }
                    if opened.state == nil { break }
                    complain(error)
                }
            }
        } catch let error as DeviceError {
            if opened.state != nil { complain(error) }
        }
        return done
    }

    private func openSound(of recording: RecordingSummary, _ open: OpenedRecordings.Open) async throws {
        guard let manifest = open.manifests[recording.id] else { return }
        let (storage, key) = (configuration.storage.directory, open.key)
        try await onStoppableThread(named: "open") { goesOn in
            let source = try SealingRecordings.folder(of: recording.id, in: storage)
            try SealedOpening(source, manifest, key: key, goesOn: goesOn).sound(
                recording.length, recording.stopReason, into: Self.folder(of: recording.id, open))
        }
    }

    private static func folder(of id: Int, _ open: OpenedRecordings.Open) throws(DeviceError) -> Folder {
        try Folder(opening: open.storage).folder("recordings").folder(RecordingFolder.name(of: id))
    }
}
