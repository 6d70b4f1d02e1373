import Audio
import Core
import Glibc
import System
import Transcripts

/// A closed recording keeps its length: audio that other programs appended is set aside.
extension Recovery {
    /// The result of checking a recording.
    struct CheckResult {
        enum Next {
            case proceed
            /// Neither file nor row must be changed.
            case leave
            /// The time budget did not suffice.
            case later
        }

        var findings: [StorageFinding] = []
        var next = Next.proceed
    }

    /// The recorder's signature of a recording's sound, if any.
    func signature(of id: Int) async throws -> HistoryEntry? {
        try await archive.history(of: id).map(\.entry).soundSignature
    }

    /// Sets aside parts beside a signed recording that do not belong to it.
    func checkParts(of id: Int, _ signature: HistoryEntry?, until end: Int64?) async throws -> CheckResult {
        let audio = RecordingFolder(storage: storage, recording: id).audio
        let parts = RecordingPart.all(beside: audio)
        guard let length = signature?.signedLength, !parts.isEmpty else { return CheckResult() }
        do {
            let (whole, own) = try await onStoppableThread(named: "repair", until: end) { shouldContinue in
                let whole = try soundDigest(of: audio, length: length, shouldContinue: shouldContinue)
                return (whole, try RecordingSurplus.digest(of: audio, upTo: length, while: shouldContinue))
            }
            if whole == signature?.sound { return CheckResult() }
            guard let own else { return try Self.later() }
            guard own == signature?.sound else {
                return CheckResult(
                    findings: [
                        StorageFinding(
                            .damaged, recording: id, file: audio,
                            "differs from what was signed, with and without the parts beside it; restore a copy")
                    ], next: .leave)
            }
        } catch let error as DeviceError where error.status == ECANCELED { return try Self.later() }
        let findings = try await onThread(named: "repair", niceness: 5) {
            try parts.map { part in
                let (folder, name) = try Folder.holding(part.path)
                let aside = try folder.setAside(name, as: "surplus")
                return StorageFinding(
                    .repaired, recording: id, file: part.path,
                    "was added beside recording \(id) after that was signed; it was set aside as \(aside)")
            }
        }
        return CheckResult(findings: findings)
    }

    /// Sets aside audio after the end of a closed recording.
    func checkEnd(
        of id: Int, _ row: RecordingSummary?, _ signature: HistoryEntry?, until end: Int64?
    ) async throws -> CheckResult {
        let audio = RecordingFolder(storage: storage, recording: id).audio
        guard let length = signature?.signedLength ?? row?.length else { return CheckResult() }
        let surplus = try await onThread(named: "repair", niceness: 5) {
            try RecordingSurplus(path: audio, behind: length)
        }
        guard let surplus else { return CheckResult() }
        if let signature {
            let found = try await onStoppableThread(named: "repair", until: end) { shouldContinue in
                try RecordingSurplus.digest(of: audio, upTo: length, while: shouldContinue)
            }
            guard let found else { return try Self.later() }
            guard found == signature.sound else { return Self.longer(id, audio, by: surplus.samples, than: signature) }
        } else if try await !isClosed(id, row, surplus) {
            return CheckResult()
        }
        let seconds = SamplePosition(surplus.samples).seconds
        do {
            let aside = try await onThread(named: "repair", niceness: 5) {
                try surplus.setAside(fallback: row?.stopReason ?? .cutShort)
            }
            return CheckResult(
                findings: [
                    StorageFinding(
                        .repaired, recording: id, file: audio,
                        "\(seconds) s that were appended after recording \(id) was closed were set aside as \(aside)")
                ])
        } catch let error as DeviceError where error.code == .full {
            return CheckResult(findings: [StorageFinding(.damaged, recording: id, error, at: audio)], next: .leave)
        }
    }

    /// The file is longer and begins with different sound from the signed one, or is another program's.
    static func longer(_ id: Int, _ audio: String, by samples: Int64, than signature: HistoryEntry) -> CheckResult {
        CheckResult(
            findings: [
                StorageFinding(
                    .damaged, recording: id, file: audio,
                    "is \(SamplePosition(samples).seconds) s longer than what was signed at \(signature.time), and differs "
                        + "before that, too; it was left unchanged. Restore a copy")
            ], next: .leave)
    }

    /// Whether a second source confirms where an unsigned recording ends: its header, or, if the header includes appended
    /// sound, history and checksums. A single source may be damaged.
    private func isClosed(_ id: Int, _ row: RecordingSummary?, _ surplus: RecordingSurplus) async throws -> Bool {
        if surplus.claimed == surplus.length { return true }
        guard let row, row.stopReason != .cutShort, surplus.reason == row.stopReason, !surplus.isJoined else {
            return false
        }
        let recorded = try await archive.history(of: id).map(\.entry).last { $0.act == .recorded }
        guard recorded?.length.map({ SamplePosition(seconds: $0) }) == surplus.length,
            let sums = try await readSums(of: RecordingFolder(storage: storage, recording: id).audio)
        else { return false }
        // The checksums match and end there: the original sound, with something appended.
        return sums.damaged.isEmpty && sums.unknown.first?.start == surplus.length
    }

    /// Computes missing checksums. During a start, only those lost in a power cut, for a few seconds of sound.
    func sum(_ id: Int, wasCut: Bool, _ signature: HistoryEntry?) async throws -> [StorageFinding] {
        guard depth == .everything || wasCut && signature == nil else { return [] }
        let path = RecordingFolder(storage: storage, recording: id).audio
        let isWhole = depth == .everything
        // Checksums of sound that differs from the signed one would pass for original ones.
        if let signature,
            try await onThread(named: "checksums", niceness: 5, { try RecordingSums.areMissing(path: path) }),
            let sums = try await readSums(of: path, digests: true), sums.sound?.digest != signature.sound
        {
            return [
                StorageFinding(
                    .damaged, recording: id, file: path,
                    "lacks checksums, and none were made: the sound differs from what was signed at \(signature.time); restore a "
                        + "copy")
            ]
        }
        let made = try await onStoppableThread(named: "checksums") { shouldContinue in
            try RecordingSums.complete(path: path, behindLast: !isWhole, while: shouldContinue)
        }
        try Task.checkCancellation()
        guard made > 0, isWhole else { return [] }
        return [
            StorageFinding(
                .note, recording: id, file: path,
                "checksums were made for \(clockTime(SamplePosition(made))) of sound in its current state")
        ]
    }

    private static func later() throws -> CheckResult {
        try Task.checkCancellation()
        return CheckResult(next: .later)
    }
}

extension HistoryEntry {
    /// The length of the signed sound; nil for an entry without it.
    var signedLength: SamplePosition? { act == .signed ? length.map { SamplePosition(seconds: $0) } : nil }
}
