import Audio
import Copying
import Core
import Glibc
import System

extension Verification {
    /// The evidence with which the sound was compared, strongest first.
    enum SoundEvidence: Hashable, Comparable {
        /// The SHA-256 signed with the recorder's key.
        case signature
        /// The signed SHA-256, whose signature could not be checked, with the reason.
        case uncheckedSignature(String)
        /// The signed SHA-256 in the recording's journal, because the history has none.
        case journal
        /// A CRC-32 for each second.
        case sums
        /// A CRC-32 for some of the seconds.
        case incompleteSums
    }

    /// Reads a recording's sound and compares it with the strongest available evidence.
    ///
    /// - Returns: the findings, and the evidence; nil if the sound cannot be read or its signature is not valid.
    func checkSound(of row: RecordingSummary) async throws -> ([StorageFinding], SoundEvidence?) {
        let audio = RecordingFolder(storage: storage, recording: row.id).audio
        let signature = try await archive.history(of: row.id).map(\.entry).soundSignature
        // If the journal is unreadable, the journal check reports it.
        let journaled = signature == nil ? try? await archive.journalAudioDigest(of: row.id) : nil
        let hasDigest = signature != nil || journaled != nil
        guard let sums = try await readSums(of: audio, digests: hasDigest) else { return ([], nil) }
        var findings = findings(of: sums, row.id)
        if hasDigest, sums.sound == nil {
            // Part of the sound could not be read. A wrong checksum may have reported that already.
            if findings.isEmpty { findings.append(damage(row.id, audio, "cannot be read; restore it from a copy")) }
            return (findings, nil)
        }
        guard let signature else {
            if let journaled {
                if sums.sound?.digest == journaled { return (findings, .journal) }
                findings.append(
                    damage(
                        row.id, audio,
                        "its sound differs from the signed sound (SHA-256, in its journal); restore it from a copy, "
                            + "and check the disk"))
            }
            return (findings, sums.unknown.isEmpty ? .sums : .incompleteSums)
        }
        let entry = "entry \(signature.number) of the history"
        if sums.sound?.digest != signature.sound {
            findings.append(
                damage(
                    row.id, audio,
                    "its sound differs from the signed sound (signed at \(signature.time); SHA-256, \(entry)); "
                        + "restore it from a copy, and check the disk"))
        } else if !findings.isEmpty {
            findings = [
                damage(
                    row.id, RecordingSums.path(for: audio),
                    "has wrong checksums, although the sound matches its signature; move this file elsewhere, then run "
                        + "fieldscribe recover")
            ]
        }
        do {
            // This may start minisign and wait for it.
            let (key, isValid) = try await onThread(named: "verify", niceness: 5) {
                let key = RecorderKey.publicKey(in: storage)
                return (key, try key.map { try Minisign().verifies(signature, key: $0) })
            }
            guard let key, let isValid else {
                return (findings, .uncheckedSignature("the public key, \(RecorderKey.publicName), is missing"))
            }
            if isValid { return (findings, .signature) }
            if !Minisign.hasID(of: key, in: signature) {
                return (findings, .uncheckedSignature("it was made with an earlier key"))
            }
            findings.append(
                damage(
                    row.id, "\(storage)/history.jsonl",
                    "the signature in \(entry) is not valid for the recorder's key; compare it with history.json in "
                        + "copies"))
            return (findings, nil)
        } catch { return (findings, .uncheckedSignature(DeviceError(wrapping: error).reason)) }
    }

    /// Returns a finding for each range in which the sound differs from the recorded sound.
    func findings(of sums: RecordingSums, _ id: Int) -> [StorageFinding] {
        sums.damaged.map { range in
            damage(
                id, RecordingFolder(storage: storage, recording: id).audio,
                "differs from the recorded sound from \(range.start.seconds) s to \(range.end.seconds) s; "
                    + "restore it from a copy, and check the disk")
        }
    }

