import Core
import Transcripts

/// The maximum number of recordings on a page of the list, of hits of a search, and of recordings in a ZIP file.
private let (maxListed, maxHits, maxDownloaded) = (100, 200, 1_000)

extension OfficeSite {
    /// The last part of the address of a ZIP file.
    static let downloadName = "recordings.zip"
    /// The maximum number of ZIP files sent at a time: each occupies a core.
    private static let maxDownloads = 8

    func list(_ request: WebRequest, _ archive: any OfficeArchive) throws(DeviceError) -> WebResponse {
        let (form, filter, remarks) = Self.asked(request)
        do throws(DeviceError) {
            return form.words.isEmpty
                ? try all(form, filter, remarks, request, archive) : try found(form, filter, remarks, archive)
        } catch {
            // An unknown recorder is an error of the user, not of the archive.
            guard error.cause == .unknownRecorder else { throw error }
            return Self.page(200, searchPage(form, [], remarks: [error.message]))
        }
    }

    /// Returns the fields of the form, the filter, and a line for each invalid field.
    private static func asked(_ request: WebRequest) -> (form: SearchForm, filter: OfficeFilter, remarks: [String]) {
        let asked = { (name: String) in oneLine(request.query[name] ?? "") }
        let form = SearchForm(
            words: asked("q"), alike: asked("alike") == "yes", recorder: asked("recorder"), since: asked("since"),
            until: asked("until"), person: asked("person"), speaker: asked("speaker"))
        var filter = OfficeFilter()
        (filter.recorder, filter.person, filter.speaker) = (
            form.recorder.nonEmpty, form.person.nonEmpty, form.speaker.nonEmpty
        )
        var remarks: [String] = []
        for (text, isEnd) in [(form.since, false), (form.until, true)] where !text.isEmpty {
            guard let time = seconds(ofDay: text, isEnd: isEnd) else {
                remarks.append("\(text) is not a day such as 2026-11-20")
                continue
            }
            if isEnd { filter.until = time } else { filter.since = time }
        }
        return (form, filter, remarks)
    }

    /// Responds with a ZIP file of one recording, `?id=12`, or of everything in a list or search.
    func download(_ request: WebRequest, _ archive: any OfficeArchive) throws(DeviceError) -> WebResponse {
        // Otherwise a page of another site could fill its visitor's disk.
        guard !["cross-site", "same-site"].contains(request.headers["sec-fetch-site"]) else {
            return Self.problem(403, "Cannot be downloaded", "Follow the link on the list.", request)
        }
        guard downloads < Self.maxDownloads else {
            return Self.problem(
                503, "Too many downloads", "Others are being sent; try again later.", request, [("Retry-After", "60")])
        }
        let (form, filter, remarks) = Self.asked(request)
        if let wrong = remarks.first { return Self.problem(400, "Cannot be downloaded", wrong, request) }
        let recordings: [OfficeRecording]
        do throws(DeviceError) { recordings = try wanted(request, form, filter, archive) } catch {
            guard error.cause == .unknownRecorder else { throw error }
            return Self.problem(400, "Cannot be downloaded", error.message, request)
        }
        guard recordings.count <= maxDownloaded else {
            return Self.problem(
                400, "More than \(maxDownloaded) recordings", "Search for fewer, or use fieldscribe-office export.",
                request)
        }
        guard let first = recordings.first else {
            return Self.problem(404, "Nothing was found", "There is nothing to download.", request)
        }
        let zip = try ZipDownload(recordings, in: archive) { [weak self] error in
            self?.downloads -= 1
            if let error { self?.tellOnce(error.message) }
        }
        downloads += 1
        if recordings.count == 1 {
            do throws(DeviceError) { try zip.openNext() } catch {
                return Self.problem(404, "Cannot be downloaded", error.message, request)
            }
        }
        let name = recordings.count == 1 ? "recording-\(first.id).zip" : Self.downloadName
        let headers = [("Content-Disposition", "attachment; filename=\"\(name)\"")]
        return WebResponse(200, Self.headers("application/zip") + headers, .zip(zip))
    }

    /// Returns the recordings that a request for a ZIP file names.
    private func wanted(
        _ request: WebRequest, _ form: SearchForm, _ filter: OfficeFilter, _ archive: any OfficeArchive
    ) throws(DeviceError) -> [OfficeRecording] {
        guard request.query["id"] != nil || !form.words.isEmpty else {
            return try archive.recordings(filter, from: .latest, limit: maxDownloaded + 1)
        }
        var numbers = [request.query["id"].flatMap { Int($0) } ?? 0]
        if request.query["id"] == nil {
            var query = OfficeQuery(form.words)
            if form.alike { _ = try query.addSimilarWords(in: archive) }
            numbers = Set(try archive.search(query, filter, limit: maxHits).map(\.recording)).sorted()
        }
        var recordings: [OfficeRecording] = []
        for number in numbers { if let recording = try archive.recording(number) { recordings.append(recording) } }
        return recordings
    }

