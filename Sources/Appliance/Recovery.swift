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
                    "the database was damaged; it is kept as \(aside), and was made anew from the recordings"))
        }
        findings += opened.restored.map {
            StorageFinding(.repaired, recording: $0, file: path, "recording \($0) was taken over from its journal")
        }
        let recovery = Recovery(storage: configuration.storage.directory, archive: opened.archive)
        return (opened.archive, findings + (try await recovery.run(depth)))
    }

    private func run(_ depth: Depth) async throws -> [StorageFinding] {
        let erasure = Erasure(storage: storage, archive: archive)
        var findings = try await erasure.finishInterrupted().map {
            StorageFinding(.note, recording: $0, file: storage, "the erasure of recording \($0) was completed")
        }
        if depth == .everything {
            findings += try await archive.mendJournals().map {
                StorageFinding(
                    .repaired, recording: $0, file: folder($0).path, "the journal was damaged and was written anew")
            }
        }
        let rows = Dictionary(uniqueKeysWithValues: try await archive.recordings().map { ($0.id, $0) })
        for id in Set(rows.keys).union(try Self.folders(in: storage)).sorted() {
            let row = rows[id]
            let hasAudio = access(folder(id).audio, F_OK) == 0
            do {
                findings += try await hasAudio ? repair(id, row) : miss(id, row)
            } catch let error as DeviceError where error.code != .full {
                findings.append(
                    StorageFinding(.damaged, recording: id, file: folder(id).path, error.message))
            }
        }
        return findings
    }

    /// The recordings that have a folder.
    static func folders(in storage: String) throws -> [Int] {
        try names(inFolder: "\(storage)/recordings").compactMap { name in
            guard let id = Int(name), id > 0, RecordingFolder(storage: "", recording: id).path == "/recordings/\(name)"
            else { return nil }
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
                    .repaired, recording: id, file: audio, "recording \(id) was not in the archive, and was taken over")
            ]
        }
        if row.isMissing {
            try await archive.markMissing(recording: id, false)
            findings.append(StorageFinding(.repaired, recording: id, file: audio, "the audio is there again"))
        }
        if row.length != repair.length || row.stopReason != repair.reason {
            try await archive.endRecording(id, length: repair.length, reason: repair.reason)
            findings.append(
                StorageFinding(
                    .repaired, recording: id, file: audio,
                    "recording \(id) has \(repair.length.seconds) s, and ended by: \(repair.reason.rawValue)"))
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
                    "the parts that a failing disk made of it are one file again; what they were is kept beside it")
            ]
        } catch {
            guard error.code == .full else { throw error }
            return [StorageFinding(.note, recording: id, file: folder(id).audio, error.message)]
        }
    }

    private static func words(_ change: RecordingRepair.Change) -> String {
        switch change {
        case .halfSample: "half a sample at its end was dropped"
        case .unwrittenTail: "zeros at its end, which were never heard, were dropped"
        case .header: "the header now tells what there is"
        case .newHeader: "the header was damaged; it is kept beside the file, and was written anew"
        }
    }

    private static func modified(_ path: String) -> Double {
        var status = stat()
        return stat(path, &status) == 0 ? Double(status.st_mtim.tv_sec) : 0
    }
}
