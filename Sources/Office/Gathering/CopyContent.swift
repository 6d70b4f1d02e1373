import Audio
import Copying
import Core
import FoundationEssentials
import Glibc
import System
import Transcripts

/// The content of a copy whose files have passed all checks. The content itself is untrusted.
struct CopyContent: Sendable {
    let bytes: Int64
    let manifest: Manifest
    /// The name of the copy's folder, without the suffix that an archive appends.
    let name: String
    /// The recorder's name in the audio file's tags.
    let device: String?
    let key: String?
    /// True if the signature was verified with `key`; nil if there is no signature, or it could not be checked.
    let isSigned: Bool?
    private(set) var notes: [String] = []
    let history: [HistoryLine]
    let number: Int
    let transcript: GatheredTranscript
    let identity: RecordingIdentity?
    let startedAt: Double
    let clock: RecordingSummary.Clock
    let length: SamplePosition
    /// The number of redactions when the copy was made.
    let redactionCount: Int

    /// - Parameters:
    ///   - folderName: the name of the copy's folder.
    ///   - reader: the program that checks files of more than 1 MiB in a sandboxed process before they are parsed here.
    /// - Throws: `DeviceError` with `damaged` if a file is invalid or does not match the checksums or the signature,
    ///   `unsupported` if the copy does not identify its recording.
    init(_ staged: StagedCopy, named folderName: String, reader: String) throws(DeviceError) {
        bytes = staged.bytes
        manifest = try staged.verifiedManifest()
        let suffix = manifest.suffix
        name = folderName.hasSuffix(suffix) ? String(folderName.dropLast(suffix.count)) : folderName
        let content = { (file: String) in String(decoding: staged.contents[file] ?? [], as: UTF8.self) }
        key = RecorderKey.key(in: content(CopySettings.publicKeyName))
        isSigned = try Self.verifySignature(of: staged, by: key, &notes)
        let lines = staged.contents["history.json"] == nil ? [] : historyLines(in: content("history.json"))
        guard let lines, CopyVerification.brokenEntry(of: lines) == nil else {
            throw DeviceError(
                .damaged, "read", on: "\(staged.source)/history.json", "is not a valid history, or was changed",
                remedy: "look for another copy of it")
        }
        history = lines
        var page: ParsedPage?
        if let bytes = staged.contents["index.html"] {
            let name = "\(staged.source)/index.html"
            try IncomingFile.check(confined: bytes, as: .page, name: name, program: reader)
            page = try ParsedPage(bytes, name: name)
        }
        let identity = page?.identity
        self.identity = identity
        let copyName = CopyName(name)
        guard let number = lines.first?.entry.recording ?? identity?.recording ?? copyName?.recording, number > 0 else {
            throw DeviceError(
                .unsupported, "read", on: staged.source, "does not identify its recording",
                remedy: "rename its folder to its original name")
        }
        self.number = number
        let entries = lines.map(\.entry)
        let recorded = entries.first { $0.act == .recorded }
        var timeline: Timeline
        if let bytes = staged.contents["transcript.json"] {
            let name = "\(staged.source)/transcript.json"
            try IncomingFile.check(confined: bytes, as: .transcript, name: name, program: reader)
            timeline = try ParsedTranscript(bytes, name: name).timeline
        } else {
            notes.append(
                "\(staged.source): has no transcript.json, so searches cannot find its text; add json to "
                    + "export.formats")
            timeline = Timeline(
                name: name, length: SamplePosition(seconds: recorded?.length ?? 0),
                engine: EngineDescription(name: "", version: "", model: ""))
        }
        if let added = page?.annotations { timeline.annotations = added }
        timeline.pass = identity?.pass
        length = timeline.length
        // Redactions are gaps in the transcript. If there is no transcript, counts their entries in the history.
        redactionCount =
            staged.contents["transcript.json"] == nil
            ? entries.count { $0.act == .redacted } : timeline.gaps.redacted.count
        let isByPerson = timeline.engine.name == EngineDescription.person
        let transcribed = entries.last { entry in
            [.written, .corrected].contains(entry.act) && (identity?.pass == nil || entry.pass == identity?.pass)
        }
        var transcript = GatheredTranscript(
            digest: Digest.of("\(staged.digests["transcript.json"] ?? "") \(canonicalText(of: timeline.annotations))"),
            timeline: timeline, person: isByPerson ? timeline.engine.model : nil,
            madeAt: transcribed.flatMap { seconds(ofStamp: $0.time) } ?? 0)
        try transcript.encode()
        self.transcript = transcript
        let tags = AudioTags(staged.heads[manifest.audioName] ?? [])
        device = tags.device
        (startedAt, clock) = Self.start(copyName, tags, recorded)
    }

