import Audio
import Copying
import Core
import FoundationEssentials
import Glibc
import System
import Transcripts

/// What a copy tells of its recording, once each of its files was proved. Everything in it is a stranger's.
struct CopyReading: Sendable {
    /// Bytes of its files.
    let bytes: Int64
    let manifest: Manifest
    /// What its folder was called, without what an archive has put behind it.
    let name: String
    /// What its sound says that its recorder is called; nil where it does not tell.
    let device: String?
    /// The key that it names as its recorder's.
    let key: String?
    /// Whether the signature fits that key; nil where there is none, or minisign is missing.
    let isSigned: Bool?
    /// What is not as it could be, a line each.
    private(set) var notes: [String] = []
    let history: [HistoryLine]
    let number: Int
    let reading: GatheredReading
    /// Which sound the text is of, where the page tells.
    let identity: RecordingIdentity?
    let startedAt: Double
    let clock: RecordingSummary.Clock
    let length: SamplePosition
    /// How many stretches were struck from the recording when the copy was made.
    let struck: Int

    /// - Parameters:
    ///   - found: what the copy's folder was called.
    ///   - reader: the program that reads files, confined.
    /// - Throws: `DeviceError` with `damaged` where a file is not what the checksums, the signature or the history say.
    init(_ staged: StagedCopy, named found: String, reader: String) throws(DeviceError) {
        bytes = staged.bytes
        manifest = try staged.proved()
        let mark = Self.mark(of: manifest)
        // In an archive it has the mark already.
        name = found.hasSuffix(mark) ? String(found.dropLast(mark.count)) : found
        let content = { (file: String) in String(decoding: staged.contents[file] ?? [], as: UTF8.self) }
        key = RecorderKey.key(in: content(CopySettings.publicKeyName))
        isSigned = try Self.signature(of: staged, by: key, &notes)
        let lines = staged.contents["history.json"] == nil ? [] : historyLines(in: content("history.json"))
        guard let lines, CopyVerification.brokenEntry(of: lines) == nil else {
            throw DeviceError(
                .damaged, "read", on: "\(staged.source)/history.json", "is no history, or one that was changed",
                remedy: "look for another copy of it")
        }
        history = lines
        var page: PageReading?
        if let bytes = staged.contents["index.html"] {
            let name = "\(staged.source)/index.html"
            try IncomingFile.check(confined: bytes, as: .page, name: name, program: reader)
            page = try PageReading(bytes, name: name)
        }
        let identity = page?.identity
        self.identity = identity
        let copyName = CopyName(name)
        guard let number = lines.first?.entry.recording ?? identity?.recording ?? copyName?.recording, number > 0 else {
            throw DeviceError(
                .unsupported, "read", on: staged.source, "does not say of which recording it is",
                remedy: "give its folder the name that the recorder gave it")
        }
        self.number = number
        let entries = lines.map(\.entry)
        let recorded = entries.first { $0.act == .recorded }
        var timeline: Timeline
        if let bytes = staged.contents["transcript.json"] {
            let name = "\(staged.source)/transcript.json"
            try IncomingFile.check(confined: bytes, as: .transcript, name: name, program: reader)
            timeline = try TranscriptReading(bytes, name: name).timeline
        } else {
            notes.append(
                "\(staged.source): has no transcript.json, so that its text is not found; let export.formats have json")
            timeline = Timeline(
                name: name, length: SamplePosition(seconds: recorded?.length ?? 0),
                engine: EngineDescription(name: "", version: "", model: ""))
        }
        if let added = page?.annotations { timeline.annotations = added }
        timeline.pass = identity?.pass
        length = timeline.length
        // Both tell the same; what the text lacks was struck from it.
        struck =
            staged.contents["transcript.json"] == nil
            ? entries.count { $0.act == .struck } : timeline.gaps.count { $0.cause == .struck }
        let isPersons = timeline.engine.name == EngineDescription.person
        let written = entries.last { entry in
            [.written, .corrected].contains(entry.act) && (identity?.pass == nil || entry.pass == identity?.pass)
        }
        var reading = GatheredReading(
            digest: Digest.of("\(staged.digests["transcript.json"] ?? "") \(text(of: timeline.annotations))"),
            timeline: timeline, person: isPersons ? timeline.engine.model : nil,
            madeAt: written.flatMap { seconds(ofStamp: $0.time) } ?? 0)
        try reading.prepare()
        self.reading = reading
        let tags = SoundTags(staged.heads[Self.audio(in: manifest)] ?? [])
        device = tags.device
        (startedAt, clock) = Self.beginning(copyName, tags, recorded)
    }

