import Audio
import Copying
import Core
import Glibc
import System

extension Verification {
    /// What the sound was compared with, the strongest evidence first.
    enum SoundEvidence: Hashable, Comparable {
        /// The SHA-256 signed with the recorder's key.
        case signature
        /// The signed SHA-256, but its signature could not be checked, and why.
        case uncheckedSignature(String)
        /// The signed SHA-256 in its journal, if the history has none.
        case journal
        /// A CRC-32 of each second.
        case sums
        /// Some seconds have no checksum.
        case incompleteSums
    }

    /// Reads a recording's sound, and compares it with the strongest evidence of what was recorded.
    ///
    /// - Returns: what is wrong; and the evidence, nil if the sound cannot be read.
    func checkSound(of row: RecordingSummary) async throws -> ([StorageFinding], SoundEvidence?) {
        let audio = RecordingFolder(storage: storage, recording: row.id).audio
        let signature = try await archive.history(of: row.id).map(\.entry).soundSignature
        // The journal check reports an unreadable journal.
        let journaled = signature == nil ? try? await archive.journalSound(of: row.id) : nil
        let hasDigest = signature != nil || journaled != nil
        guard let sums = try await readSums(of: audio, digests: hasDigest) else { return ([], nil) }
        var findings = findings(of: sums, row.id)
        if hasDigest, sums.sound == nil {
            // Some of it could not be read; a mismatching checksum already reported that.
            if findings.isEmpty { findings.append(damage(row.id, audio, "cannot be read; restore a copy of it")) }
            return (findings, nil)
        }
        guard let signature else {
            if let journaled {
                if sums.sound?.digest == journaled { return (findings, .journal) }
                findings.append(
                    damage(
                        row.id, audio,
                        "its sound differs from what was signed (SHA-256, in its journal); restore a copy, and check the disk"
                    ))
            }
            return (findings, sums.unknown.isEmpty ? .sums : .incompleteSums)
        }
        let entry = "entry \(signature.number) of the history"
        if sums.sound?.digest != signature.sound {
            findings.append(
                damage(
                    row.id, audio,
                    "its sound differs from what was signed at \(signature.time) (SHA-256, \(entry)); restore a copy, and "
                        + "check the disk"))
        } else if !findings.isEmpty {
            findings = [
                damage(
                    row.id, RecordingSums.path(for: audio),
                    "has wrong checksums, although the sound matches its signature; move it elsewhere, and run fieldscribe recover"
                )
            ]
        }
        do {
            // Minisign may be a process, so this blocks.
            let (key, fits) = try await onThread(named: "verify", niceness: 5) {
                let key = RecorderKey.publicKey(in: storage)
                return (key, try key.map { try Minisign().fits(signature, key: $0) })
            }
            guard let key, let fits else {
                return (findings, .uncheckedSignature("its public key, \(RecorderKey.openName), is not there"))
            }
            if fits { return (findings, .signature) }
            if !Minisign.names(key, in: signature) {
                return (findings, .uncheckedSignature("it was made with an earlier key"))
            }
            findings.append(
                damage(
                    row.id, "\(storage)/history.jsonl",
                    "the signature in \(entry) does not fit the recorder's key; compare with the history.json of copies"
                ))
            return (findings, nil)
        } catch { return (findings, .uncheckedSignature(DeviceError(wrapping: error).reason)) }
    }

    /// Where the sound differs from what was recorded, one finding per place.
    func findings(of sums: RecordingSums, _ id: Int) -> [StorageFinding] {
        sums.damaged.map { range in
            damage(
                id, RecordingFolder(storage: storage, recording: id).audio,
                "differs from what was recorded, from \(range.start.seconds) s to \(range.end.seconds) s; "
                    + "restore a copy, and check the disk")
        }
    }

    /// Compares the file that a recording was converted from with its SHA-256 in the history. A redaction has erased it.
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
            return [damage(row.id, path, "is gone; put a copy of the added file back")]
        }
        return [
            damage(
                row.id, path,
                "is not the file that was added at \(added.time) (SHA-256, entry \(added.number) of the history); restore a copy "
                    + "of it")
        ]
    }

    /// One note for each kind of evidence, listing the recordings.
    func notes(on compared: [SoundEvidence: [Int]]) -> [StorageFinding] {
        compared.sorted { $0.key < $1.key }.map { evidence, ids in
            let words =
                switch evidence {
                case .signature: "the sound is what the recorder signed (SHA-256)"
                case .uncheckedSignature(let reason):
                    "the sound has the signed SHA-256; the signature itself was not checked: \(reason)"
                case .journal:
                    "the sound has the signed SHA-256 that the journal contains; the history lacks it"
                case .sums:
                    "the sound matches the checksums made for each second during the recording; it is not signed"
                case .incompleteSums:
                    "some of the sound has no checksum to compare it with, as in recordings by earlier versions; run "
                        + "fieldscribe recover, which makes one"
                }
            return StorageFinding(
                .note, recording: ids.count == 1 ? ids[0] : nil, file: "\(storage)/recordings",
                "\(ids.count == 1 ? "recording" : "recordings") \(Self.runs(of: ids)): \(words)")
        }
    }

    /// `1-3, 5`.
    private static func runs(of ids: [Int]) -> String {
        var runs: [(Int, Int)] = []
        for id in ids {
            if let last = runs.last, last.1 == id - 1 { runs[runs.count - 1].1 = id } else { runs.append((id, id)) }
        }
        return runs.map { $0.0 == $0.1 ? "\($0.0)" : "\($0.0)-\($0.1)" }.joined(separator: ", ")
    }
}

/// Reads all of a recording's sound; returns nil if it is missing or unreadable, which other checks report.
///
/// - Parameters:
///   - path: the path of its `audio.wav`.
///   - digests: whether to compute the SHA-256, too.
/// - Throws: `CancellationError` if the task was cancelled.
func readSums(of path: String, isGrowing: Bool = false, digests: Bool = false) async throws -> RecordingSums? {
    try await onStoppableThread(named: "verify") { shouldContinue in
        do throws(DeviceError) {
            guard
                let sums = try RecordingSums(path: path, isGrowing: isGrowing, digests: digests, while: shouldContinue)
            else { throw DeviceError(.failed, "verify", "ended") }
            return sums
        } catch {
            if !shouldContinue() { throw CancellationError() }
            return nil
        }
    }
}

/// SHA-256 of a recording's samples, interleaved if stereo, which identifies files made from them. Blocks while it reads.
///
/// - Parameter shouldContinue: called repeatedly; stops if it returns false.
/// - Throws: `DeviceError` if the samples cannot be read; with `ECANCELED` if it was stopped.
func soundDigest(
    of audio: String, length: SamplePosition, shouldContinue: () -> Bool = { true }
) throws(DeviceError) -> String {
    let reader = try RecordingReader(path: audio)
    let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 65_536)
    defer { room.deallocate() }
    let channels = reader.channels
    var digest = Digest()
    var position = SamplePosition.zero
    while position < length {
        guard shouldContinue() else { throw DeviceError(.failed, "digest", status: ECANCELED, "was interrupted") }
        let wanted = UnsafeMutableBufferPointer(
            rebasing: room[..<(channels * Int(min(65_536 / Int64(channels), length - position)))])
        let count = try reader.readFrames(at: position, into: wanted)
        if count == 0 { break }
        digest.add(UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: room[..<(count * channels)])))
        position = position + Int64(count)
    }
    return digest.finish()
}
