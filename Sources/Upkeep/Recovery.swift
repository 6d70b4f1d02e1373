import Configuration
import Core
import Glibc
import Platform
import Recording
import SQLiteArchive

/// What the appliance does on start, so that a power cut is not a special case: files, journals and database are made to
/// agree, and the files are believed.
///
/// Nothing is deleted; it may be killed at any moment and run again.
package struct Recovery: Sendable {
    /// How much is looked at.
    package enum Depth: Sendable {
        /// The length and the header of each file, and folders and rows without each other: what a start can wait for.
        case start
        /// Every line of every journal, too.
        case everything
    }

    private let storage: String
    private let archive: SQLiteArchive

    /// Opens the archive, made anew where it is damaged, and repairs what it holds.
    ///
    /// - Throws: `DeviceError` with `busy` while somebody has the archive: then nothing is touched.
    package static func open(
        _ configuration: Configuration, depth: Depth
    ) async throws -> (archive: SQLiteArchive, findings: [StorageFinding]) {
        let path = configuration.archivePath
        let opened = try await SQLiteArchive.openRepairing(path: path)
        var findings: [StorageFinding] = []
        if let aside = opened.setAside {
            findings.append(
                StorageFinding(
                    .repaired, file: path,
                    "the database was damaged, not a file, not ours or another program's; it was kept as \(aside) and "
                        + "rebuilt from the recordings"))
        }
        if let aside = opened.noFolder {
            findings.append(
                StorageFinding(
                    .damaged, file: "\(configuration.storage.directory)/recordings",
                    "was not a folder, or was a link; it was kept as \(aside). To keep recordings on another disk, mount it "
                        + "there, or name it in storage.directory"))
        }
        findings += opened.restored.map {
            StorageFinding(.repaired, recording: $0, file: path, "recording \($0) was recovered from its journal")
        }
        findings += opened.refused.sorted { $0.key < $1.key }.map {
            StorageFinding(
                .damaged, recording: $0, file: path, "recording \($0): its journal was left as it is: \($1.message)")
        }
        let recovery = Recovery(storage: configuration.storage.directory, archive: opened.archive)
        return (opened.archive, findings + (try await recovery.run(depth)))
    }

    private func run(_ depth: Depth) async throws -> [StorageFinding] {
        var findings = await finishErasures()
        if depth == .everything {
            for id in try await archive.recordings().map(\.id) {
                findings += try await looked(at: id) {
                    guard try await archive.mendJournal(of: id) else { return [] }
                    return [
                        StorageFinding(
                            .repaired, recording: id, file: folder(id).path,
                            "the journal was damaged and was rewritten")
                    ]
                }
            }
        }
        let rows = Dictionary(uniqueKeysWithValues: try await archive.recordings().map { ($0.id, $0) })
        for id in Set(rows.keys).union(try Self.folders(in: storage)).sorted() {
            findings += try await looked(at: id) {
                try await Self.hasAudio(id, in: storage) ? repair(id, rows[id]) : miss(id, rows[id])
            }
        }
        return findings
    }

    /// No single recording keeps the others from being looked at.
    private func looked(at id: Int, _ look: () async throws -> [StorageFinding]) async throws -> [StorageFinding] {
        do { return try await look() } catch let error as DeviceError where error.code != .full {
            let files = [folder(id).path, folder(id).audio, "\(folder(id).path)/journal.jsonl"]
            let remedy = error.code == .denied ? ArchiveOwner.remedy(for: files) : nil
            return [
                StorageFinding(
                    .damaged, recording: id, file: folder(id).path,
                    remedy.map { "recording \(id) cannot be read and was left as it is: \($0)" } ?? error.message)
            ]
        }
    }

    /// What cannot be erased keeps nothing else from being recovered.
    private func finishErasures() async -> [StorageFinding] {
        do {
            let outcome = try await Erasure(storage: storage, archive: archive).finishInterrupted()
            return outcome.erased.map {
                StorageFinding(.note, recording: $0, file: storage, "the erasure of recording \($0) was completed")
            }
                + outcome.refused.sorted { $0.key < $1.key }.map {
                    StorageFinding(
                        .damaged, recording: $0, file: storage,
                        "recording \($0) was deleted, but could not be removed completely, which is tried again later: "
                            + $1.message)
                }
        } catch {
            return [StorageFinding(.damaged, file: storage, DeviceError(wrapping: error).message)]
        }
    }

    /// Whether there is audio.
    ///
    /// - Throws: `DeviceError` where that may not be known: audio that may not be read is not gone.
    static func hasAudio(_ id: Int, in storage: String) throws(DeviceError) -> Bool {
        do throws(DeviceError) {
            let (folder, name) = try Folder.holding("\(storage)/recordings", crosses: true)
            return try folder.folder(name).folder(RecordingFolder.name(of: id)).exists(RecordingFolder.audioName)
        } catch {
            guard error.code == .missing else { throw error }
            return false
        }
    }

    /// The recordings that have a folder.
    static func folders(in storage: String) throws -> [Int] {
        try names(inFolder: "\(storage)/recordings").compactMap { name in
            guard let id = Int(name), id > 0, RecordingFolder.name(of: id) == name else { return nil }
            return id
        }
    }

    private func folder(_ id: Int) -> RecordingFolder { RecordingFolder(storage: storage, recording: id) }

    private func repair(_ id: Int, _ row: RecordingSummary?) async throws -> [StorageFinding] {
        let audio = folder(id).audio
        var findings = try joinParts(of: id)
        let repair = try RecordingRepair.run(path: audio, told: row.map { ($0.length, $0.stopReason) })
        if repair.lost > 0 {
            findings.append(
                StorageFinding(
                    .damaged, recording: id, file: audio,
                    "\(SamplePosition(repair.lost).seconds) s are missing at its end; look for a copy, and check the disk"
                ))
        }
        if !repair.changes.isEmpty {
            let what = repair.changes.map(Self.words).joined(separator: ", ")
            findings.append(StorageFinding(.repaired, recording: id, file: audio, what))
        }
        guard let row else {
            try await archive.adopt(
                recording: id, startedAt: Self.modified(audio) - repair.length.seconds)
            try await archive.endRecording(id, length: repair.length, reason: repair.reason)
            return findings + [
                StorageFinding(
                    .repaired, recording: id, file: audio, "recording \(id) was not in the archive, and was added")
            ]
        }
        if row.isMissing {
            try await archive.markMissing(recording: id, false)
            findings.append(StorageFinding(.repaired, recording: id, file: audio, "the audio is back"))
        }
        if row.length != repair.length || row.stopReason != repair.reason {
            try await archive.endRecording(id, length: repair.length, reason: repair.reason)
            findings.append(
                StorageFinding(
                    .repaired, recording: id, file: audio,
                    "recording \(id) is \(repair.length.seconds) s long and ended by: \(repair.reason.rawValue)"))
        }
        return findings
    }

    private func miss(_ id: Int, _ row: RecordingSummary?) async throws -> [StorageFinding] {
        // A folder of something else, or one that a kill left empty.
        guard let row else { return [] }
        if !row.isMissing { try await archive.markMissing(recording: id, true) }
        if row.length == .zero {
            if row.isMissing { return [] }
            return [
                StorageFinding(
                    .note, recording: id, file: folder(id).audio, "recording \(id) was cut short before its first sound"
                )
            ]
        }
        return [
            StorageFinding(
                .damaged, recording: id, file: folder(id).audio,
                "the audio of recording \(id) is gone; its text is kept. Put the file back, or delete the recording")
        ]
    }

    /// Parts that a failing disk left beside the audio, `audio.from-NNN.wav`, belong into it.
    private func joinParts(of id: Int) throws -> [StorageFinding] {
        do throws(DeviceError) {
            guard try Recording.joinParts(inFolder: folder(id).path) else { return [] }
            return [
                StorageFinding(
                    .repaired, recording: id, file: folder(id).audio,
                    "the parts that a failing disk left were joined into one file; the originals were kept beside it")
            ]
        } catch {
            guard error.code == .full else { throw error }
            return [StorageFinding(.note, recording: id, file: folder(id).audio, error.message)]
        }
    }

    private static func words(_ change: RecordingRepair.Change) -> String {
        switch change {
        case .halfSample: "half a sample at its end was dropped"
        case .unwrittenTail: "zeros at its end that were never recorded were dropped"
        case .header: "the header now matches the audio"
        case .newHeader: "the header was damaged; it was kept beside the file and rewritten"
        }
    }

    private static func modified(_ path: String) -> Double {
        var status = stat()
        return stat(path, &status) == 0 ? Double(status.st_mtim.tv_sec) : 0
    }
}
