import Glibc
import Testing
import TestKit

@testable import Audio
@testable import Copying
@testable import Core
@testable import Office
@testable import System
@testable import Transcripts

/// A recorder with recordings, which it can copy to sticks.
struct FieldRecorder {
    let name: String
    var identity: String?
    var signer: RecorderKey?
    var recipients: [Recipient]?
    var audio = AudioFormat.flac
    let folder = TemporaryFolder()
    let archive = InMemoryArchive([])
    let ledger = MemoryLedger()

    init(_ name: String = "pi", identity: String? = nil) { (self.name, self.identity) = (name, identity) }

    /// Returns a machine ID of 32 identical digits.
    static func identity(_ digit: Character) -> String { String(repeating: digit, count: 32) }

    func audioPath(_ id: Int) -> String { folder.file("\(id).wav") }

    /// Adds a recording of four seconds with one segment per text.
    func record(
        _ id: Int, _ texts: String..., startedAt: Double = 1_795_163_412, speakers: [String] = [],
        annotations: Annotations? = nil, pass: Int? = nil, redacted: Bool = false,
        clock: RecordingSummary.Clock = .synchronized
    ) async {
        if !pathExists(audioPath(id)) {
            shell("sox -R -n -r 16000 -b 16 -c 1 '\(audioPath(id))' synth 4 pinknoise gain -6")
        }
        let length = SamplePosition(seconds: 4)
        var segments: [Segment] = []
        var turns: [Speakers.Turn] = []
        for (index, text) in texts.enumerated() {
            let start = Int64(index) * 64_000 / Int64(texts.count)
            let words = text.split(separator: " ").enumerated().map { index, text in
                Word(
                    String(text),
                    SampleRange(
                        SamplePosition(start + Int64(index) * 800), SamplePosition(start + Int64(index) * 800 + 700)),
                    confidence: 0.75)
            }
            let range = SampleRange(SamplePosition(start), SamplePosition(start + 64_000 / Int64(texts.count) - 100))
            segments.append(Segment(id: index + 1, range: range, words: words, endedBy: .silence))
            if index < speakers.count, let speaker = Speakers.speaker(labelled: speakers[index]) {
                turns.append(Speakers.Turn(range, speaker: speaker))
            }
        }
        let engine = EngineDescription(name: "test", version: "1", model: "none")
        var timeline = Timeline(name: "\(id)", length: length, engine: engine, segments: segments)
        if !turns.isEmpty { timeline.speakers = Speakers(turns: turns) }
        if redacted {
            timeline.gaps = [Gap(SampleRange(SamplePosition(60_000), length), cause: .redacted)]
        }
        timeline.annotations = annotations
        timeline.pass = pass
        await archive.put(
            RecordingSummary(
                id: id, startedAt: startedAt, clock: clock, microphone: "tone:440", length: length,
                transcribedUpTo: length, stopReason: .button), timeline)
    }

    /// Adds a person's correction of a segment as a separate pass, which the next copy contains.
    func correct(
        _ id: Int, segment: Int, _ text: String, by person: String, pass: Int, speakers: Speakers? = nil
    ) async throws {
        let (summary, original) = try #require(await archive.transcript(of: id))
        var timeline = original
        timeline.segments = timeline.segments.map { old in
            old.id == segment
                ? CorrectedSegment(old, words: text.split(separator: " ").map(String.init)).segment : old
        }
        timeline.engine = EngineDescription(name: EngineDescription.person, version: "", model: person)
        timeline.annotations = Annotations()
        timeline.pass = pass
        timeline.speakers = speakers ?? timeline.speakers
        await archive.put(summary, timeline)
    }

    /// Adds an entry to the history of recording 1, which lasts four seconds.
    ///
    /// - Parameter before: the previous entry.
    @discardableResult func addEntry(
        _ number: Int, _ act: String, time: String = "2026-11-20T08:30:16Z", clock: String = "synchronized",
        before: HistoryLine? = nil, pass: Int? = nil, engine: String? = nil
    ) async throws -> HistoryLine {
        let digest = before.map { "\"\(shell("printf %s '\($0.text)' | sha256sum").output.prefix(64))\"" } ?? "null"
        let text =
            "{\"act\":\"\(act)\",\"before\":\"\(HistoryEntry.initialDigest)\",\"clock\":\"\(clock)\","
            + (engine.map { "\"engine\":\"\($0)\"," } ?? "") + "\"length\":4,\"number\":\(number),\"own\":\(digest),"
            + (pass.map { "\"pass\":\($0)," } ?? "") + "\"recording\":1,\"sinceBoot\":1,\"time\":\"\(time)\"}"
        let line = try #require(historyLines(in: "[\n\(text)\n]\n")?.first)
        await archive.addToHistory(line)
        return line
    }

    /// Copies new and changed recordings to a stick.
    func copy(to stick: String) async throws {
        try makeFolder(stick)
        var export = FolderExport(
            archive: archive, ledger: ledger,
            settings: CopySettings(
                formats: [.text, .json, .html], audio: audio, device: DeviceName(madeOf: name), volume: stick,
                now: 1_795_163_500, identity: identity), audioPath: { [folder] in folder.file("\($0).wav") })
        export.signer = signer
        if let recipients { export.recipients = .success(recipients) }
        let report = try await export.copy(to: stick)
        #expect(report.error == nil && report.failures.isEmpty)
    }