    /// Compares the file that a recording was converted from with its SHA-256 in the history. A redaction erases that
    /// file.
    func checkOriginal(of row: RecordingSummary) async throws -> [StorageFinding] {
        let history = try await archive.history(of: row.id).map(\.entry)
        guard let added = history.last(where: { $0.act == .added }), let name = added.kept,
            RecordingFolder.isOriginal(name), !history.contains(where: { $0.act == .redacted })
        else { return [] }
        let path = "\(RecordingFolder(storage: storage, recording: row.id).path)/\(name)"
        do {
            let digest = try await onStoppableThread(named: "verify") { shouldContinue throws(DeviceError) -> String in
                var digest = Digest()
                let file = try RecordingFolder.open(row.id, in: storage).openFile(name, O_RDONLY)
                try file.forEachBlock { bytes throws(DeviceError) in
                    guard shouldContinue() else {
                        throw DeviceError(.failed, "verify", status: ECANCELED, "was interrupted")
                    }
                    digest.add(bytes)
                }
                return digest.finish()
            }
            if digest == added.digest { return [] }
        } catch let error as DeviceError {
            if error.status == ECANCELED { throw CancellationError() }
            guard error.code == .missing else {
                return [StorageFinding(.damaged, recording: row.id, error, at: path)]
            }
            return [damage(row.id, path, "is missing; restore the added file from a copy")]
        }
        return [
            damage(
                row.id, path,
                "is not the file that was added at \(added.time) (SHA-256, entry \(added.number) of the history); "
                    + "restore it from a copy")
        ]
    }

    /// Returns a note for each kind of evidence, with the recordings that match it.
    func notes(on compared: [SoundEvidence: [Int]]) -> [StorageFinding] {
        compared.sorted { $0.key < $1.key }.map { evidence, ids in
            let message =
                switch evidence {
                case .signature: "the sound matches the recorder's signature (SHA-256)"
                case .uncheckedSignature(let reason):
                    "the sound matches the signed SHA-256; the signature itself was not checked: \(reason)"
                case .journal:
                    "the sound matches the signed SHA-256 in the journal; the history lacks it"
                case .sums:
                    "the sound matches the checksums made for each second during the recording; it is not signed"
                case .incompleteSums:
                    "some of the sound has no checksum to compare it with, as in recordings from earlier versions; run "
                        + "fieldscribe recover to make the checksums"
                }
            return StorageFinding(
                .note, recording: ids.count == 1 ? ids[0] : nil, file: "\(storage)/recordings",
                "\(ids.count == 1 ? "recording" : "recordings") \(Self.text(of: ids)): \(message)")
        }
    }

    /// Formats IDs, such as `1-3, 5`.
    private static func text(of ids: [Int]) -> String {
        var runs: [(first: Int, last: Int)] = []
        for id in ids {
            if let run = runs.last, run.last == id - 1 {
                runs[runs.count - 1].last = id
            } else {
                runs.append((id, id))
            }
        }
        return runs.map { $0.first == $0.last ? "\($0.first)" : "\($0.first)-\($0.last)" }.joined(separator: ", ")
    }
}

/// Compares a recording's sound with its checksums. Returns nil if the sound is missing or unreadable, which other
/// checks report.
///
/// - Parameters:
///   - path: the path of the recording's `audio.wav`.
///   - isGrowing: whether the recording continues.
///   - digests: whether to compute the sound's SHA-256, too.
/// - Throws: `CancellationError` if the task was cancelled.
func readSums(of path: String, isGrowing: Bool = false, digests: Bool = false) async throws -> RecordingSums? {
    try await onStoppableThread(named: "verify") { shouldContinue in
        let sums = try? RecordingSums(path: path, isGrowing: isGrowing, digests: digests, while: shouldContinue)
        if sums == nil, !shouldContinue() { throw CancellationError() }
        return sums
    }
}

/// Returns the SHA-256 of a recording's samples, interleaved if there are two channels. Files made from the recording
/// contain it as an identifier. Blocks.
///
/// - Parameter shouldContinue: polled; if false, reading stops.
/// - Throws: `DeviceError` if the samples cannot be read; with `ECANCELED` if reading was stopped.
func soundDigest(
    of audio: String, length: SamplePosition, shouldContinue: () -> Bool = { true }
) throws(DeviceError) -> String {
    let reader = try RecordingReader(path: audio)
    let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 65_536)
    defer { buffer.deallocate() }
    let channels = reader.channels
    var digest = Digest()
    var position = SamplePosition.zero
    while position < length {
        guard shouldContinue() else { throw DeviceError(.failed, "digest", status: ECANCELED, "was interrupted") }
        let target = UnsafeMutableBufferPointer(
            rebasing: buffer[..<(channels * Int(min(65_536 / Int64(channels), length - position)))])
        let count = try reader.readFrames(at: position, into: target)
        if count == 0 { break }
        digest.add(UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[..<(count * channels)])))
        position = position + Int64(count)
    }
    return digest.finish()
}
