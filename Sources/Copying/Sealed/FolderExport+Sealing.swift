import Core
import Glibc
import System

extension FolderExport {
    /// Encrypts what the target lacks. Never writes anything readable: if encryption is impossible, nothing is copied.
    ///
    /// - Parameter recipients: for whom, or why they are not known.
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
        let carried = try await copySealed(chosen.filter(\.isSealed), in: &session)
        // If age fails to start, it fails for every other recording too.
        let failures = try await each(of: chosen.filter { !$0.isSealed }, endsAll: { $0.cause == .age }) {
            job, pass in
            try await place(job, pass, in: &session) {
                EncryptedWriter(SealedCopy(copy: job, age: age, recipients: recipients), in: folder)
            }
        }
        session.report.failures = carried + failures
        return try await finish(await writeSums(session), on: folder, error: nil)
    }

    /// Copies recordings that are sealed on the recorder to a target with readable copies.
    func copySealed(_ sealed: [RecordingSummary], to path: String) async throws -> CopyReport {
        let folder = try await openFolder(in: path, isEncrypted: true)
        var session = try await CopySession<SealedName>(folder, ledger?.exports(to: settings.volume) ?? [])
        session.report.failures = try await copySealed(sealed, in: &session)
        var report = try await writeSums(session)
        if report.listsError != nil { return report }
        do {
            try await onThread(named: "copy") {
                _ = try folder.top.renewList(SealedTexts.readmeName, with: SealedTexts.readme)
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

    /// Copies files that are sealed on the recorder.
    ///
    /// - Returns: what failed.
    private func copySealed(
        _ sealed: [RecordingSummary], in session: inout CopySession<SealedName>
    ) async throws -> [(recording: Int, error: DeviceError)] {
        var failures: [(recording: Int, error: DeviceError)] = []
        for (index, summary) in sealed.enumerated() {
            let number = (index + 1, of: sealed.count)
            do {
                do { try await copySealed(summary, number, in: &session) } catch let error as DeviceError
                    where error.code == .damaged
                {
                    // It may have been sealed again since the list was read.
                    let now = try await archive.recordings().first { $0.id == summary.id }
                    guard let now, now.isSealed, now.seal != summary.seal else { throw error }
                    try await copySealed(now, number, in: &session)
                }
            } catch let error as DeviceError {
                if error.status == ECANCELED { throw error }
                failures.append((summary.id, error))
                if error.endsCopies { break }
            }
        }
        return failures
    }

    private func copySealed(
        _ summary: RecordingSummary, _ number: (Int, of: Int), in session: inout CopySession<SealedName>
    ) async throws {
        guard let manifest = summary.seal.flatMap({ SealedManifest($0) }) else { return }
        let earlier = session.entries.filter { $0.recording == summary.id }
        // Only earlier copies need the history: a sealed recording can no longer be redacted.
        let history = earlier.isEmpty ? [] : try await archive.history(of: summary.id).map(\.entry)
        let outdated = Set(earlier.beforeRedaction(in: history))
        let (folder, audio, shouldStop, progress) = (session.folder, audioPath(summary.id), shouldStop, progress)
        let placed = try await place(summary.id, history, in: &session, written: nil) {
            SealedFileWriter(
                folder: folder, recording: summary.id, manifest: manifest,
                source: try Folder.holding(audio, crosses: true).folder, outdated: outdated, shouldStop: shouldStop
            ) { bytes in
                let reached = Double(bytes) / Double(manifest.bytes) * Double(summary.length.samples)
                progress(
                    CopyProgress(
                        recording: summary.id, number: number.0, count: number.of,
                        reached: SamplePosition(min(summary.length.samples, Int64(reached))), length: summary.length))
            }
        }
        guard placed.isNew else { return }
        let entry = ExportEntry(
            recording: summary.id, pass: nil, volume: settings.volume,
            folder: "\(folder.device.text)/\(placed.name.text)", manifest: manifest.text, exportedAt: settings.now)
        try await add(entry, of: placed, to: &session)
    }

    /// Writes the texts beside encrypted copies if they changed.
    private func finish(_ report: CopyReport, on folder: CopyFolder, error: DeviceError?) async throws -> CopyReport {
        var report = report
        do {
            report.inClear = try await onThread(named: "copy") {
                try folder.recordingsInClear(device: settings.device, identity: settings.identity)
            }
            let text = encryptedResultText(report, error: error)
            try await onThread(named: "copy") {
                let readme = try folder.top.renewList(SealedTexts.readmeName, with: SealedTexts.readme)
                let result = try folder.top.renewList("RESULT.txt", with: text)
                if readme || result { try folder.top.syncFileSystem() }
            }
        } catch let error as DeviceError {
            if report.listsError == nil { report.listsError = error }
        }
        return report
    }
}
