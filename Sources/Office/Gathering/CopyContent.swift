import Audio
import Copying
import Core
import FoundationEssentials
import Glibc
import System
import Transcripts

/// The content of a copy whose files have passed all checks. The content itself is untrusted.
struct CopyContent: Sendable {
    /// The total size of the files in bytes.
    let bytes: Int64
    let manifest: Manifest
    /// The name of the copy's folder, without the suffix that an archive adds.
    let name: String
    /// The recorder's name in the tags of the sound.
    let device: String?
    /// The public key in the copy; nil if there is none.
    let key: String?
    /// Whether the signature is valid for that key; nil if there is no signature, or if minisign is not installed.
    let isSigned: Bool?
    /// Remarks for the user, one line each.
    private(set) var notes: [String] = []
    let history: [HistoryLine]
    let number: Int
    let reading: GatheredTranscript
    /// The identity of the sound, if the page contains it.
    let identity: RecordingIdentity?
    let startedAt: Double
    let clock: RecordingSummary.Clock
    let length: SamplePosition
    /// The number of redactions when the copy was made.
    let struck: Int

    /// - Parameters:
    ///   - folderName: the name of the copy's folder.
    ///   - reader: the program that parses the files in a sandboxed process.
    /// - Throws: `DeviceError` with `damaged` if a file does not match the checksums, the signature or the history.
    init(_ staged: StagedCopy, named folderName: String, reader: String) throws(DeviceError) {
        bytes = staged.bytes
        manifest = try staged.verifiedManifest()
        let suffix = manifest.suffix
        // In an archive, the name already has the suffix.
        name = folderName.hasSuffix(suffix) ? String(folderName.dropLast(suffix.count)) : folderName
        let content = { (file: String) in String(decoding: staged.contents[file] ?? [], as: UTF8.self) }
        key = RecorderKey.key(in: content(CopySettings.publicKeyName))
        isSigned = try Self.signature(of: staged, by: key, &notes)
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
                "\(staged.source): has no transcript.json, so that searches cannot find its text; add json to "
                    + "export.formats")
            timeline = Timeline(
                name: name, length: SamplePosition(seconds: recorded?.length ?? 0),
                engine: EngineDescription(name: "", version: "", model: ""))
        }
        if let added = page?.annotations { timeline.annotations = added }
        timeline.pass = identity?.pass
        length = timeline.length
        // The transcript has redactions as gaps. If there is no transcript, the history has their number.
        struck =
            staged.contents["transcript.json"] == nil
            ? entries.count { $0.act == .redacted } : timeline.gaps.redacted.count
        let isByPerson = timeline.engine.name == EngineDescription.person
        let written = entries.last { entry in
            [.written, .corrected].contains(entry.act) && (identity?.pass == nil || entry.pass == identity?.pass)
        }
        var reading = GatheredTranscript(
            digest: Digest.of("\(staged.digests["transcript.json"] ?? "") \(text(of: timeline.annotations))"),
            timeline: timeline, person: isByPerson ? timeline.engine.model : nil,
            madeAt: written.flatMap { seconds(ofStamp: $0.time) } ?? 0)
        try reading.prepare()
        self.reading = reading
        let tags = SoundTags(staged.heads[manifest.audio] ?? [])
        device = tags.device
        (startedAt, clock) = Self.start(copyName, tags, recorded)
    }

    /// Returns the start according to the copy's name, or to the tags of its sound, or to its history. The history has
    /// the time at which the recording was closed; after a power cut, that is when the power returned.
    private static func start(
        _ name: CopyName?, _ tags: SoundTags, _ recorded: HistoryEntry?
    ) -> (Double, RecordingSummary.Clock) {
        if let time = name?.time, let local = seconds(ofName: time) {
            return (tags.name == time ? tags.startedAt ?? local : local, .synchronized)
        }
        if let time = tags.startedAt { return (time, name == nil ? tags.clock : .unverified) }
        guard let recorded, let end = seconds(ofStamp: recorded.time) else { return (0, .unverified) }
        return (end - (recorded.length ?? 0), name == nil ? recorded.clock : .unverified)
    }

    private static func signature(
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
        if (try? Minisign())?.fits(sums, signature: signature, key: key) == true { return true }
        // minisign's own message explains an invalid signature.
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

    /// The SHA-256 of the first line of the history; empty if there is no history.
    var root: String { history.first.map { Digest.of($0.text) } ?? "" }

    /// Returns the copy for an archive, with its files in the folder `place`.
    func copy(of recorder: Recorder, at place: String, sealed: String?) -> GatheredCopy {
        GatheredCopy(
            recorder: recorder, number: number, root: root, startedAt: startedAt.asWallTime, clock: clock,
            length: length, digest: manifest.digest, place: place, audio: manifest.audio, isSigned: isSigned,
            sealed: sealed, readings: [reading], history: history, sound: identity?.sound ?? "", struck: struck)
    }
}

extension Manifest {
    /// The suffix that distinguishes the copy's folder in an archive from the folders of other copies.
    var suffix: String { "-\(digest.prefix(8))" }

    /// The name of the sound file; empty if there is none.
    var audio: String { AudioFormat.allCases.map(\.fileName).first { digests[$0] != nil } ?? "" }
}

/// Returns annotations as JSON with sorted keys, so that equal annotations give equal texts; empty for nil.
func text(of annotations: Annotations?) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    guard let annotations, let bytes = try? encoder.encode(annotations) else { return "" }
    return String(decoding: bytes, as: UTF8.self)
}
