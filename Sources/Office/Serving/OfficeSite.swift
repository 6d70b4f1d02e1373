import Core
import Glibc
import System
import Transcripts

/// Responds to HTTP requests: serves the list of recordings with a search, and each recording's page with its audio. Used
/// on one thread.
package final class OfficeSite {
    /// The last component of the URL to which a page sends corrections.
    private static let correctionsName = "corrections"
    private static let maximumPageBytes = 64 << 20

    private let access: SiteAccess
    let reader: String
    /// The path of the `fieldscribe` program; nil to search for it.
    let transcriber: String?
    let open: @Sendable () throws(DeviceError) -> any OfficeArchive
    private let report: (String) -> Void
    private var archive: (any OfficeArchive)?
    private var lastReport = ""
    var downloads = 0
    /// The files that are being received or added.
    weak var currentUpload: DroppedFiles?
    /// The audio files that are being transcribed, and the results of earlier ones.
    let transcriptions = TranscriptionQueue()
    var filesPath: String? { archive?.filesPath }
    /// After a timeout, all requests fail with this error until this time, in nanoseconds.
    private var outage: (until: Int64, error: DeviceError)?
    private static let outageNanoseconds: Int64 = 10_000_000_000

    /// - Parameters:
    ///   - reader: the program that parses corrections in a sandboxed process.
    ///   - transcriber: the path of the `fieldscribe` program; nil to search for it.
    ///   - open: opens the archive again after it was unavailable, and for the thread that adds files.
    ///   - report: called with a problem in the archive, unless the previous request had the same problem.
    package init(
        _ archive: any OfficeArchive, access: SiteAccess, reader: String = "/proc/self/exe",
        transcriber: String? = nil, open: @escaping @Sendable () throws(DeviceError) -> any OfficeArchive,
        report: @escaping (String) -> Void
    ) {
        self.archive = archive
        self.access = access
        self.reader = reader
        self.transcriber = transcriber
        self.open = open
        self.report = report
        // Ignores errors, because a read-only archive can be served too.
        if let filesPath { try? DroppedFiles.removeLeftovers(in: Folder(opening: filesPath, crossesMounts: true)) }
    }

    /// Returns a response that rejects the request; nil if the request is allowed. Sets its person and cookie.
    func refusal(of request: inout WebRequest) -> WebResponse? {
        switch access.decision(for: request) {
        case .allowed(let person, let cookie): (request.person, request.cookie) = (person, cookie)
        case .wrongPassword:
            return Self.errorResponse(
                401, "Password required", "Reload the page, and enter your name and the password.", request,
                [("WWW-Authenticate", "Basic realm=\"Fieldscribe\", charset=\"UTF-8\"")])
        case .throttled(let seconds):
            return Self.errorResponse(
                429, "Too many wrong passwords", "Try again in \(counted(seconds, "second", "seconds")).", request,
                [("Retry-After", "\(seconds)")])
        case .unknownHost:
            return Self.errorResponse(
                421, "Unknown host name", "The server's administrator can allow this name with --host NAME.",
                request)
        }
        if ["GET", "HEAD"].contains(request.method) { return nil }
        let isUpload = Self.isUpload(request)
        guard request.method == "POST", isUpload || request.path.hasSuffix("/\(Self.correctionsName)") else {
            return Self.errorResponse(
                405, "Method not allowed", "Use GET to read pages.", request, [("Allow", "GET, HEAD")])
        }
        // Forms on other sites cannot send these types.
        let type = isUpload ? "application/x-tar" : "application/json"
        guard !SiteAccess.isForeign(request), request.headers["content-type"]?.hasPrefix(type) == true else {
            return Self.jsonResponse(403, "This request did not come from a page of this server.")
        }
        return isUpload ? refusal(ofUpload: request) : nil
    }

    func respond(to request: WebRequest) -> WebResponse {
        var response: WebResponse
        do throws(DeviceError) {
            response = try retrying { (archive) throws(DeviceError) in try route(request, archive) }
            lastReport = ""
        } catch {
            reportOnce(error.message)
            response =
                request.method == "POST"
                ? Self.jsonResponse(503, error.message)
                : Self.errorResponse(503, "The archive cannot be read", error.message, request)
        }
        if let cookie = request.cookie { response.headers.append(("Set-Cookie", cookie)) }
        return response
    }

    /// Calls `body` with the archive. If that fails without a timeout, opens the archive again and calls `body` once more.
    private func retrying(
        _ body: (any OfficeArchive) throws(DeviceError) -> WebResponse
    ) throws(DeviceError) -> WebResponse {
        if let outage, MonotonicClock.nanoseconds < outage.until { throw outage.error }
        do throws(DeviceError) {
            if let archive, archive.filesPath != archive.name || FileStatus(archive.filesPath) != nil {
                do throws(DeviceError) { return try body(archive) } catch {
                    self.archive = nil
                    if Self.isTimeout(error) { throw error }
                }
            }
            let archive = try open()
            self.archive = archive
            return try body(archive)
        } catch {
            // The next requests fail immediately instead of also waiting for the timeout.
            if Self.isTimeout(error) { outage = (MonotonicClock.nanoseconds + Self.outageNanoseconds, error) }
            throw error
        }
    }

    private static func isTimeout(_ error: DeviceError) -> Bool { [ETIMEDOUT, ECANCELED].contains(error.status) }

    func reportOnce(_ message: String) {
        if message != lastReport { report(message) }
        lastReport = message
    }

    /// Responds to a request according to its path. No part of the URL becomes a file path.
    private func route(
        _ request: WebRequest, _ archive: any OfficeArchive
    ) throws(DeviceError) -> WebResponse {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        if parts == ["favicon.ico"] { return WebResponse(204, Self.headers("image/x-icon"), .bytes([])) }
        if parts == [""] { return try list(request, archive) }
        if Self.isUpload(request) {
            if case .added(let outcome) = request.result { return Self.response(toUpload: outcome) }
            // The page asks whether it may send files.
            return Self.jsonResponse(200, "")
        }
        if parts == [Substring(Self.uploadName)], let key = request.query["sound"] {
            return response(toTranscription: key)
        }
        if parts == [Substring(Self.downloadName)] { return try download(request, archive) }
        guard parts.count == 3, parts.first == "recording", let id = parts.dropFirst().first.flatMap({ Int($0) }),
            let last = parts.last, let recording = try archive.recording(id)
        else { return Self.errorResponse(404, "Page not found", "It may be in another archive.", request) }
        if last == Self.correctionsName {
            return request.method == "POST"
                ? try save(recording, request, archive)
                : Self.errorResponse(
                    405, "Method not allowed", "Use POST to save corrections.", request, [("Allow", "POST")])
        }
        if last.isEmpty { return try page(recording, request, archive) }
        if String(last) == recording.audioName { return try audio(of: recording, request, archive) }
        return Self.errorResponse(404, "Page not found", "This recording has no \(last).", request)
    }

    private func page(
        _ recording: OfficeRecording, _ request: WebRequest, _ archive: any OfficeArchive
    ) throws(DeviceError) -> WebResponse {
        let transcripts = try archive.transcripts(of: recording.id)
        let requestedID = Int(request.query["reading"] ?? "")
        guard let shown = requestedID.map({ id in transcripts.first { $0.id == id } }) ?? transcripts.first,
            let timeline = try archive.timeline(ofTranscript: shown.id)
        else {
            return Self.errorResponse(
                404, "Transcript not found", "This recording has other transcripts.", request, listLink: "../../")
        }
        var details = RecordingDetails(
            title: OfficePage.title(of: recording), started: Self.formatted(recording.startedAt),
            clock: recording.clock, device: "\(recording.recorder.folder), recording \(recording.number)",
            audio: recording.audioName, index: "../../", peaks: peaks(of: recording, archive))
        // Only the transcript that is shown by default can be corrected.
        if let digest = try archive.samplesDigest(of: recording.id), shown.id == transcripts.first?.id {
            details.identity = RecordingIdentity(recording: recording.number, pass: timeline.pass, sound: digest)
        }
        details.history = try archive.history(of: recording.id).map(\.entry)
        details.served = ServedPage(
            saves: details.identity == nil ? nil : Self.correctionsName, transcriptID: shown.id,
            person: request.person, now: MonotonicClock.wallSeconds,
            transcripts: transcripts.enumerated().map { index, transcript in
                ServedPage.Transcript(
                    link: index == 0 ? "./" : "?reading=\(transcript.id)", title: Self.title(of: transcript),
                    isShown: transcript.id == shown.id)
            })
        return Self.htmlResponse(200, try rethrowing { try TranscriptFormat.html.render(timeline, details: details) })
    }

    private static func title(of transcript: OfficeTranscript) -> String {
        let author = transcript.person.map { $0.isEmpty ? "a person" : oneLine($0) } ?? oneLine(transcript.engine)
        return [author, formatted(transcript.madeAt)].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// Returns the waveform's peaks from the copy's own page; empty if there are none.
    private func peaks(of recording: OfficeRecording, _ archive: any OfficeArchive) -> [UInt8] {
        guard !recording.copyFolder.isEmpty,
            let files = try? Folder(opening: archive.filesPath, crossesMounts: true),
            let folder = try? files.folder(along: recording.copyFolder),
            let bytes = try? folder.content(ofFile: "index.html", limit: Self.maximumPageBytes),
            let page = try? ParsedPage(bytes, name: "index.html")
        else { return [] }
        return page.peaks
    }

    /// Returns a function with which the caller parses the body on another thread before it calls `respond(to:)`; nil
    /// if the request has no corrections.
    func parser(of request: WebRequest) -> (@Sendable ([UInt8]) -> WebRequest.Body)? {
        guard request.method == "POST", !Self.isUpload(request) else { return nil }
        let id = request.path.split(separator: "/").dropFirst().first.flatMap { Int($0) }
        let reader = reader
        return { bytes in .corrections(Self.parse(bytes, of: id ?? 0, reader: reader)) }
    }

    private static func parse(
        _ bytes: [UInt8], of recording: Int, reader: String
    ) -> Result<SavedCorrections, DeviceError> {
        Result { () throws(DeviceError) in
            try SavedCorrections(bytes, name: "recording \(recording)", reader: reader)
        }
    }

    private func save(
        _ recording: OfficeRecording, _ request: WebRequest, _ archive: any OfficeArchive
    ) throws(DeviceError) -> WebResponse {
        let id = { (name: String) in Int(request.query[name] ?? "") ?? 0 }
        let saved: SavedCorrections
        do throws(DeviceError) {
            let parsed =
                if case .corrections(let result) = request.result { result } else {
                    Self.parse(request.body, of: recording.id, reader: reader)
                }
            saved = try parsed.get()
        } catch {
            guard error.code == .damaged || error.code == .unsupported else { throw error }
            return Self.jsonResponse(409, error.message)
        }
        let outcome: OfficeSaving.Outcome
        do throws(DeviceError) {
            outcome = try OfficeSaving(archive: archive).save(
                saved, of: recording, over: id("reading"), seen: id("seen"), login: oneLine(request.person),
                now: MonotonicClock.wallSeconds)
        } catch {
            guard error.cause == .unfitCorrections else { throw error }
            return Self.jsonResponse(409, error.message)
        }
        return Self.jsonResponse(
            200, Self.message(for: outcome), transcriptID: outcome.transcriptID,
            hasOthersCorrections: outcome.otherPerson != nil)
    }

    private static func message(for outcome: OfficeSaving.Outcome) -> String {
        guard let other = outcome.otherPerson.map({ $0.isEmpty ? "Somebody" : oneLine($0) }) else {
            return "Saved in the archive"
        }
        if !outcome.isMerged {
            return "Saved. \(other) has saved another transcript in the meantime. Both are kept, and yours is shown."
        }
        if outcome.conflicts.isEmpty {
            return "Saved. \(other) has also corrected this transcript in the meantime; it contains both corrections."
        }
        let times = outcome.conflicts.prefix(5).map { clockTime($0) }.joined(separator: ", ")
        let ellipsis = outcome.conflicts.count > 5 ? " …" : ""
        return
            "Saved. \(other) has also corrected \(times)\(ellipsis) in the meantime: your version is shown there, and "
            + "theirs is in the list of transcripts above."
    }

    private func audio(
        of recording: OfficeRecording, _ request: WebRequest, _ archive: any OfficeArchive
    ) throws(DeviceError) -> WebResponse {
        let (descriptor, length): (Int32, Int64)
        do throws(DeviceError) {
            // Does not follow symbolic links, and opens only regular files.
            let folder = try Folder(opening: archive.filesPath, crossesMounts: true).folder(along: recording.copyFolder)
            let file = try folder.openFile(recording.audioName, O_RDONLY)
            length = try file.size()
            descriptor = fcntl(file.number, F_DUPFD_CLOEXEC, 0)
        } catch {
            return Self.errorResponse(404, "Audio not found", error.message, request, listLink: "../../")
        }
        guard descriptor >= 0 else { throw .system("fcntl", on: recording.audioName) }
        var headers = Self.headers(recording.audioName.hasSuffix(".flac") ? "audio/flac" : "audio/wav")
        headers.append(("Accept-Ranges", "bytes"))
        // We send no validators, so `If-Range` cannot match.
        let header = request.headers["if-range"] == nil ? request.headers["range"] : nil
        switch ByteRange(header, of: length) {
        case .whole where length == 0:
            close(descriptor)
            return WebResponse(200, headers, .bytes([]))
        case .whole: return WebResponse(200, headers, .file(descriptor, from: 0, count: length))
        case .part(let range):
            headers.append(("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound)/\(length)"))
            return WebResponse(
                206, headers, .file(descriptor, from: range.lowerBound, count: range.upperBound - range.lowerBound + 1))
        case .outside:
            close(descriptor)
            headers.append(("Content-Range", "bytes */\(length)"))
            return WebResponse(416, headers, .bytes([]))
        }
    }
}
