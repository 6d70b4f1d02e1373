import Archive
import Audio
import Core
import Glibc
import Settings
import System

/// What the appliance does on start, so that a power cut is not a special case: files, journals and database are made to
/// agree, and the files are believed.
///
/// Nothing is deleted; it may be killed at any moment and run again.
package struct Recovery: Sendable {
    /// How much is looked at.
    package enum Depth: Sendable {
        /// The length and the header of each file, and folders and rows without each other: what a start can wait for.
        case start
        /// Every line of every journal and checksums that are missing, too.
        case everything
    }

    /// What was opened, what was done for it, and what is left to be done.
    package struct Opened: Sendable {
        /// The archive, open.
        package var archive: SQLiteArchive
        /// What was repaired or cannot be, in the order in which it was found.
        package var findings: [StorageFinding]
        /// The recordings that are not looked at yet.
        package var repairs: Repairs

        /// Whether all of the database was read for damage.
        package var isChecked: Bool
    }

    /// A database so large is read for damage before anything else: a card takes two seconds for it. A larger one is read
    /// behind the start.
    private static let checkedAtOnce: Int64 = 32 << 20

    let storage: String
    let archive: SQLiteArchive
    let depth: Depth

    /// Opens the archive, made anew where it is damaged, and repairs what it holds, the newest recordings first.
    ///
    /// - Parameter limit: for so long; what is not done by then is left to `repairs`. Nil: until all is done.
    /// - Throws: `DeviceError` with `busy` while somebody has the archive: then nothing is touched.
    package static func open(
        _ configuration: Configuration, depth: Depth, within limit: Duration? = nil
    ) async throws -> Opened {
        let path = configuration.archivePath
        let suspicion = Suspicion(of: path)
        let isChecked =
            depth == .everything || suspicion.isRaised || (FileStatus(path)?.bytes ?? 0) <= checkedAtOnce
        let opened = try await SQLiteArchive.openRepairing(path: path, isChecked: isChecked, catchesUp: false)
        if isChecked { suspicion.drop() }
        var findings: [StorageFinding] = []
        if let aside = opened.setAside {
            findings.append(
                StorageFinding(
                    .repaired, file: path,
                    "the database was damaged, not a file, or not ours to use; it was kept as \(aside) and "
                        + "rebuilt from the recordings"))
        }
        if let aside = opened.noFolder {
            findings.append(
                StorageFinding(
                    .damaged, file: "\(configuration.storage.directory)/recordings",
                    "was not a folder, or was a link; it was kept as \(aside). To keep recordings on another disk, mount it "
                        + "there, or name it in storage.directory"))
        }
        let recovery = Recovery(storage: configuration.storage.directory, archive: opened.archive, depth: depth)
        findings += await recovery.finishErasures()
        if depth == .everything { findings += try await recovery.mendHistory() }
        let rows = try await opened.archive.recordings().map(\.id)
        let repairs = Repairs(recovery, of: Set(rows).union(try folders(in: recovery.storage)))
        do { findings += try await repairs.run(within: limit) } catch let error as DeviceError
            where depth == .start && error.code != .damaged
        {
            // It is tried again behind the start, and keeps nobody from recording.
            findings.append(StorageFinding(.damaged, error, at: path))
        } catch let error as DeviceError where error.code == .damaged && !isChecked {
            try suspicion.raise()
            throw error
        }
        return Opened(archive: opened.archive, findings: findings, repairs: repairs, isChecked: isChecked)
    }

    /// Looks at one recording, and mends what is not as it should be. Nothing that befalls it keeps the others from that.
    ///
    /// - Parameter end: the moment of the monotonic clock, in nanoseconds, at which what takes long is broken off.
    /// - Returns: what was found, and whether it was looked at whole.
    /// - Throws: `DeviceError` of the database or a full disk; `CancellationError`.
    func look(at id: Int, until end: Int64?) async throws -> (findings: [StorageFinding], isDone: Bool) {
        var findings: [StorageFinding] = []
        do {
            if try await archive.catchUp(with: id, audio: wholeAudio(of: id)) {
                findings.append(
                    StorageFinding(
                        .repaired, recording: id, file: "\(storage)/archive.sqlite",
                        "recording \(id) was recovered from its journal"))
            }
        } catch let error as DeviceError where error.operation == ForeignJournal.operation {
            let looked = try await refuseJournal(of: id, error)
            findings += looked.findings
            if looked.next == .leave { return (findings, true) }
        } catch let error as DeviceError where !error.isOfDatabase {
            findings.append(
                StorageFinding(
                    .damaged, recording: id, file: "\(storage)/archive.sqlite",
                    "recording \(id): its journal was left as it is: \(error.message)"))
        }
        do {
            if depth == .everything, try await archive.recording(id) != nil {
                findings += try await mendJournal(of: id)
            }
            let row = try await archive.recording(id)
            if let sealed = try await lookSealed(id, row) { return (findings + sealed, true) }
            // What a slow card holds is waited for on a thread of its own: the others have to record.
            let storage = storage
            let hasAudio = try await onThread(named: "repair", niceness: 5) { try Self.hasAudio(id, in: storage) }
            let striking = Redaction(storage: storage, archive: archive)
            if try await archive.recording(id) != nil, try await striking.finish(id) {
                findings.append(
                    StorageFinding(
                        .note, recording: id, file: folder(id).path, "what was struck in recording \(id) was erased"))
            }
            guard hasAudio else { return (findings + (try await miss(id, row)), true) }
            let signature = try await signature(of: id)
            let parts = try await checkParts(of: id, signature, until: end)
            findings += parts.findings
            if parts.next != .goOn { return (findings, parts.next == .leave) }
            let (joined, isDone) = try await joinParts(of: id, until: end)
            findings += joined
            // What is not joined yet is read as one, but its length is told once it is.
            if !isDone { return (findings, false) }
            let surplus = try await checkEnd(of: id, row, signature, until: end)
            findings += surplus.findings
            if surplus.next != .goOn { return (findings, surplus.next == .leave) }
            findings += try await repair(id, row, signature)
        } catch let error as DeviceError where error.code != .full {
            let files = [folder(id).path, folder(id).audio, "\(folder(id).path)/journal.jsonl"]
            // A link is denied, too, and whose it is does not matter then.
            let isOthers = error.status == EACCES || error.status == EPERM
            let remedy = isOthers ? ArchiveOwner.remedy(for: files) : nil
            findings.append(
                remedy.map {
                    StorageFinding(
                        .damaged, recording: id, file: folder(id).path,
                        "recording \(id) cannot be read and was left as it is: \($0)")
                } ?? StorageFinding(.damaged, recording: id, error, at: folder(id).path))
        }
        return (findings, true)
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
            return [StorageFinding(.damaged, DeviceError(wrapping: error), at: storage)]
        }
    }

    /// The history's file, from what the database has of it.
    private func mendHistory() async throws -> [StorageFinding] {
        guard let aside = try await archive.mendHistory() else { return [] }
        return [
            StorageFinding(
                .repaired, file: "\(storage)/history.jsonl",
                "was not what the database tells, and was written anew from that; kept aside: \(aside)")
        ]
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
            guard let id = RecordingFolder.recording(named: name) else { return nil }
            return id
        }
    }

    private func folder(_ id: Int) -> RecordingFolder { RecordingFolder(storage: storage, recording: id) }

    private func repair(
        _ id: Int, _ row: RecordingSummary?, _ signature: HistoryEntry?
    ) async throws -> [StorageFinding] {
        let audio = folder(id).audio
        var findings: [StorageFinding] = []
        var repair = try await onThread(named: "repair", niceness: 5) {
            try RecordingRepair.run(path: audio, told: row.map { ($0.length, $0.stopReason) })
        }
        if let signature, let length = signature.signedLength, repair.length > length {
            return Self.longer(id, audio, by: repair.length - length, than: signature).findings
        }
        // What was signed ends where its sound does.
        if repair.reason == .cutShort, row != nil, signature == nil {
            let gaps = try await archive.gaps(of: id)
            if let (length, lost) = try RecordingRepair.reach(gaps: gaps, path: audio, length: repair.length) {
                repair.length = length
                if let lost { try await archive.add(lost, recording: id) }
                findings.append(
                    StorageFinding(
                        .note, recording: id, file: audio,
                        "what was lost at the end of recording \(id) is now silence"))
            }
        }
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
        findings += try await sum(id, wasCut: !repair.changes.isEmpty || row?.length != repair.length, signature)
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
    ///
    /// - Returns: what came of it, and whether there is nothing left to join.
    private func joinParts(of id: Int, until end: Int64?) async throws -> (findings: [StorageFinding], isDone: Bool) {
        let path = folder(id).path
        let joining: Joining
        do {
            joining = try await onStoppableThread(named: "joining", until: end) { goesOn in
                try Audio.joinParts(inFolder: path, while: goesOn)
            }
        } catch let error as DeviceError where error.code == .full {
            return ([StorageFinding(.note, recording: id, error, at: folder(id).audio)], true)
        }
        switch joining {
        case .whole: return ([], true)
        case .unfinished:
            try Task.checkCancellation()
            return ([], false)
        case .joined:
            return (
                [
                    StorageFinding(
                        .repaired, recording: id, file: folder(id).audio,
                        "the parts that a failing disk left were joined into one file; the originals were kept beside it"
                    )
                ], true
            )
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
