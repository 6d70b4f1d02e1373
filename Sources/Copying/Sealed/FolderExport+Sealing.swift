import Core
import Glibc
import System
import Transcripts

extension FolderExport {
    /// What sealing needs, ready.
    private struct Desk: Sendable {
        var sealedFolder: SealedFolder
        var age: Age
        var recipients: [Recipient]
    }

    /// Seals what the target lacks. Nothing is ever written in the clear: whatever is missing for sealing, nothing is copied then.
    ///
    /// - Parameter recipients: for whom, or why that is not certain.
    func seal(
        _ chosen: [RecordingSummary], to path: String, for recipients: Result<[Recipient], DeviceError>
    ) async throws -> CopyReport {
        let (identity, gate) = (settings.identity, gate)
        let sealedFolder = try await onThread(named: "copy") {
            let folder = try SealedFolder(in: Folder(opening: path, gate: gate), identity: identity)
            try folder.clearTemporaries()
            return folder
        }
        var report = CopyReport()
        do {
            let desk = try await onThread(named: "copy") {
                let (recipients, age) = (try recipients.get(), try Age())
                try age.check(recipients)
                return Desk(sealedFolder: sealedFolder, age: age, recipients: recipients)
            }
            return try await seal(chosen, on: desk)
        } catch let error as DeviceError where error.status != ECANCELED {
            report = try await finish(report, on: sealedFolder, error: error)
            throw error
        }
    }

    private func seal(_ chosen: [RecordingSummary], on desk: Desk) async throws -> CopyReport {
        let folder = desk.sealedFolder
        var entries = try await ledger?.exports(to: settings.volume) ?? []
        var known = KnownSealedCopies(entries, folder: folder.name)
        var report = CopyReport()
        let thread = WorkThread(named: "copy", niceness: 5)
        // Nothing goes better for the others without age either.
        let carried = try await carry(chosen.filter(\.isSealed), to: folder, entries, &known, &report)
        let failures = try await each(of: chosen.filter { !$0.isSealed }, endsAll: { $0.operation == "age" }) {
            job, pass in
            let copies = known
            let outcome = try await thread.run {
                let copy = SealedCopy(copy: job, age: desk.age, recipients: desk.recipients)
                return try SealedPlacing(sealedFolder: folder, copy: copy, known: copies).run()
            }
            let place = "\(folder.name)/\(outcome.name.text)"
            let copy = CopyReport.Copy(
                recording: job.summary.id, folder: place, bytes: outcome.manifest?.bytes ?? 0,
                written: settings.formats.isEmpty ? nil : unwrittenText(job.timeline))
            report.add(copy, isNew: outcome.manifest != nil)
            report.readPastCache = report.readPastCache && outcome.isDirect
            let there = outcome.manifest?.text ?? outcome.entry?.manifest ?? ""
            try await removeStruck(
                of: job.summary.id, but: (place, there), entries, job.history.map(\.entry), below: folder.top, &report)
            guard let manifest = outcome.manifest?.text ?? outcome.entry?.manifest(unlessOf: pass) else { return false }
            let (entry, isStruck) = try await entry(of: job, pass: pass, in: place, manifest)
            do { try await ledger?.add(entry) } catch {
                // Nobody could tell later what it is, and each copy would add another.
                if outcome.manifest != nil {
                    report.copied.removeAll { $0.recording == entry.recording }
                    if !outcome.hasReplaced { try? folder.folder.remove(outcome.name.text) }
                }
                throw error
            }
            known.add(entry)
            entries.append(entry)
            return isStruck
        }
        report.failures = carried + failures
        let sums = known.all
        do {
            try await onThread(named: "copy") { try folder.writeSums(sums) }
        } catch let error as DeviceError {
            report.listsError = error
        }
        return try await finish(report, on: folder, error: nil)
    }

    /// Copies what is sealed on the recorder to a target whose other copies are not.
    func carry(_ sealed: [RecordingSummary], to path: String) async throws -> CopyReport {
        let (identity, gate) = (settings.identity, gate)
        let folder = try await onThread(named: "copy") {
            let folder = try SealedFolder(in: Folder(opening: path, gate: gate), identity: identity)
            try folder.clearTemporaries()
            return folder
        }
        let entries = try await ledger?.exports(to: settings.volume) ?? []
        var known = KnownSealedCopies(entries, folder: folder.name)
        var report = CopyReport()
        report.failures = try await carry(sealed, to: folder, entries, &known, &report)
        let sums = known.all
        do {
            try await onThread(named: "copy") {
                try folder.writeSums(sums)
                _ = try folder.top.renewList(SealedTexts.readmeName, with: SealedTexts.readme)
            }
        } catch let error as DeviceError { report.listsError = error }
        return report
    }

