import Core
import Glibc
import System

extension FolderExport {
    /// Copies the recordings that the target lacks, encrypted. Never writes unencrypted recordings: if age or a key
    /// cannot be used, nothing is copied.
    ///
    /// - Parameter recipients: the public keys to encrypt for, or why they are unknown.
    func encrypt(
        _ chosen: [RecordingSummary], to path: String, for recipients: Result<[Recipient], DeviceError>
    ) async throws -> CopyReport {
        let folder = try await openFolder(in: path, isEncrypted: true)
        do {
            let (keys, age) = try await onThread(named: "copy") {
                let (recipients, age) = (try recipients.get(), try Age())
                try age.check(recipients)
                return (recipients, age)
            }
            return try await encrypt(chosen, to: folder, age, keys)
        } catch let error as DeviceError where error.status != ECANCELED {
            _ = try await finish(CopyReport(), on: folder, error: error)
            throw error
        }
    }

    private func encrypt(
        _ chosen: [RecordingSummary], to folder: CopyFolder, _ age: Age, _ recipients: [Recipient]
    ) async throws -> CopyReport {
        var session = try await CopySession<SealedName>(folder, ledger?.exports(to: settings.volume) ?? [])
        let sealedFailures = try await copySealed(chosen.filter(\.isSealed), in: &session)
        // If age fails to start, it fails for every other recording too.
        let failures = try await forEach(of: chosen.filter { !$0.isSealed }, stopsAll: { $0.cause == .age }) {
            job, pass in
            try await place(job, pass, in: &session) {
                EncryptedWriter(SealedCopy(copy: job, age: age, recipients: recipients), in: folder)
            }
        }
        session.report.failures = sealedFailures + failures
        return try await finish(await writeSums(session), on: folder, error: nil)
    }

    /// Copies recordings that are sealed on the recorder, beside the readable copies on a target.
    func copySealed(_ sealed: [RecordingSummary], to path: String) async throws -> CopyReport {
        let folder = try await openFolder(in: path, isEncrypted: true)
        var session = try await CopySession<SealedName>(folder, ledger?.exports(to: settings.volume) ?? [])
        session.report.failures = try await copySealed(sealed, in: &session)
        var report = try await writeSums(session)
        if report.listsError != nil { return report }
        do {
            try await onThread(named: "copy") {
                _ = try folder.top.replaceIfChanged(SealedTexts.readmeName, with: SealedTexts.readme)
            }
        } catch let error as DeviceError { report.listsError = error }
        return report
    }

    private func writeSums(_ session: CopySession<SealedName>) async throws -> CopyReport {
        var report = session.report
        let (folder, known) = (session.folder.folder, session.known)
        do {
            try await onThread(named: "copy") { try folder.writeSums(known) }
        } catch let error as DeviceError { report.listsError = error }
        return report
    }

    /// Copies the encrypted files of recordings that are sealed on the recorder.
    ///
    /// - Returns: the failures.
    private func copySealed(
        _ sealed: [RecordingSummary], in session: inout CopySession<SealedName>
    ) async throws -> [(recording: Int, error: DeviceError)] {
        var failures: [(recording: Int, error: DeviceError)] = []
        for (index, summary) in sealed.enumerated() {
            let ordinal = (index + 1, of: sealed.count)
            do {
                do { try await copySealed(summary, ordinal, in: &session) } catch let error as DeviceError
                    where error.code == .damaged
                {
                    // The recording may have been sealed again since the list was read.
                    let current = try await archive.recordings().first { $0.id == summary.id }
                    guard let current, current.isSealed, current.seal != summary.seal else { throw error }
                    try await copySealed(current, ordinal, in: &session)
                }
            } catch let error as DeviceError {
                if error.status == ECANCELED { throw error }
                failures.append((summary.id, error))
                if error.stopsCopying { break }
            }
        }
        return failures
    }

    private func copySealed(
        _ summary: RecordingSummary, _ ordinal: (Int, of: Int), in session: inout CopySession<SealedName>
    ) async throws {
        guard let manifest = summary.seal.flatMap({ SealedManifest($0) }) else { return }
        let earlier = session.entries.filter { $0.recording == summary.id }
        // The history is needed only if there are earlier copies: a sealed recording can no longer be redacted.
        let history = earlier.isEmpty ? [] : try await archive.history(of: summary.id).map(\.entry)
        let outdated = Set(earlier.beforeRedaction(in: history))
        let (folder, audio, shouldStop, progress) = (session.folder, audioPath(summary.id), shouldStop, progress)
        let placed = try await place(summary.id, history, in: &session, transcribedPart: nil) {
            SealedFileWriter(
                folder: folder, recording: summary.id, manifest: manifest,
                source: try Folder.parent(of: audio, crossesMounts: true).folder, outdated: outdated,
                shouldStop: shouldStop
            ) { bytes in
                let reached = Double(bytes) / Double(manifest.bytes) * Double(summary.length.samples)
                progress(
                    CopyProgress(
                        recording: summary.id, ordinal: ordinal.0, count: ordinal.of,
                        reached: SamplePosition(min(summary.length.samples, Int64(reached))), length: summary.length))
            }
        }
        guard placed.isNew else { return }
        let entry = ExportEntry(
            recording: summary.id, pass: nil, volume: settings.volume,
            folder: "\(folder.device.text)/\(placed.name.text)", manifest: manifest.text, exportedAt: settings.now)
        try await add(entry, of: placed, to: &session)
    }

    /// Writes the readable texts beside encrypted copies if they changed.
    private func finish(_ report: CopyReport, on folder: CopyFolder, error: DeviceError?) async throws -> CopyReport {
        var report = report
        do {
            report.unencryptedRecordings = try await onThread(named: "copy") {
                try folder.unencryptedRecordings(device: settings.device, identity: settings.identity)
            }
            let text = encryptedResultText(report, error: error)
            try await onThread(named: "copy") {
                let readme = try folder.top.replaceIfChanged(SealedTexts.readmeName, with: SealedTexts.readme)
                let result = try folder.top.replaceIfChanged("RESULT.txt", with: text)
                if readme || result { try folder.top.syncFileSystem() }
            }
        } catch let error as DeviceError {
            if report.listsError == nil { report.listsError = error }
        }
        return report
    }
}
