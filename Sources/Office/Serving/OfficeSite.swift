import Core
import Glibc
import System
import Transcripts

/// Answers HTTP requests about an archive: serves the list of recordings with a search, and each recording's page with
/// its sound. Used on one thread.
package final class OfficeSite {
    private static let savingName = "corrections"
    private static let maximumPageBytes = 64 << 20

    private let access: SiteAccess
    let program: String
    /// The path of the `fieldscribe` program; nil to search for it.
    let transcriber: String?
    let open: @Sendable () throws(DeviceError) -> any OfficeArchive
    private let report: (String) -> Void
    private var archive: (any OfficeArchive)?
    private var lastReported = ""
    /// The number of ZIP files that are being sent.
    var downloads = 0
    /// The files that are being received or added.
    weak var addition: DroppedFiles?
    /// The sound files that are being transcribed, and the results of earlier ones.
    let sounds = SoundAdditions()
    var files: String? { archive?.files }
    /// After the archive timed out, all requests fail with this error until this time, in nanoseconds.
    private var outage: (until: Int64, error: DeviceError)?
    private static let outageNanoseconds: Int64 = 10_000_000_000

    /// - Parameters:
    ///   - archive: the archive to serve.
    ///   - reader: the program that parses corrections in a sandboxed process.
    ///   - transcriber: the path of the `fieldscribe` program; nil to search for it.
    ///   - open: opens the archive again after it was unavailable, and for the thread that adds files.
    ///   - report: called with a problem in the archive. The same problem is reported again only after a different one
    ///     or a success.
    package init(
        _ archive: any OfficeArchive, access: SiteAccess, reader: String = "/proc/self/exe",
        transcriber: String? = nil, open: @escaping @Sendable () throws(DeviceError) -> any OfficeArchive,
        report: @escaping (String) -> Void
    ) {
        self.archive = archive
        self.access = access
        program = reader
        self.transcriber = transcriber
        self.open = open
        self.report = report
        // Ignores errors, because an archive that this process may only read can be served, too.
        if let files { try? DroppedFiles.removeLeftovers(in: Folder(opening: files, crossesMounts: true)) }
    }

    func refusal(of request: inout WebRequest) -> WebResponse? {
        switch access.answer(to: request) {
        case .allowed(let person, let cookie): (request.person, request.cookie) = (person, cookie)
        case .wrongPassword:
            return Self.problem(
                401, "Password required", "Reload the page, and enter your name and the password.", request,
                [("WWW-Authenticate", "Basic realm=\"Fieldscribe\", charset=\"UTF-8\"")])
        case .throttled(let seconds):
            return Self.problem(
                429, "Too many wrong passwords", "Try again in \(seconds) seconds.", request,
                [("Retry-After", "\(seconds)")])
        case .unknownHost:
            return Self.problem(
                421, "Unknown host name", "The server's administrator can allow this name with --host NAME.",
                request)
        }
        if ["GET", "HEAD"].contains(request.method) { return nil }
        let isAddition = Self.isAddition(request)
        guard request.method == "POST", isAddition || request.path.hasSuffix("/\(Self.savingName)") else {
            return Self.problem(
                405, "Method not allowed", "Use GET to read pages.", request, [("Allow", "GET, HEAD")])
        }
        // Forms on other sites cannot send these types.
        let type = isAddition ? "application/x-tar" : "application/json"
        guard !SiteAccess.isForeign(request), request.headers["content-type"]?.hasPrefix(type) == true else {
            return Self.answer(403, "This request did not come from a page of this server.")
        }
        return isAddition ? refusal(ofAddition: request) : nil
    }

    func respond(to request: WebRequest) -> WebResponse {
        var answer: WebResponse
        do throws(DeviceError) {
            answer = try retrying { (archive) throws(DeviceError) in try self.answer(request, archive) }
            lastReported = ""
        } catch {
            reportOnce(error.message)
            answer =
                request.method == "POST"
                ? Self.answer(503, error.message)
                : Self.problem(503, "The archive cannot be read", error.message, request)
        }
        if let cookie = request.cookie { answer.headers.append(("Set-Cookie", cookie)) }
        return answer
    }

    /// Calls `body` with the archive. If that fails, opens the archive again and calls `body` once more.
    private func retrying(
        _ body: (any OfficeArchive) throws(DeviceError) -> WebResponse
    ) throws(DeviceError) -> WebResponse {
        if let outage, MonotonicClock.nanoseconds < outage.until { throw outage.error }
        do throws(DeviceError) {
            if let archive, archive.files != archive.name || FileStatus(archive.files) != nil {
                do throws(DeviceError) { return try body(archive) } catch {
                    self.archive = nil
                    if Self.isTimeout(error) { throw error }
                }
            }
            let archive = try open()
            self.archive = archive
            return try body(archive)
        } catch {
            // Otherwise each request would wait until the timeout.
            if Self.isTimeout(error) { outage = (MonotonicClock.nanoseconds + Self.outageNanoseconds, error) }
            throw error
        }
    }

    private static func isTimeout(_ error: DeviceError) -> Bool { [ETIMEDOUT, ECANCELED].contains(error.status) }

    func reportOnce(_ message: String) {
        if message != lastReported { report(message) }
        lastReported = message
    }

    /// Answers `/`, `/recordings.zip`, `/recording/N/` and `/recording/N/audio.flac`. No part of the address becomes a
    /// file path.
    private func answer(
        _ request: WebRequest, _ archive: any OfficeArchive
    ) throws(DeviceError) -> WebResponse {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        // Every browser requests an icon.
        if parts == ["favicon.ico"] { return WebResponse(204, Self.headers("image/x-icon"), .bytes([])) }
        if parts == [""] { return try list(request, archive) }
        if Self.isAddition(request) {
            if case .added(let outcome) = request.result { return Self.answer(toAddition: outcome) }
            // The page has asked whether it may send files.
            return Self.answer(200, "")
        }
        if parts == [Substring(Self.addingName)], let key = request.query["sound"] { return answer(aboutSound: key) }
        if parts == [Substring(Self.downloadName)] { return try download(request, archive) }
        guard parts.count == 3, parts.first == "recording", let id = parts.dropFirst().first.flatMap({ Int($0) }),
            let last = parts.last, let recording = try archive.recording(id)
        else { return Self.problem(404, "Page not found", "It may be in another archive.", request) }
        if last == Self.savingName {
            return request.method == "POST"
                ? try save(recording, request, archive)
                : Self.problem(
                    405, "Method not allowed", "Use POST to save corrections.", request, [("Allow", "POST")])
        }
        if last.isEmpty { return try page(recording, request, archive) }
        if String(last) == recording.audio { return try sound(of: recording, request, archive) }
        return Self.problem(404, "Page not found", "This recording has no \(last).", request)
    }

    // MARK: a recording

    private func page(
        _ recording: OfficeRecording, _ request: WebRequest, _ archive: any OfficeArchive
    ) throws(DeviceError) -> WebResponse {
        let readings = try archive.readings(of: recording.id)
        let requested = Int(request.query["reading"] ?? "")
        guard let shown = requested.map({ id in readings.first { $0.id == id } }) ?? readings.first,
            let timeline = try archive.timeline(ofReading: shown.id)
        else {
            return Self.problem(
                404, "Transcript not found", "This recording has other transcripts.", request, back: "../../")
        }
        var details = RecordingDetails(
            title: OfficePage.title(of: recording), started: Self.time(recording.startedAt), clock: recording.clock,
            device: "\(recording.recorder.folder), recording \(recording.number)", audio: recording.audio,
            index: "../../", peaks: peaks(of: recording, archive))
        // Older transcripts cannot be corrected.
        if let sound = try archive.sound(of: recording.id), shown.id == readings.first?.id {
            details.identity = RecordingIdentity(recording: recording.number, pass: timeline.pass, sound: sound)
        }
        details.history = try archive.history(of: recording.id).map(\.entry)
        details.served = ServedPage(
            saves: details.identity == nil ? nil : Self.savingName, reading: shown.id,
            person: request.person, now: MonotonicClock.wallSeconds,
            readings: readings.enumerated().map { index, reading in
                ServedPage.Reading(
                    link: index == 0 ? "./" : "?reading=\(reading.id)", title: Self.title(of: reading),
                    isHere: reading.id == shown.id)
            })
        return Self.page(200, try rethrowing { try TranscriptFormat.html.render(timeline, details: details) })
    }

    private static func title(of reading: OfficeTranscript) -> String {
        let author = reading.person.map { $0.isEmpty ? "a person" : oneLine($0) } ?? oneLine(reading.engine)
        return [author, reading.madeAt == 0 ? "" : time(reading.madeAt)].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// Returns the peaks of the waveform from the copy's own page.
    private func peaks(of recording: OfficeRecording, _ archive: any OfficeArchive) -> [UInt8] {
        guard !recording.place.isEmpty,
            let folder = try? Folder(opening: archive.files, crossesMounts: true).folder(along: recording.place),
            let bytes = try? folder.content(ofFile: "index.html", limit: Self.maximumPageBytes),
            let page = try? ParsedPage(bytes, name: "index.html")
        else { return [] }
        return page.peaks
    }

    /// Returns a function that parses the body before `respond(to:)` is called, while other requests are answered; nil
    /// if no parsing is needed.
    func reader(of request: WebRequest) -> (@Sendable ([UInt8]) -> WebRequest.Body)? {
        guard request.method == "POST", !Self.isAddition(request) else { return nil }
        let id = request.path.split(separator: "/").dropFirst().first.flatMap { Int($0) }
        let program = program
        return { bytes in .corrections(Self.corrections(bytes, of: id ?? 0, by: program)) }
    }

    private static func corrections(
        _ bytes: [UInt8], of recording: Int, by reader: String
    ) -> Result<SavedCorrections, DeviceError> {
        Result { () throws(DeviceError) in
            try SavedCorrections(bytes, name: "recording \(recording)", reader: reader)
        }
    }

    private func save(
        _ recording: OfficeRecording, _ request: WebRequest, _ archive: any OfficeArchive
    ) throws(DeviceError) -> WebResponse {
        let number = { (name: String) in Int(request.query[name] ?? "") ?? 0 }
        let saved: SavedCorrections
        do throws(DeviceError) {
            let read =
                if case .corrections(let read) = request.result { read } else {
                    Self.corrections(request.body, of: recording.id, by: program)
                }
            saved = try read.get()
        } catch {
            guard error.code == .damaged || error.code == .unsupported else { throw error }
            return Self.answer(409, error.message)
        }
        let outcome: OfficeSaving.Outcome
        do throws(DeviceError) {
            outcome = try OfficeSaving(archive: archive).save(
                saved, of: recording, over: number("reading"), seen: number("seen"), login: oneLine(request.person),
                now: MonotonicClock.wallSeconds)
        } catch {
            guard error.cause == .unfitCorrections else { throw error }
            return Self.answer(409, error.message)
        }
        return Self.answer(
            200, Self.message(for: outcome), reading: outcome.reading, others: outcome.other != nil)
    }

    private static func message(for outcome: OfficeSaving.Outcome) -> String {
        guard let other = outcome.other.map({ $0.isEmpty ? "Somebody" : oneLine($0) }) else {
            return "Saved in the archive"
        }
        if !outcome.isMerged {
            return "Saved. \(other) has saved another transcript in the meantime. Both are kept, and yours is shown."
        }
        if outcome.conflicts.isEmpty {
            return "Saved. \(other) has also corrected it in the meantime: the text has both corrections."
        }
        let places = outcome.conflicts.prefix(5).map { clockTime($0) }.joined(separator: ", ")
        let ellipsis = outcome.conflicts.count > 5 ? " …" : ""
        return
            "Saved. \(other) has also corrected \(places)\(ellipsis) in the meantime: yours is shown there, and theirs "
            + "is in the list of texts above."
    }

    private func sound(
        of recording: OfficeRecording, _ request: WebRequest, _ archive: any OfficeArchive
    ) throws(DeviceError) -> WebResponse {
        let (number, length): (Int32, Int64)
        do throws(DeviceError) {
            // Does not follow symbolic links, and opens only regular files.
            let folder = try Folder(opening: archive.files, crossesMounts: true).folder(along: recording.place)
            let file = try folder.openFile(recording.audio, O_RDONLY)
            length = try file.size()
            number = fcntl(file.number, F_DUPFD_CLOEXEC, 0)
        } catch {
            return Self.problem(404, "No sound", error.message, request, back: "../../")
        }
        guard number >= 0 else { throw .system("fcntl", on: recording.audio) }
        var headers = Self.headers(recording.audio.hasSuffix(".flac") ? "audio/flac" : "audio/wav")
        headers.append(("Accept-Ranges", "bytes"))
        // We send no validators, so that `If-Range` never matches.
        let header = request.headers["if-range"] == nil ? request.headers["range"] : nil
        switch ByteRange(header, of: length) {
        case .whole where length == 0:
            close(number)
            return WebResponse(200, headers, .bytes([]))
        case .whole: return WebResponse(200, headers, .file(number, from: 0, count: length))
        case .part(let range):
            headers.append(("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound)/\(length)"))
            return WebResponse(
                206, headers, .file(number, from: range.lowerBound, count: range.upperBound - range.lowerBound + 1))
        case .outside:
            close(number)
            headers.append(("Content-Range", "bytes */\(length)"))
            return WebResponse(416, headers, .bytes([]))
        }
    }
}