    /// Returns the folders of this recorder's readable copies on a stick, sorted.
    func copies(on stick: String) -> [String] {
        names("\(stick)/Fieldscribe/\(name)").filter { CopyName($0) != nil }.map {
            "\(stick)/Fieldscribe/\(name)/\($0)"
        }
    }
}

/// The kinds of archives. Many tests run with each kind.
enum ArchiveKind: Sendable, CustomTestStringConvertible {
    case folder
    case server(TestServer)

    /// The kinds that are available on this machine.
    static let all: [ArchiveKind] = [.folder] + (TestServer.shared.map { [.server($0)] } ?? [])

    var testDescription: String {
        switch self {
        case .folder: "folder"
        case .server: "PostgreSQL"
        }
    }
}

/// An archive, and sticks whose copies can be gathered into it.
struct OfficeDesk {
    let folder = TemporaryFolder()
    /// The address of the archive's database; nil if the archive is a folder.
    let database: String?

    init(_ kind: ArchiveKind = .folder) throws {
        switch kind {
        case .folder: database = nil
        case .server(let server): database = try server.newDatabase()
        }
    }

    /// Adds recordings without text, alternating between two recorders. Groups of three start at the same time.
    static func fill(_ archive: any OfficeArchive, _ count: Int) throws {
        let recorders = try ["pi-1", "pi-2"].map { try archive.recorder(RecorderIdentity(name: $0)) }
        try archive.add(
            (1...count).map { number in
                GatheredCopy(
                    recorder: recorders[number % 2], number: number, root: "\(number)",
                    startedAt: 1_795_163_412 + Double(number * 7 % count / 3), clock: .synchronized,
                    length: SamplePosition(seconds: 1), digest: "\(number)", folder: "pi/\(number)",
                    audioName: "", isSigned: nil, sealedDigest: nil, transcripts: [], history: [], samplesDigest: "",
                    redactionCount: 0)
            })
    }

    /// The path of the folder with the copies.
    var archivePath: String { folder.file("archive") }

    /// The names in the archive's folder, without the database.
    var archiveNames: [String] { names(archivePath).filter { $0 != "office.sqlite" } }

    /// The options that specify the archive.
    var into: String { database.map { "--into '\($0)' --files '\(archivePath)'" } ?? "--into '\(archivePath)'" }

    func stick(_ name: String) -> String { folder.file(name) }

    func archive() throws -> any OfficeArchive {
        if let database { return try OfficeDatabase(database, files: archivePath, creates: true) }
        return try OfficeFolder(archivePath, creates: true)
    }

    @discardableResult func gather(_ sticks: String..., key: String? = nil) throws -> GatherReport {
        try Gathering(into: try archive(), key: key, reader: try officeProgram()).run(sticks.map { .folder($0) })
    }

    /// Returns search results in the form `recorder: excerpt`.
    func found(_ query: String, _ filter: OfficeFilter = OfficeFilter()) throws -> [String] {
        try archive().search(OfficeQuery(query), filter, limit: 50).map { "\($0.recorder): \($0.excerpt)" }
    }

    /// Returns the folders of the copies in the archive, sorted and relative to it. Verifies each copy with sha256sum.
    func copies() -> [String] {
        let folders = shell("cd '\(archivePath)' && ls -d */*/ | sort").output.split(separator: "\n").map {
            String($0.dropLast())
        }
        for copy in folders {
            let result = shell("cd '\(archivePath)/\(copy)' && sha256sum --strict --quiet -c SHA256SUMS")
            #expect(result.status == 0, "\(copy): \(result.output)")
        }
        return folders
    }

    /// Runs the program. Returns its output, its errors, and its exit status, which is 124 if it does not exit within ten
    /// minutes.
    func run(_ arguments: String) throws -> (output: String, errors: String, status: Int32) {
        let errors = folder.file("errors")
        let run = shell(
            "FIELDSCRIBE_ARCHIVE='\(database ?? archivePath)' timeout 600 '\(try officeProgram())' \(arguments) "
                + "2>'\(errors)'")  // wait: a guard
        return (run.output, shell("cat '\(errors)'").output, run.status)
    }
}

func officeProgram() throws -> String { try builtProgram("fieldscribe-office") }

/// Returns the names in a folder, sorted; empty if the folder does not exist.
func names(_ path: String) -> [String] {
    shell("ls -A '\(path)' 2>/dev/null").output.split(separator: "\n").map(String.init)
}

/// Runs a shell command.
@discardableResult func shell(_ command: String) -> (status: Int32, output: String) {
    let escaped = command.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
    guard let pipe = popen("bash -c '\(escaped)' 2>&1", "r") else { return (-1, "popen failed") }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { output += buffer[..<count] }
    let status = pclose(pipe)
    return (status & 0x7F == 0 ? (status >> 8) & 0xFF : -1, String(decoding: output, as: UTF8.self))
}

/// Connects to a local port without sending anything. Returns the descriptor; -1 if no process listens on the port.
func openConnection(toPort port: UInt16) -> Int32 {
    let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    return status == 0 ? descriptor : -1
}