    /// Returns the start from the copy's name, the audio file's tags, or the history, in this order; 0 if unknown. The
    /// history contains the time when the recording was closed; after a power cut, that is when the power returned.
    private static func start(
        _ name: CopyName?, _ tags: AudioTags, _ recorded: HistoryEntry?
    ) -> (Double, RecordingSummary.Clock) {
        if let time = name?.time, let local = seconds(ofName: time) {
            return (tags.localStart == time ? tags.startedAt ?? local : local, .synchronized)
        }
        if let time = tags.startedAt { return (time, name == nil ? tags.clock : .unverified) }
        guard let recorded, let end = seconds(ofStamp: recorded.time) else { return (0, .unverified) }
        return (end - (recorded.length ?? 0), name == nil ? recorded.clock : .unverified)
    }

    private static func verifySignature(
        of staged: StagedCopy, by key: String?, _ notes: inout [String]
    ) throws(DeviceError) -> Bool? {
        guard let signature = staged.contents[CopySettings.signatureName] else { return nil }
        let sums = staged.contents[CopySettings.manifestName] ?? []
        guard let key else {
            notes.append(
                "\(staged.source): is signed, but has no \(CopySettings.publicKeyName), so its signature was not "
                    + "checked; run fieldscribe verify --copy FOLDER --key KEY with the key that fieldscribe status "
                    + "shows on the recorder")
            return nil
        }
        if (try? Minisign())?.verifies(sums, signature: signature, key: key) == true { return true }
        // minisign also accepts signatures in other formats.
        let finding = CopyVerification(key: nil).signature(of: sums, in: staged.folder)
        switch finding.outcome {
        case .unaltered: return true
        case .altered:
            throw DeviceError(
                .damaged, "minisign", on: "\(staged.source)/\(CopySettings.signatureName)",
                "is not a valid signature of \(CopySettings.manifestName) by the recorder's key",
                remedy: "look for another copy of it")
        default:
            notes.append("signatures were not checked: \(finding.detail)")
            return nil
        }
    }

    var root: String { history.first.map { Digest.of($0.text) } ?? "" }

    /// Returns the copy for an archive.
    ///
    /// - Parameter folder: the folder to which the copy's files will be moved, relative to the archive's folder of copies.
    func copy(of recorder: Recorder, in folder: String, sealedDigest: String?) -> GatheredCopy {
        GatheredCopy(
            recorder: recorder, number: number, root: root, startedAt: startedAt.asWallTime, clock: clock,
            length: length, digest: manifest.digest, folder: folder, audioName: manifest.audioName,
            isSigned: isSigned, sealedDigest: sealedDigest, transcripts: [transcript], history: history,
            samplesDigest: identity?.sound ?? "", redactionCount: redactionCount)
    }
}

extension Manifest {
    /// The suffix of the copy's folder in an archive, which distinguishes it from other copies of the recording.
    var suffix: String { "-\(digest.prefix(8))" }

    var audioName: String { AudioFormat.allCases.map(\.fileName).first { digests[$0] != nil } ?? "" }
}

/// Returns annotations as JSON with sorted keys, so that equal annotations have equal texts; empty for nil.
func canonicalText(of annotations: Annotations?) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    guard let annotations, let bytes = try? encoder.encode(annotations) else { return "" }
    return String(decoding: bytes, as: UTF8.self)
}
