import Copying
import Core
import System
import Transcripts

// Adds files that a user drops on the list. The page first sends a request without a body. If the server rejects it,
// the page shows the reason and does not send the files.
extension OfficeSite {
    /// The last component of an upload's URL.
    static let uploadName = "add"
    /// The label of the form field for a recording's ID. Error messages quote it.
    static let recordingField = "Recording no."
    /// The number of bytes to keep free on the disk.
    private static let reservedBytes: Int64 = 256 << 20

    /// Returns whether a request sends files, or asks whether it may send files.
    static func isUpload(_ request: WebRequest) -> Bool {
        request.method == "POST" && request.path == "/\(uploadName)"
    }

    /// Returns a response that rejects the files; nil if they may be sent.
    func refusal(ofUpload request: WebRequest) -> WebResponse? {
        let header = Self.header(request)
        guard header.hasValidNames else {
            return Self.jsonResponse(400, "\(oneLine(header.name)): this name cannot be used; rename it")
        }
        if let problem = problem(ofKind: header) { return Self.jsonResponse(415, "\(header.name): \(problem)") }
        let declared = request.headers["content-length"].flatMap { Int64($0) }
        guard let declared, let bytes = declared == 0 ? request.query["bytes"].flatMap({ Int64($0) }) : declared,
            bytes >= 0
        else {
            return Self.jsonResponse(411, "\(header.name): its length is unknown")
        }
        guard bytes <= DroppedFiles.maximumBytes else {
            return Self.jsonResponse(413, "\(header.name): is 8 GiB or larger; use fieldscribe-office gather")
        }
        if currentUpload?.occupiesDisk == true { return Self.jsonResponse(423, "Waiting for other files to be added") }
        // Files are gathered from the hidden folder, so they temporarily occupy the disk twice.
        let freeBytes = filesPath.flatMap { try? Folder(opening: $0, crossesMounts: true).freeBytes() } ?? .max
        guard freeBytes - Self.reservedBytes >= 2 * bytes else {
            return Self.jsonResponse(507, "\(header.name): the archive's disk has too little free space")
        }
        return nil
    }

    /// Creates the receiver of a request's files.
    func receive(_ request: WebRequest) throws(DeviceError) -> DroppedFiles {
        guard let filesPath else { throw DeviceError(.missing, "add", "the archive cannot be opened") }
        let files = try DroppedFiles(Self.header(request), in: filesPath)
        currentUpload = files
        return files
    }

    /// Returns a function that adds files on another thread.
    func adder() -> @Sendable (DroppedFiles) -> DroppedFiles.Outcome {
        let (open, reader, transcriber) = (open, reader, transcriber)
        return { files in files.add(reader: reader, transcriber: transcriber, to: open) }
    }

    /// Starts to transcribe an audio file. The response does not wait for the result, because the browser would give up.
    func transcribe(_ files: DroppedFiles) -> WebResponse {
        // The next files may be sent while this one is transcribed.
        currentUpload = nil
        let adder = adder()
        transcriptions.start(files.key) { adder(files) }
        return response(toTranscription: files.key)
    }

    /// Responds with the result of transcribing an audio file, or with status 202 if there is no result yet.
    func response(toTranscription key: String) -> WebResponse {
        switch transcriptions.state(of: key) {
        case .waiting: Self.jsonResponse(202, "is being transcribed", transcription: key)
        case .done(let outcome): Self.response(toUpload: outcome)
        case nil: Self.jsonResponse(404, "the server was restarted; add it again if the list does not show it")
        }
    }

    static func response(toUpload outcome: DroppedFiles.Outcome) -> WebResponse {
        jsonResponse(outcome.isAdded ? 200 : 409, outcome.lines.joined(separator: "\n"))
    }

    private static func header(_ request: WebRequest) -> DroppedFiles.Header {
        let field = { (name: String) in request.query[name] ?? "" }
        return DroppedFiles.Header(
            name: field("name"), isCopy: field("copy") == "yes", modifiedAt: Int(field("changed")),
            recorder: field("recorder"), recordingID: Int(field("recording")), person: oneLine(request.person))
    }

    private func problem(ofKind header: DroppedFiles.Header) -> String? {
        if SealedName(header.name) != nil { return "is sealed; open it with fieldscribe-office gather --key FILE" }
        if header.kind == .document {
            return "cannot be imported; correct the recording's page instead, or edit one of "
                + EditedTranscript.fileExtensions.joined(separator: ", ")
        }
        guard header.kind == .audio, (try? TranscriptionProgram.find(transcriber)) == nil else { return nil }
        return "to transcribe a sound file, the server needs the package fieldscribe; its administrator can install it"
    }
}
