import Audio
import Core
import Glibc
import System

/// A recording that was closed stays as long as it was: what others put behind it is set aside.
extension Recovery {
    /// What a look at a recording came to.
    struct Looked {
        enum Next {
            case goOn
            /// Neither file nor row is to be changed.
            case leave
            /// There was no time for it.
            case later
        }

        var findings: [StorageFinding] = []
        var next = Next.goOn
    }

    /// What the recorder has signed of a recording's sound; nil if nothing.
    func signature(of id: Int) async throws -> HistoryEntry? {
        try await archive.history(of: id).map(\.entry).soundSignature
    }

    /// Sets aside parts beside a signed recording that are not its own.
    func checkParts(of id: Int, _ signature: HistoryEntry?, until end: Int64?) async throws -> Looked {
        let audio = RecordingFolder(storage: storage, recording: id).audio
        let parts = RecordingPart.all(beside: audio)
        guard let length = signature?.signedLength, !parts.isEmpty else { return Looked() }
        do {
            let (whole, own) = try await onStoppableThread(named: "repair", until: end) { goesOn in
                let whole = try soundDigest(of: audio, length: length, goesOn: goesOn)
                return (whole, try RecordingSurplus.digest(of: audio, upTo: length, while: goesOn))
            }
            if whole == signature?.sound { return Looked() }
            guard let own else { return try Self.later() }
            guard own == signature?.sound else {
                return Looked(
                    findings: [
                        StorageFinding(
                            .damaged, recording: id, file: audio,
                            "is not what was signed, with the parts beside it or without; restore a copy of it")
                    ], next: .leave)
            }
        } catch let error as DeviceError where error.status == ECANCELED { return try Self.later() }
        let findings = try await onThread(named: "repair", niceness: 5) {
            try parts.map { part in
                let aside = asideName(for: part.path, "surplus")
                try durableRename(part.path, to: aside)
                return StorageFinding(
                    .repaired, recording: id, file: part.path,
                    "was put beside recording \(id) after that was signed; it was set aside as \(aside)")
            }
        }
        return Looked(findings: findings)
    }

    /// Sets aside what lies behind the end of a recording that was closed.
    func checkEnd(
        of id: Int, _ row: RecordingSummary?, _ signature: HistoryEntry?, until end: Int64?
    ) async throws -> Looked {
        let audio = RecordingFolder(storage: storage, recording: id).audio
        guard let length = signature?.signedLength ?? row?.length else { return Looked() }
        let surplus = try await onThread(named: "repair", niceness: 5) {
            try RecordingSurplus(path: audio, behind: length)
        }
        guard let surplus else { return Looked() }
        if let signature {
            let found = try await onStoppableThread(named: "repair", until: end) { goesOn in
                try RecordingSurplus.digest(of: audio, upTo: length, while: goesOn)
            }
            guard let found else { return try Self.later() }
            guard found == signature.sound else { return Self.longer(id, audio, by: surplus.samples, than: signature) }
        } else if try await !isClosed(id, row, surplus) {
            return Looked()
        }
        let seconds = SamplePosition(surplus.samples).seconds
        do {
            let aside = try await onThread(named: "repair", niceness: 5) {
                try surplus.setAside(told: row?.stopReason ?? .cutShort)
            }
            return Looked(
                findings: [
                    StorageFinding(
                        .repaired, recording: id, file: audio,
                        "\(seconds) s that were appended after recording \(id) was closed were set aside as \(aside)")
                ])
        } catch let error as DeviceError where error.code == .full {
            return Looked(findings: [StorageFinding(.damaged, recording: id, error, at: audio)], next: .leave)
        }
    }

    /// A file that begins with other sound than was signed, or is another program's, and is longer.
    static func longer(_ id: Int, _ audio: String, by samples: Int64, than signature: HistoryEntry) -> Looked {
        Looked(
            findings: [
                StorageFinding(
                    .damaged, recording: id, file: audio,
                    "is \(SamplePosition(samples).seconds) s longer than what was signed at \(signature.time), and not the "
                        + "same before that; it was left as it is. Restore a copy of it")
            ], next: .leave)
    }

    /// Whether a second witness says of an unsigned recording that it ends where its row says: its header, or, if that tells of what was
    /// appended, history and checksums. A single one may be damaged.
    private func isClosed(_ id: Int, _ row: RecordingSummary?, _ surplus: RecordingSurplus) async throws -> Bool {
        if surplus.claimed == surplus.length { return true }
        guard let row, row.stopReason != .cutShort, surplus.reason == row.stopReason, !surplus.isJoined else {
            return false
        }
        let recorded = try await archive.history(of: id).map(\.entry).last { $0.act == .recorded }
        guard recorded?.length.map({ SamplePosition(seconds: $0) }) == surplus.length,
            case .read(let sums) = try await readSums(of: RecordingFolder(storage: storage, recording: id).audio)
        else { return false }
        // The checksums hold, and end there: it is the same sound, with something behind it.
        return sums.damaged.isEmpty && sums.unknown.first?.start == surplus.length
    }

    /// Makes checksums that are missing: behind a start only those that a power cut took, of a few seconds of sound.
    func sum(_ id: Int, wasCut: Bool, _ signature: HistoryEntry?) async throws -> [StorageFinding] {
        guard depth == .everything || wasCut && signature == nil else { return [] }
        let path = RecordingFolder(storage: storage, recording: id).audio
        let isWhole = depth == .everything
        // Checksums of sound that is not what was signed would pass for those that were made of it.
        if let signature,
            try await onThread(named: "checksums", niceness: 5, { try RecordingSums.areMissing(path: path) }),
            case .read(let sums) = try await readSums(of: path, digests: true), sums.sound?.digest != signature.sound
        {
            return [
                StorageFinding(
                    .damaged, recording: id, file: path,
                    "lacks checksums, and none were made: the sound is not what was signed at \(signature.time); restore a "
                        + "copy of it")
            ]
        }
        let made = try await onStoppableThread(named: "checksums") { goesOn in
            try RecordingSums.complete(path: path, behindLast: !isWhole, goesOn: goesOn)
        }
        try Task.checkCancellation()
        guard made > 0, isWhole else { return [] }
        return [
            StorageFinding(
                .note, recording: id, file: path,
                "checksums were made for \(SamplePosition(made).seconds) s of sound, as it is now")
        ]
    }

    private static func later() throws -> Looked {
        try Task.checkCancellation()
        return Looked(next: .later)
    }
}

extension HistoryEntry {
    /// How long the sound is that was signed; nil for an entry of something else.
    var signedLength: SamplePosition? { act == .signed ? length.map { SamplePosition(seconds: $0) } : nil }
}