    /// Copies sealed files as they are; returns what failed.
    private func carry(
        _ sealed: [RecordingSummary], to folder: SealedFolder, _ entries: [ExportEntry],
        _ known: inout KnownSealedCopies, _ report: inout CopyReport
    ) async throws -> [(recording: Int, error: DeviceError)] {
        var failures: [(recording: Int, error: DeviceError)] = []
        for (index, summary) in sealed.enumerated() {
            do {
                do {
                    try await carry(
                        summary, number: index + 1, of: sealed.count, to: folder, entries, &known, &report)
                } catch let error as DeviceError where error.code == .damaged {
                    // It may have been sealed again, since the list was read.
                    let now = try await archive.recordings().first { $0.id == summary.id }
                    guard let now, now.isSealed, now.seal != summary.seal else { throw error }
                    try await carry(now, number: index + 1, of: sealed.count, to: folder, entries, &known, &report)
                }
            } catch let error as DeviceError {
                if error.status == ECANCELED { throw error }
                failures.append((summary.id, error))
                if [EIO, ENODEV, ENXIO, EROFS].contains(error.status) { break }
            }
        }
        return failures
    }

    private func carry(
        _ summary: RecordingSummary, number: Int, of count: Int, to folder: SealedFolder, _ entries: [ExportEntry],
        _ known: inout KnownSealedCopies, _ report: inout CopyReport
    ) async throws {
        guard let manifest = summary.seal.flatMap({ SealedManifest($0) }) else { return }
        let (copies, shouldStop, progress) = (known, shouldStop, progress)
        // Nothing is struck any more in what is sealed.
        let isKnown = entries.contains { $0.recording == summary.id }
        let history = isKnown ? try await archive.history(of: summary.id).map(\.entry) : []
        let outdated = Set(entries.filter { $0.recording == summary.id }.beforeStrike(in: history))
        let audio = audioPath(summary.id)
        let outcome = try await onThread(named: "copy", niceness: 5) {
            let source = try Folder.holding(audio, crosses: true).folder
            return try SealedCarrying(
                sealedFolder: folder, recording: summary.id, manifest: manifest, source: source, known: copies,
                outdated: outdated, shouldStop: shouldStop
            ) { bytes in
                let reached = Double(bytes) / Double(manifest.bytes) * Double(summary.length.samples)
                progress(
                    CopyProgress(
                        recording: summary.id, number: number, count: count,
                        reached: SamplePosition(min(summary.length.samples, Int64(reached))), length: summary.length))
            }.run()
        }
        let copy = CopyReport.Copy(
            recording: summary.id, folder: "\(folder.name)/\(outcome.name.text)", bytes: outcome.manifest?.bytes ?? 0)
        try await removeStruck(
            of: summary.id, but: (copy.folder, outcome.entry?.manifest ?? manifest.text), entries, history,
            below: folder.top, &report)
        guard outcome.manifest != nil else { return report.kept.append(copy) }
        report.readPastCache = report.readPastCache && outcome.isDirect
        let entry = ExportEntry(
            recording: summary.id, pass: nil, volume: settings.volume, folder: copy.folder, manifest: manifest.text,
            exportedAt: settings.now)
        try await ledger?.add(entry)
        report.copied.append(copy)
        known.add(entry)
    }

    /// Writes what stands beside sealed copies, where another text is there.
    private func finish(_ report: CopyReport, on folder: SealedFolder, error: DeviceError?) async throws -> CopyReport {
        var report = report
        report.leftOut = leftOut
        let settings = settings
        do {
            report.inClear = try await onThread(named: "copy") {
                try folder.recordingsInClear(device: settings.device, identity: settings.identity)
            }
            let result = SealedTexts.result(
                report, error: error, answer: answer, key: key, corrections: corrections.count)
            try await onThread(named: "copy") {
                let readme = try folder.top.renewList(SealedTexts.readmeName, with: SealedTexts.readme)
                let told = try folder.top.renewList("RESULT.txt", with: result)
                if readme || told { try folder.top.syncFileSystem() }
            }
        } catch let error as DeviceError {
            if report.listsError == nil { report.listsError = error }
        }
        return report
    }
}