    private func all(
        _ form: SearchForm, _ filter: OfficeFilter, _ remarks: [String], _ request: WebRequest,
        _ archive: any OfficeArchive
    ) throws(DeviceError) -> WebResponse {
        let number = { (name: String) in request.query[name].flatMap { Int($0) } }
        let (earlier, later) = (number("before"), number("after"))
        // One more than shown, to know whether there is a next page.
        var shown: [OfficeRecording] = []
        var (hasLater, hasEarlier) = (false, false)
        if let later {
            shown = try archive.recordings(filter, from: .later(later), limit: maxListed + 1)
            (hasLater, hasEarlier) = (shown.count > maxListed, true)
            shown = shown.suffix(maxListed)
        } else if let earlier {
            shown = try archive.recordings(filter, from: .earlier(earlier), limit: maxListed + 1)
            (hasLater, hasEarlier) = (true, shown.count > maxListed)
        }
        // The first page is always full.
        if !hasLater || shown.isEmpty {
            shown = try archive.recordings(filter, from: .latest, limit: maxListed + 1)
            (hasLater, hasEarlier) = (false, shown.count > maxListed)
        }
        shown = Array(shown.prefix(maxListed))
        var pages: [(name: String, link: String)] = []
        if hasLater, let first = shown.first { pages.append(("Later ones", form.link([("after", "\(first.id)")]))) }
        if hasEarlier, let last = shown.last { pages.append(("Earlier ones", form.link([("before", "\(last.id)")]))) }
        let all = try hasLater || hasEarlier ? archive.count(filter) : shown.count
        let count = all == 1 ? "One recording" : "\(all) recordings"
        let beginnings = try archive.beginnings(of: shown.map(\.id))
        let entries = shown.map { entry($0, beginnings[$0.id] ?? "", isBelowDay: true) }
        let downloaded = all <= maxDownloaded ? all : 0
        return Self.page(
            200, searchPage(form, entries, remarks: [count] + remarks, downloaded: downloaded, pages: pages))
    }

    private func found(
        _ form: SearchForm, _ filter: OfficeFilter, _ remarks: [String], _ archive: any OfficeArchive
    ) throws(DeviceError) -> WebResponse {
        var (query, remarks) = (OfficeQuery(form.words), remarks)
        if form.alike { remarks += try query.addSimilarWords(in: archive) }
        let hits = try archive.search(query, filter, limit: maxHits)
        let beginnings = try archive.beginnings(of: Set(hits.map(\.recording)).sorted())
        var (entries, places): ([SearchEntry], [Int: Int]) = ([], [:])
        for hit in hits {
            let found = SearchEntry.Hit(
                position: hit.line.range.start, speaker: hit.line.name, excerpt: hit.marked,
                isLine: hit.line.segment != 0)
            if let place = places[hit.recording] {
                entries[place].hits.append(found)
            } else if let recording = try archive.recording(hit.recording) {
                places[hit.recording] = entries.count
                entries.append(entry(recording, beginnings[recording.id] ?? "", isBelowDay: false))
                entries[entries.count - 1].hits = [found]
            }
        }
        let many = hits.count == maxHits ? "The first \(hits.count) hits" : hits.count == 1 ? "One hit" : nil
        let ofThem = entries.count == 1 ? "one recording" : "\(entries.count) recordings"
        remarks.insert("\(many ?? "\(hits.count) hits") in \(ofThem)", at: 0)
        return Self.page(200, searchPage(form, entries, remarks: remarks, downloaded: entries.count))
    }

    /// - Parameters:
    ///   - text: the beginning of its transcript; empty without words.
    ///   - isBelowDay: whether it is listed below its day; otherwise in the order of hits.
    private func entry(_ recording: OfficeRecording, _ text: String, isBelowDay: Bool) -> SearchEntry {
        var (day, minute) = ("Unknown day", "")
        if recording.startedAt > 0 { (day, minute) = localMinute(of: recording.startedAt) }
        let facts = [
            isBelowDay ? minute : Self.time(recording.startedAt), clockTime(recording.length),
            oneLine(recording.people), recording.clock == .unverified ? "clock unverified" : "",
            recording.readings > 1 ? "\(recording.readings) texts" : "",
        ]
        let own = oneLine(recording.title)
        let opening = Self.opening(of: text)
        return SearchEntry(
            link: "recording/\(recording.id)/", number: recording.id, day: isBelowDay ? day : "",
            title: own.isEmpty ? opening.title : own, recorder: recording.recorder.folder,
            recording: recording.number, hasCopy: !recording.place.isEmpty, facts: facts.filter { !$0.isEmpty },
            words: isBelowDay ? beginning(of: own.isEmpty ? opening.rest : text) : "")
    }

    /// The maximum length of a title made from a text, in characters.
    private static let maxTitle = 60

    /// Splits a text into a title, its first words, and the rest.
    static func opening(of text: String) -> (title: String, rest: String) {
        let words = oneLine(text).split(separator: " ")
        guard let first = words.first else { return ("Without words", "") }
        var title = String(first.prefix(maxTitle))
        var count = 1
        while count < words.count, title.count + 1 + words[count].count <= maxTitle {
            title += " \(words[count])"
            count += 1
        }
        let isCut = count < words.count || first.count > maxTitle
        return (isCut ? title + " …" : title, words[count...].joined(separator: " "))
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
