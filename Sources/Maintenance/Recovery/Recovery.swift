import Archive
import Audio
import Core
import Glibc
import Settings
import System
import Transcripts

/// Makes files, journals and database agree again; the files have precedence. Runs on every start, so that a power cut
/// is not a special case. May be killed at any moment and run again.
///
/// Keeps everything that was recorded, except to complete an interrupted erasure, redaction or sealing.
package struct Recovery: Sendable {
    /// How much to check.
    package enum Depth: Sendable {
        /// Checks the length and header of each file, folders without rows, and rows without folders. Fast enough for
        /// every start.
        case start
        /// Also checks every line of every journal, and computes missing checksums.
        case everything
    }

    /// The opened archive, the repairs, and the remaining work.
    package struct Opened: Sendable {
        package var archive: SQLiteArchive
        /// The repairs, and damage that cannot be repaired.
        package var findings: [StorageFinding]
        package var repairs: Repairs
        /// Whether the whole database was checked for damage.
        package var isChecked: Bool
    }

    /// The maximum size of a database that is checked during a start, in bytes. Reading it from a card takes two
    /// seconds. Larger databases are checked in the background.
    private static let maximumBytesCheckedAtStart: Int64 = 32 << 20

    let storage: String
    let archive: SQLiteArchive
    let depth: Depth

    /// Opens the archive, rebuilds it if it is damaged, and repairs the recordings, newest first.
    ///
    /// - Parameter limit: the time budget; the remaining work is in `repairs`. Nil for no limit.
    /// - Throws: `DeviceError` with `busy` if another process has opened the archive; nothing is changed then.
    package static func open(
        _ configuration: Configuration, depth: Depth, within limit: Duration? = nil
    ) async throws -> Opened {
        let path = configuration.archivePath
        let marker = DamageMarker(of: path)
        let isChecked =
            depth == .everything || marker.exists || (FileStatus(path)?.bytes ?? 0) <= maximumBytesCheckedAtStart
        let opened = try await SQLiteArchive.openRepairing(path: path, isChecked: isChecked)
        if isChecked { marker.remove() }
        // Removes the folders that killed `add` commands left behind.
        ScratchFolder.sweep(for: AddedFile.purpose, in: "\(configuration.storage.directory)/recordings")
        var findings: [StorageFinding] = []
        if let newPath = opened.setAside {
            findings.append(
                StorageFinding(
                    .repaired, file: path,
                    "the database was damaged, not a file, or not accessible; it was kept as \(newPath) and "
                        + "rebuilt from the recordings"))
        }
        if let newPath = opened.rootSetAside {
            findings.append(
                StorageFinding(
                    .damaged, file: "\(configuration.storage.directory)/recordings",
                    "was not a folder, or was a link; it was kept as \(newPath). To keep recordings on another disk, "
                        + "mount the disk there, or set storage.directory"))
        }
        let recovery = Recovery(storage: configuration.storage.directory, archive: opened.archive, depth: depth)
        findings += await recovery.finishErasures()
        if depth == .everything { findings += try await recovery.repairHistory() }
        let rows = try await opened.archive.recordings().map(\.id)
        let repairs = Repairs(recovery, of: Set(rows).union(try folders(in: recovery.storage)))
        do { findings += try await repairs.run(within: limit) } catch let error as DeviceError
            where depth == .start && error.code != .damaged
        {
            // Repairs are tried again in the background, because they must not delay recording.
            findings.append(StorageFinding(.damaged, error, at: path))
        } catch let error as DeviceError where error.code == .damaged && !isChecked {
            try marker.create()
            throw error
        }
        return Opened(archive: opened.archive, findings: findings, repairs: repairs, isChecked: isChecked)
    }

    /// Checks and repairs one recording. Errors in its files are reported as findings.
    ///
    /// - Parameter end: the time on the monotonic clock, in nanoseconds, at which slow work stops; nil for no limit.
    /// - Returns: the findings, and whether the check is complete.
    /// - Throws: `DeviceError` from the database, or if the disk is full; `CancellationError`.
    func check(_ id: Int, until end: Int64?) async throws -> (findings: [StorageFinding], isDone: Bool) {
        var findings: [StorageFinding] = []
        do {
            if try await archive.catchUp(with: id, audio: wholeAudio(of: id)) {
                findings.append(
                    StorageFinding(
                        .repaired, recording: id, file: "\(storage)/archive.sqlite",
                        "recording \(id) was recovered from its journal"))
            }
        } catch let error as DeviceError where error.cause == .foreignJournal {
            let result = try await refuseJournal(of: id, error)
            findings += result.findings
            if result.next == .leave { return (findings, true) }
        } catch let error as DeviceError where !error.concernsWholeDatabase {
            findings.append(
                StorageFinding(
                    .damaged, recording: id, file: "\(storage)/archive.sqlite",
                    "recording \(id): its journal was not changed: \(error.message)"))
        }
        do {
            if depth == .everything, try await archive.recording(id) != nil {
                findings += try await repairJournal(of: id)
            }
            let row = try await archive.recording(id)
            if let sealed = try await checkSealed(id, row) { return (findings + sealed, true) }
            // A slow card is read on a separate thread, so that recording continues.
            let hasAudio = try await onThread(named: "repair", niceness: 5) { try Self.hasAudio(id, in: storage) }
            let redaction = Redaction(storage: storage, archive: archive)
            if try await archive.recording(id) != nil, try await redaction.finish(id) {
                findings.append(
                    StorageFinding(
                        .note, recording: id, file: folder(id).path, "the redaction of recording \(id) was completed"))
            }
            guard hasAudio else { return (findings + (try await markMissing(id, row)), true) }
            let signature = try await signature(of: id)
            let parts = try await checkParts(of: id, signature, until: end)
            findings += parts.findings
            if parts.next != .proceed { return (findings, parts.next == .leave) }
            let joined = try await joinParts(of: id, row, until: end)
            findings += joined.findings
            if joined.next != .proceed { return (findings, joined.next == .leave) }
            let surplus = try await checkEnd(of: id, row, signature, until: end)
            findings += surplus.findings
            if surplus.next != .proceed { return (findings, surplus.next == .leave) }
            findings += try await repair(id, row, signature)
        } catch let error as DeviceError where error.code != .full {
            let files = [folder(id).path, folder(id).audio, "\(folder(id).path)/journal.jsonl"]
            // Opening a link also fails with these errors, regardless of the owner.
            if [EACCES, EPERM].contains(error.status), let remedy = ArchiveOwner.remedy(for: files) {
                findings.append(
                    StorageFinding(
                        .damaged, recording: id, file: folder(id).path,
                        "recording \(id) cannot be read and was not changed: \(remedy)"))
            } else {
                findings.append(StorageFinding(.damaged, recording: id, error, at: folder(id).path))
            }
        }
        return (findings, true)
    }

    /// Completes interrupted erasures. A failed erasure does not stop the recovery.
    private func finishErasures() async -> [StorageFinding] {
        do {
            let outcome = try await Erasure(storage: storage, archive: archive).finishInterrupted()
            return outcome.erased.map {
                StorageFinding(.note, recording: $0, file: storage, "the erasure of recording \($0) was completed")
            }
                + outcome.failures.sorted { $0.key < $1.key }.map {
                    StorageFinding(
                        .damaged, recording: $0, file: storage,
                        "recording \($0) was deleted, but some of its files could not be removed yet; retrying later: "
                            + $1.message)
                }
        } catch {
            return [StorageFinding(.damaged, DeviceError(wrapping: error), at: storage)]
        }
    }

    private func repairHistory() async throws -> [StorageFinding] {
        guard let oldFile = try await archive.repairHistory() else { return [] }
        return [
            StorageFinding(
                .repaired, file: "\(storage)/history.jsonl",
                "differed from the database and was rewritten from it; \(oldFile)")
        ]
    }

    /// Returns whether a recording has audio.
    ///
    /// - Throws: `DeviceError` if this cannot be determined; unreadable audio does not count as missing.
    static func hasAudio(_ id: Int, in storage: String) throws(DeviceError) -> Bool {
        try unlessMissing(false) { () throws(DeviceError) in
            try RecordingFolder.open(id, in: storage).exists(RecordingFolder.audioName)
        }
    }

    static func folders(in storage: String) throws -> [Int] {
        try names(inFolder: "\(storage)/recordings").compactMap(RecordingFolder.recording(named:))
    }

    private func folder(_ id: Int) -> RecordingFolder { RecordingFolder(storage: storage, recording: id) }

    private func repair(
        _ id: Int, _ row: RecordingSummary?, _ signature: HistoryEntry?
    ) async throws -> [StorageFinding] {
        let audio = folder(id).audio
        var findings: [StorageFinding] = []
        var repair = try await onThread(named: "repair", niceness: 5) {
            try RecordingRepair.run(path: audio, archived: row.map { ($0.length, $0.stopReason) })
        }
        if let signature, let length = signature.signedLength, repair.length > length {
            return Self.tooLong(id, audio, by: repair.length - length, than: signature).findings
        }
        // A signed recording ends where the signed sound ends.
        if repair.reason == .cutShort, row != nil, signature == nil {
            let gaps = try await archive.gaps(of: id)
            if let (length, lost) = try RecordingRepair.appendSilence(over: gaps, path: audio, length: repair.length) {
                repair.length = length
                if let lost { try await archive.add(lost, recording: id) }
                findings.append(
                    StorageFinding(
                        .note, recording: id, file: audio,
                        "the lost end of recording \(id) is now silence"))
            }
        }
        if repair.missingSamples > 0 {
            let seconds = SamplePosition(repair.missingSamples).seconds
            findings.append(
                StorageFinding(
                    .damaged, recording: id, file: audio,
                    "its last \(seconds) s are missing; find a copy, and check the disk"))
        }
        if !repair.changes.isEmpty {
            let changes = repair.changes.map(Self.text).joined(separator: ", ")
            findings.append(StorageFinding(.repaired, recording: id, file: audio, changes))
        }
        findings += try await addChecksums(
            id, wasCut: !repair.changes.isEmpty || row?.length != repair.length, signature)
        if let row, row.isMissing {
            try await archive.markMissing(recording: id, false)
            findings.append(StorageFinding(.repaired, recording: id, file: audio, "the audio exists again"))
        }
        return findings + (try await storeEnd(of: id, row, repair.length, repair.reason))
    }

    /// Stores how a recording ended. Adds a recording that is not in the archive.
    private func storeEnd(
        of id: Int, _ row: RecordingSummary?, _ length: SamplePosition, _ reason: StopReason
    ) async throws -> [StorageFinding] {
        if let row, row.length == length, row.stopReason == reason { return [] }
        let audio = folder(id).audio
        if row == nil {
            try await archive.adopt(recording: id, startedAt: Self.modificationTime(audio) - length.seconds)
        }
        try await archive.endRecording(id, length: length, reason: reason)
        let change =
            row == nil
            ? "was not in the archive and was added"
            : "is now listed with a length of \(clockTime(length)), ended by: \(reason.rawValue)"
        return [StorageFinding(.repaired, recording: id, file: audio, "recording \(id) \(change)")]
    }

    private func markMissing(_ id: Int, _ row: RecordingSummary?) async throws -> [StorageFinding] {
        // If there is no row, this is another program's folder, or an empty folder that a killed process left behind.
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
                "the audio of recording \(id) is missing; its text is kept. Restore the file, or delete the recording")
        ]
    }

    /// Joins the parts that were written beside the audio when the disk failed, `audio.from-NNN.wav`. If the disk is
    /// full, the parts stay separate until the next start, and the archive lists the length with them.
    private func joinParts(of id: Int, _ row: RecordingSummary?, until end: Int64?) async throws -> CheckResult {
        let (path, audio) = (folder(id).path, folder(id).audio)
        let joining: JoinResult
        do {
            joining = try await onStoppableThread(named: "joining", until: end) { shouldContinue in
                try Audio.joinParts(inFolder: path, while: shouldContinue)
            }
        } catch let error as DeviceError where error.code == .full {
            var findings = [StorageFinding(.note, recording: id, error, at: audio)]
            let (length, reason) = try await onThread(named: "repair", niceness: 5) {
                let reader = try RecordingReader(path: audio)
                return (try reader.length, reader.stopReason ?? .cutShort)
            }
            findings += try await storeEnd(of: id, row, length, reason)
            return CheckResult(findings: findings, next: .leave)
        }
        switch joining {
        case .whole: return CheckResult()
        case .unfinished: return try Self.interruptedCheck()
        case .joined:
            return CheckResult(
                findings: [
                    StorageFinding(
                        .repaired, recording: id, file: audio,
                        "the parts that were written when the disk failed were joined into one file, and were kept"
                    )
                ])
        }
    }

    private static func text(_ change: RecordingRepair.Change) -> String {
        switch change {
        case .halfSample: "half a sample at its end was removed"
        case .unwrittenTail: "zeros at its end that were never recorded were removed"
        case .header: "the header now matches the audio"
        case .newHeader: "the header was damaged; it was kept beside the file and rewritten"
        }
    }

    private static func modificationTime(_ path: String) -> Double { Double(FileStatus(target: path)?.modified ?? 0) }
}