    /// When a recording began, as its copy's name tells, else its sound. What the history has is the time at which it was closed, by the
    /// clock of that moment: of one that was cut short that is when the power was back, and it stays though the clock was set later.
    private static func beginning(
        _ name: CopyName?, _ tags: SoundTags, _ recorded: HistoryEntry?
    ) -> (Double, RecordingSummary.Clock) {
        if let time = name?.time, let local = seconds(ofName: time) {
            // The name has no time zone.
            return (tags.name == time ? tags.startedAt ?? local : local, .synchronized)
        }
        if let time = tags.startedAt { return (time, name == nil ? tags.clock : .unverified) }
        guard let recorded, let end = seconds(ofStamp: recorded.time) else { return (0, .unverified) }
        return (end - (recorded.length ?? 0), name == nil ? recorded.clock : .unverified)
    }

    private static func mark(of manifest: Manifest) -> String { "-\(manifest.digest.prefix(8))" }

    /// What tells its folder in an archive from that of another copy.
    var mark: String { Self.mark(of: manifest) }

    private static func signature(
        of staged: StagedCopy, by key: String?, _ notes: inout [String]
    ) throws(DeviceError) -> Bool? {
        guard let signature = staged.contents[CopySettings.signatureName] else { return nil }
        let sums = staged.contents[CopySettings.manifestName] ?? []
        guard let key else {
            notes.append(
                "\(staged.source): was signed, but has no \(CopySettings.publicKeyName), so that its signature was not checked; "
                    + "fieldscribe verify --copy FOLDER --key KEY does that, with the key that the recorder's status shows"
            )
            return nil
        }
        if (try? Minisign())?.fits(sums, signature: signature, key: key) == true { return true }
        // What is wrong with it, minisign says itself.
        let finding = CopyVerification(key: nil).signature(of: sums, in: staged.folder)
        switch finding.outcome {
        case .unaltered: return true
        case .altered:
            throw DeviceError(
                .damaged, "minisign", on: "\(staged.source)/\(CopySettings.signatureName)",
                "does not fit \(CopySettings.manifestName) and the recorder's key",
                remedy: "look for another copy of it")
        default:
            notes.append("signatures were not checked: \(finding.words)")
            return nil
        }
    }

    /// The name of the sound; empty where there is none.
    var audio: String { Self.audio(in: manifest) }

    private static func audio(in manifest: Manifest) -> String {
        AudioForm.allCases.map { "audio.\($0.rawValue)" }.first { manifest.digests[$0] != nil } ?? ""
    }

    /// SHA-256 of the first line of its history; empty where there is none.
    var root: String { history.first.map { Digest.of($0.text) } ?? "" }

    /// What an archive takes, under a place of its own.
    func copy(of recorder: Recorder, at place: String, sealed: String?) -> GatheredCopy {
        GatheredCopy(
            recorder: recorder, number: number, root: root,
            startedAt: startedAt, clock: clock, length: length, digest: manifest.digest, place: place, audio: audio,
            isSigned: isSigned, sealed: sealed, readings: [reading], history: history, sound: identity?.sound ?? "",
            struck: struck)
    }
}

/// The same for the same; empty for nothing.
func text(of annotations: Annotations?) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    guard let annotations, let bytes = try? encoder.encode(annotations) else { return "" }
    return String(decoding: bytes, as: UTF8.self)
}
