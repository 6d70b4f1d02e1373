import Copying
import Core
import System
import Transcripts

// Adds files that are dropped on the list. The page first sends a request without a body, so that it can show why a
// large file is rejected.
extension OfficeSite {
    /// The last component of the address.
    static let addingName = "add"
    /// The label of the field for a recording's ID. Error messages refer to it.
    static let recordingField = "Recording no."
    /// The number of bytes to keep free on the disk.
    private static let reserve: Int64 = 256 << 20

    /// Returns whether a request has files in its body.
    static func isAddition(_ request: WebRequest) -> Bool {
        request.method == "POST" && request.path == "/\(addingName)"
    }

    /// Returns the response that rejects files; nil if they may be sent.
    func refusal(ofAddition request: WebRequest) -> WebResponse? {
        let header = Self.header(request)
        guard header.hasValidNames else {
            return Self.answer(400, "\(oneLine(header.name)): this name cannot be used; rename it")
        }
        if let problem = problem(ofKind: header) { return Self.answer(415, "\(header.name): \(problem)") }
        let declared = request.headers["content-length"].flatMap { Int64($0) }
        guard let declared, let bytes = declared == 0 ? request.query["bytes"].flatMap({ Int64($0) }) : declared,
            bytes >= 0
        else {
            return Self.answer(411, "\(header.name): its length is unknown")
        }
        guard bytes <= DroppedFiles.maximumBytes else {
            return Self.answer(413, "\(header.name): is larger than 8 GiB; use fieldscribe-office gather")
        }
        // Other files are being received or added.
        if addition?.occupiesDisk == true { return Self.answer(423, "Waiting for other files to be added") }
        // The copy is gathered from the hidden folder, so it temporarily occupies the disk twice.
        let free = files.flatMap { try? Folder(opening: $0, crossesMounts: true).freeBytes() } ?? .max
        guard free - Self.reserve >= 2 * bytes else {
            return Self.answer(507, "\(header.name): the archive's disk has too little free space")
        }
        return nil
    }

    /// Returns the receiver of a request's files.
    func receive(_ request: WebRequest) throws(DeviceError) -> DroppedFiles {
        guard let files else { throw DeviceError(.missing, "add", "the archive cannot be opened") }
        let dropped = try DroppedFiles(Self.header(request), in: files)
        addition = dropped
        return dropped
    }

    /// Returns a function that adds files on another thread.
    func adder() -> @Sendable (DroppedFiles) -> DroppedFiles.Outcome {
        let (open, program, transcriber) = (open, program, transcriber)
        return { dropped in dropped.add(reader: program, transcriber: transcriber, to: open) }
    }

    /// Starts to transcribe a sound file. The response does not wait for that, because the browser would give up.
    func transcribe(_ dropped: DroppedFiles) -> WebResponse {
        // The next files may be sent while this one is transcribed.
        addition = nil
        let adder = adder()
        sounds.start(dropped.key) { adder(dropped) }
        return answer(aboutSound: dropped.key)
    }

    /// Responds with the result for a sound file, or with status 202 while it is transcribed.
    func answer(aboutSound key: String) -> WebResponse {
        switch sounds.state(of: key) {
        case .waiting: Self.answer(202, "is being transcribed", sound: key)
        case .done(let outcome): Self.answer(toAddition: outcome)
        case nil: Self.answer(404, "the server was restarted; add it again if the list does not show it")
        }
    }

    static func answer(toAddition outcome: DroppedFiles.Outcome) -> WebResponse {
        answer(outcome.isAdded ? 200 : 409, outcome.lines.joined(separator: "\n"))
    }

    private static func header(_ request: WebRequest) -> DroppedFiles.Header {
        let field = { (name: String) in request.query[name] ?? "" }
        return DroppedFiles.Header(
            name: field("name"), isCopy: field("copy") == "yes", changed: Int(field("changed")),
            recorder: field("recorder"), recording: Int(field("recording")), person: oneLine(request.person))
    }

    private func problem(ofKind header: DroppedFiles.Header) -> String? {
        if SealedName(header.name) != nil { return "is sealed; open it with fieldscribe-office gather --key FILE" }
        if header.kind == .document {
            return "cannot be imported; correct the recording's page instead, or edit one of "
                + EditedTranscript.fileExtensions.joined(separator: ", ")
        }
        guard header.kind == .sound, (try? TranscriptionProgram.find(transcriber)) == nil else { return nil }
        return "to transcribe a sound file, the server needs the package fieldscribe; its administrator can install it"
    }
}
