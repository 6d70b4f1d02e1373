import Archive
import Audio
import Copying
import Core
import Glibc
import System

/// Compares recordings' files, journals, timelines, ledger entries and history with each other. Changes nothing.
package struct Verification: Sendable {
    let storage: String
    let archive: SQLiteArchive

    package init(storage: String, archive: SQLiteArchive) {
        self.storage = storage
        self.archive = archive
    }

    /// Checks the recordings with these IDs; if there are none, checks all recordings and the database.
    ///
    /// - Parameters:
    ///   - recording: the IDs of recordings that have not ended. They are reported, and their sound is checked as far
    ///     as it is on the disk.
    ///   - isQuick: whether to check only the length and the gaps of the sound.
    /// - Throws: `DeviceError` with `missing` if a recording does not exist, `damaged` if the database is damaged.
    package func run(
        _ ids: [Int], recording: Set<Int> = [], isQuick: Bool = false
    ) async throws -> [StorageFinding] {
        // Impossible IDs in a damaged database are clamped, so two recordings may have the same ID.
        let rows = Dictionary(try await archive.recordings().map { ($0.id, $0) }) { first, _ in first }
        let folders = try await onThread(named: "verify", niceness: 5) { try Recovery.folders(in: storage) }
        if ids.isEmpty { try await archive.check() }
        var findings = try await archive.historyFindings().filter { finding in
            ids.isEmpty || finding.recording.map(ids.contains) ?? false
        }
        var compared: [SoundEvidence: [Int]] = [:]
        for id in ids.isEmpty ? Set(rows.keys).union(folders).sorted() : ids {
            try Task.checkCancellation()
            if recording.contains(id) {
                let audio = RecordingFolder(storage: storage, recording: id).audio
                findings.append(
                    StorageFinding(
                        .note, recording: id, file: audio,
                        "recording \(id) is being recorded; only what is already on the disk was checked"))
                if !isQuick, let sums = try await readSums(of: audio, isGrowing: true) {
                    findings += self.findings(of: sums, id)
                }
            } else if let row = rows[id], row.isSealed {
                findings += try await checkSealed(row, isQuick: isQuick)
            } else if let row = rows[id] {
                let countBefore = findings.count
                do { findings += try await check(row) } catch let error as DeviceError
                    where error.code != .damaged && ![EMFILE, ENFILE].contains(error.status)
                {
                    let folder = RecordingFolder(storage: storage, recording: id)
                    findings.append(StorageFinding(.damaged, recording: id, error, at: folder.path))
                }
                let isConsistent = findings.count == countBefore
                if !isQuick {
                    findings += try await checkOriginal(of: row)
                    let (found, evidence) = try await checkSound(of: row)
                    findings += found
                    if isConsistent, found.isEmpty, let evidence { compared[evidence, default: []].append(id) }
                }
            } else if folders.contains(id) {
                let folder = RecordingFolder(storage: storage, recording: id)
                do throws(DeviceError) {
                    if try Recovery.hasAudio(id, in: storage) {
                        findings.append(
                            damage(id, folder.audio, "is not in the archive; run fieldscribe recover to add it"))
                    }
                } catch {
                    guard error.code != .denied else { throw error }
                    findings.append(StorageFinding(.damaged, recording: id, error, at: folder.path))
                }
            } else {
                throw DeviceError.noRecording(id, "verify")
            }
        }
        if !ids.isEmpty { return findings + notes(on: compared) }
        let erasure = Erasure(storage: storage, archive: archive)
        return try await findings + notes(on: compared) + erasure.findingsBesideSealed()
    }

    /// Checks that a sealed recording's file exists and that there are no readable files beside it. Unless `isQuick`,
    /// also checks the file's digest.
    private func checkSealed(_ row: RecordingSummary, isQuick: Bool) async throws -> [StorageFinding] {
        let path = RecordingFolder(storage: storage, recording: row.id).sealed
        guard let manifest = row.seal.flatMap({ SealedManifest($0) }) else { return [] }
        var problems: [(file: String, message: String)] = []
        do {
            problems = try await onStoppableThread(
                named: "verify"
            ) { shouldContinue -> [(file: String, message: String)] in
                let folder = try RecordingFolder.open(row.id, in: storage)
                guard try RecordingSealer.exists(manifest, in: folder) else {
                    return [(path, "is missing or was changed; restore it from a copy or a backup")]
                }
                var problems: [(file: String, message: String)] = []
                for name in try folder.names() where !SealingJob.sealedFiles.contains(name) {
                    problems.append(
                        ("\(folder.path)/\(name)", "is readable beside the sealed file; run fieldscribe recover"))
                }
                if !isQuick, try RecordingSealer.digest(in: folder, shouldContinue: shouldContinue) != manifest.file {
                    problems.append((path, "differs from the file that was sealed; restore it from a copy or a backup"))
                }
                return problems
            }
        } catch let error as DeviceError {
            if error.status == ECANCELED { throw CancellationError() }
            return [StorageFinding(.damaged, recording: row.id, error, at: path)]
        }
        let ledger = try await checkLedger(row)
        return problems.map { damage(row.id, $0.file, $0.message) } + ledger
    }

    private func check(_ row: RecordingSummary) async throws -> [StorageFinding] {
        guard let (_, timeline) = try await archive.transcript(of: row.id) else { return [] }
        let folder = RecordingFolder(storage: storage, recording: row.id)
        // A slow card is read on a separate thread, so that recording continues.
        var findings = try await onThread(named: "verify", niceness: 5) { checkAudio(row, folder, timeline) }
        findings += check(timeline, of: row, folder)
        findings += try await checkLedger(row)
        let journal = try await archive.journalFindings(of: row.id)
        let path = "\(folder.path)/journal.jsonl"
        if journal.damagedLines > 0 {
            findings.append(
                damage(
                    row.id, path,
                    "has \(counted(journal.damagedLines, "damaged line", "damaged lines")); run fieldscribe recover"))
        }
        if journal.differs {
            findings.append(
                damage(
                    row.id, path,
                    "differs from the text in the database; keep copies of both, move the wrong one elsewhere, then "
                        + "run fieldscribe recover"))
        }
        return findings
    }

    func checkAudio(
        _ row: RecordingSummary, _ folder: RecordingFolder, _ timeline: Timeline
    ) -> [StorageFinding] {
        let audio = folder.audio
        let file: RecordingVerification
        do throws(DeviceError) { file = try RecordingVerification(path: audio, gaps: timeline.gaps) } catch {
            guard error.code == .missing else {
                return [StorageFinding(.damaged, recording: row.id, error, at: audio)]
            }
            if row.length == .zero { return [] }
            return [damage(row.id, audio, "the audio is missing; restore the file, or delete the recording")]
        }
        var problems: [String] = []
        if file.hasHalfSample { problems.append("ends with half a sample; run fieldscribe recover") }
        if file.headerLength != file.length {
            problems.append(
                "has \(file.length.seconds) s, but its header says \(file.headerLength.seconds) s; "
                    + "run fieldscribe recover")
        }
        if file.length != row.length {
            problems.append(
                "has \(file.length.seconds) s, but the archive says \(row.length.seconds) s; run fieldscribe recover")
        }
        if let reason = file.reason, reason != row.stopReason {
            problems.append(
                "ended by: \(reason.rawValue), but the archive says: \(row.stopReason.rawValue); run fieldscribe recover"
            )
        }
        if row.isMissing { problems.append("exists, but is marked as missing; run fieldscribe recover") }
        problems += file.noisyGaps.map {
            "is not silent at \($0.range.start.seconds) s, where audio was lost; listen to it, and keep a copy"
        }
        return problems.map { damage(row.id, audio, $0) }
    }

    func check(_ timeline: Timeline, of row: RecordingSummary, _ folder: RecordingFolder) -> [StorageFinding] {
        var problems: [String] = []
        var end = SamplePosition.zero
        for segment in timeline.segments {
            if segment.range.start < end { problems.append("segment \(segment.id) overlaps the previous one") }
            if segment.range.end > row.length {
                problems.append("segment \(segment.id) is beyond the end of the audio")
            }
            var wordEnd = segment.range.start
            for word in segment.words {
                if word.range.start < wordEnd || word.range.end > segment.range.end {
                    problems.append("segment \(segment.id) has a word that is out of order or outside it")
                    break
                }
                wordEnd = word.range.end
            }
            end = segment.range.end
        }
        if timeline.gaps.contains(where: { $0.range.end > row.length }) {
            problems.append("a gap is beyond the end of the audio")
        }
        if timeline.marks.contains(where: { $0.position > row.length }) {
            problems.append("a bookmark is beyond the end of the audio")
        }
        return problems.map {
            damage(
                row.id, folder.path, "\($0); if audio is missing, restore it from a copy, then run fieldscribe recover")
        }
    }

    private func checkLedger(_ row: RecordingSummary) async throws -> [StorageFinding] {
        let passes = Set(try await archive.passes(of: row.id).map(\.id))
        return try await archive.exports(of: row.id).filter { entry in
            let isDigest = entry.manifest.utf8.count == 64 && entry.manifest.allSatisfy(\.isHexDigit)
            let isManifest = isDigest || SealedManifest(entry.manifest) != nil
            return !isManifest || entry.folder.isEmpty || !(entry.pass.map(passes.contains) ?? true)
        }.map {
            damage(
                row.id, "\(storage)/archive.sqlite",
                "the ledger's entry for \($0.volume) is invalid; export recording \(row.id) again")
        }
    }

    func damage(_ id: Int, _ file: String, _ message: String) -> StorageFinding {
        StorageFinding(.damaged, recording: id, file: file, message)
    }
}
