import Audio
import Core
import Glibc
import System
import Transcripts

// A closed recording keeps its length: audio that other programs appended is set aside.
extension Recovery {
    struct CheckResult {
        enum Next {
            case proceed
            /// Neither the file nor the row may be changed.
            case leave
            /// The time budget was not enough.
            case later
        }

        var findings: [StorageFinding] = []
        var next = Next.proceed
    }

    /// Returns the recorder's signature of a recording's sound, if any.
    func signature(of id: Int) async throws -> HistoryEntry? {
        try await archive.history(of: id).map(\.entry).soundSignature
    }

    /// Sets aside parts beside a signed recording that do not belong to it.
    func checkParts(of id: Int, _ signature: HistoryEntry?, until end: Int64?) async throws -> CheckResult {
        let audio = RecordingFolder(storage: storage, recording: id).audio
        let parts = RecordingPart.all(beside: audio)
        guard let length = signature?.signedLength, !parts.isEmpty else { return CheckResult() }
        do {
            let (withParts, withoutParts) = try await onStoppableThread(named: "repair", until: end) { shouldContinue in
                let digest = try soundDigest(of: audio, length: length, shouldContinue: shouldContinue)
                return (digest, try RecordingSurplus.digest(of: audio, upTo: length, while: shouldContinue))
            }
            if withParts == signature?.sound { return CheckResult() }
            guard let withoutParts else { return try Self.interruptedCheck() }
            guard withoutParts == signature?.sound else {
                return CheckResult(
                    findings: [
                        StorageFinding(
                            .damaged, recording: id, file: audio,
                            "differs from the signed sound, with or without the parts beside it; restore it from a "
                                + "copy")
                    ], next: .leave)
            }
        } catch let error as DeviceError where error.status == ECANCELED { return try Self.interruptedCheck() }
        let findings = try await onThread(named: "repair", niceness: 5) {
            try parts.map { part in
                let (folder, name) = try Folder.parent(of: part.path)
                let newPath = try folder.setAside(name, as: "surplus")
                return StorageFinding(
                    .repaired, recording: id, file: part.path,
                    "was added beside recording \(id) after the recording was signed; it was set aside as \(newPath)")
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
            try RecordingSurplus(path: audio, after: length)
        }
        guard let surplus else { return CheckResult() }
        if let signature {
            let digest = try await onStoppableThread(named: "repair", until: end) { shouldContinue in
                try RecordingSurplus.digest(of: audio, upTo: length, while: shouldContinue)
            }
            guard let digest else { return try Self.interruptedCheck() }
            guard digest == signature.sound else {
                return Self.tooLong(id, audio, by: surplus.samples, than: signature)
            }
        } else if try await !isClosed(id, row, surplus) {
            return CheckResult()
        }
        let seconds = SamplePosition(surplus.samples).seconds
        do {
            let newPath = try await onThread(named: "repair", niceness: 5) {
                try surplus.setAside(fallback: row?.stopReason ?? .cutShort)
            }
            return CheckResult(
                findings: [
                    StorageFinding(
                        .repaired, recording: id, file: audio,
                        "\(seconds) s that were appended after recording \(id) was closed were set aside as \(newPath)")
                ])
        } catch let error as DeviceError where error.code == .full {
            return CheckResult(findings: [StorageFinding(.damaged, recording: id, error, at: audio)], next: .leave)
        }
    }

    /// Returns the result for a file that is longer than the signed sound, and differs from it before the signed end,
    /// too.
    static func tooLong(_ id: Int, _ audio: String, by samples: Int64, than signature: HistoryEntry) -> CheckResult {
        CheckResult(
            findings: [
                StorageFinding(
                    .damaged, recording: id, file: audio,
                    "is \(SamplePosition(samples).seconds) s longer than the sound that was signed at "
                        + "\(signature.time), and also differs before its end; it was not changed. Restore it from a "
                        + "copy")
            ], next: .leave)
    }

    /// Returns whether a second source confirms the stored end of an unsigned recording, because a single source may be
    /// damaged. That is the header or, if the header includes the appended sound, the history with the checksums.
    private func isClosed(_ id: Int, _ row: RecordingSummary?, _ surplus: RecordingSurplus) async throws -> Bool {
        if surplus.headerLength == surplus.length { return true }
        guard let row, row.stopReason != .cutShort, surplus.reason == row.stopReason, !surplus.isJoined else {
            return false
        }
        let recorded = try await archive.history(of: id).map(\.entry).last { $0.act == .recorded }
        guard recorded?.length.map({ SamplePosition(seconds: $0) }) == surplus.length,
            let sums = try await readSums(of: RecordingFolder(storage: storage, recording: id).audio)
        else { return false }
        // The checksums match up to that end, so this is the original sound with something appended.
        return sums.damaged.isEmpty && sums.unknown.first?.start == surplus.length
    }

    /// Computes missing checksums. During a start, computes only those that a power cut lost, for a few seconds of
    /// sound.
    func addChecksums(_ id: Int, wasCut: Bool, _ signature: HistoryEntry?) async throws -> [StorageFinding] {
        guard depth == .everything || wasCut && signature == nil else { return [] }
        let path = RecordingFolder(storage: storage, recording: id).audio
        let isWhole = depth == .everything
        // Later, new checksums of altered sound could not be distinguished from original ones.
        if let signature,
            try await onThread(named: "checksums", niceness: 5, { try RecordingSums.hasMissing(path: path) }),
            let sums = try await readSums(of: path, digests: true), sums.sound?.digest != signature.sound
        {
            return [
                StorageFinding(
                    .damaged, recording: id, file: path,
                    "lacks checksums, and none were made: the sound differs from the signed sound (signed at "
                        + "\(signature.time)); restore it from a copy")
            ]
        }
        let made = try await onStoppableThread(named: "checksums") { shouldContinue in
            try RecordingSums.complete(path: path, afterLast: !isWhole, while: shouldContinue)
        }
        try Task.checkCancellation()
        guard made > 0, isWhole else { return [] }
        return [
            StorageFinding(
                .note, recording: id, file: path,
                "checksums were made for the current state of \(clockTime(SamplePosition(made))) of sound")
        ]
    }

    static func interruptedCheck() throws -> CheckResult {
        try Task.checkCancellation()
        return CheckResult(next: .later)
    }
}

extension HistoryEntry {
    /// The length of the signed sound; nil if the entry is not a signature.
    var signedLength: SamplePosition? { act == .signed ? length.map { SamplePosition(seconds: $0) } : nil }
}
