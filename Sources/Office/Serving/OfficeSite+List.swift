import Core
import Transcripts

/// The maximum number of recordings on a page of the list, of hits in a search, and of recordings in a ZIP file.
private let (maximumListed, maximumHits, maximumDownloaded) = (100, 200, 1_000)

extension OfficeSite {
    /// The last component of the address of a ZIP file.
    static let downloadName = "recordings.zip"
    /// The maximum number of ZIP files that are sent at the same time, because each occupies a core.
    private static let maximumDownloads = 8

    func list(_ request: WebRequest, _ archive: any OfficeArchive) throws(DeviceError) -> WebResponse {
        let (form, filter, remarks) = Self.parsed(request)
        do throws(DeviceError) {
            return form.words.isEmpty
                ? try all(form, filter, remarks, request, archive) : try found(form, filter, remarks, archive)
        } catch {
            // An unknown recorder is the user's mistake, not a problem in the archive.
            guard error.cause == .unknownRecorder else { throw error }
            return Self.page(200, searchPage(form, [], remarks: [error.message]))
        }
    }

    /// Returns the fields of the form, the filter, and a line for each invalid field.
    private static func parsed(_ request: WebRequest) -> (form: SearchForm, filter: OfficeFilter, remarks: [String]) {
        let field = { (name: String) in oneLine(request.query[name] ?? "") }
        let form = SearchForm(
            words: field("q"), alike: field("alike") == "yes", recorder: field("recorder"), since: field("since"),
            until: field("until"), person: field("person"), speaker: field("speaker"))
        var filter = OfficeFilter()
        (filter.recorder, filter.person, filter.speaker) = (
            form.recorder.nonEmpty, form.person.nonEmpty, form.speaker.nonEmpty
        )
        var remarks: [String] = []
        for (text, isEnd) in [(form.since, false), (form.until, true)] where !text.isEmpty {
            guard let time = seconds(ofDay: text, isEnd: isEnd) else {
                remarks.append("\(text) is not a date such as 2026-11-20")
                continue
            }
            if isEnd { filter.until = time } else { filter.since = time }
        }
        return (form, filter, remarks)
    }

    /// Responds with a ZIP file of one recording, `?id=12`, or of everything in a list or search.
    func download(_ request: WebRequest, _ archive: any OfficeArchive) throws(DeviceError) -> WebResponse {
        // Otherwise a page on another site could fill its visitor's disk.
        guard !["cross-site", "same-site"].contains(request.headers["sec-fetch-site"]) else {
            return Self.problem(403, "Cannot be downloaded", "Follow the link in the list.", request)
        }
        guard downloads < Self.maximumDownloads else {
            return Self.problem(
                503, "Too many downloads", "Others are being sent; try again later.", request, [("Retry-After", "60")])
        }
        let (form, filter, remarks) = Self.parsed(request)
        if let remark = remarks.first { return Self.problem(400, "Cannot be downloaded", remark, request) }
        let recordings: [OfficeRecording]
        do throws(DeviceError) { recordings = try requested(request, form, filter, archive) } catch {
            guard error.cause == .unknownRecorder else { throw error }
            return Self.problem(400, "Cannot be downloaded", error.message, request)
        }
        guard recordings.count <= maximumDownloaded else {
            return Self.problem(
                400, "More than \(maximumDownloaded) recordings",
                "Narrow the search, or use fieldscribe-office export.", request)
        }
        guard let first = recordings.first else {
            return Self.problem(404, "Nothing was found", "There is nothing to download.", request)
        }
        let zip = try ZipDownload(recordings, in: archive) { [weak self] error in
            self?.downloads -= 1
            if let error { self?.reportOnce(error.message) }
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

    /// Returns the recordings for a request for a ZIP file.
    private func requested(
        _ request: WebRequest, _ form: SearchForm, _ filter: OfficeFilter, _ archive: any OfficeArchive
    ) throws(DeviceError) -> [OfficeRecording] {
        guard request.query["id"] != nil || !form.words.isEmpty else {
            return try archive.recordings(filter, from: .latest, limit: maximumDownloaded + 1)
        }
        var numbers = [request.query["id"].flatMap { Int($0) } ?? 0]
        if request.query["id"] == nil {
            var query = OfficeQuery(form.words)
            if form.alike { _ = try query.addSimilarWords(in: archive) }
            numbers = Set(try archive.search(query, filter, limit: maximumHits).map(\.recording)).sorted()
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
        // Queries one more than the page shows, to find out whether there is a next page.
        var shown: [OfficeRecording] = []
        var (hasLater, hasEarlier) = (false, false)
        if let later {
            shown = try archive.recordings(filter, from: .later(later), limit: maximumListed + 1)
            (hasLater, hasEarlier) = (shown.count > maximumListed, true)
            shown = shown.suffix(maximumListed)
        } else if let earlier {
            shown = try archive.recordings(filter, from: .earlier(earlier), limit: maximumListed + 1)
            (hasLater, hasEarlier) = (true, shown.count > maximumListed)
        }
        // The first page is always full.
        if !hasLater || shown.isEmpty {
            shown = try archive.recordings(filter, from: .latest, limit: maximumListed + 1)
            (hasLater, hasEarlier) = (false, shown.count > maximumListed)
        }
        shown = Array(shown.prefix(maximumListed))
        var pages: [(name: String, link: String)] = []
        if hasLater, let first = shown.first { pages.append(("Later ones", form.link([("after", "\(first.id)")]))) }
        if hasEarlier, let last = shown.last { pages.append(("Earlier ones", form.link([("before", "\(last.id)")]))) }
        let all = try hasLater || hasEarlier ? archive.count(filter) : shown.count
        let count = all == 1 ? "One recording" : "\(all) recordings"
        let beginnings = try archive.beginnings(of: shown.map(\.id))
        let entries = shown.map { entry($0, beginnings[$0.id] ?? "", isBelowDay: true) }
        let downloaded = all <= maximumDownloaded ? all : 0
        return Self.page(
            200, searchPage(form, entries, remarks: [count] + remarks, downloaded: downloaded, pages: pages))
    }

    private func found(
        _ form: SearchForm, _ filter: OfficeFilter, _ remarks: [String], _ archive: any OfficeArchive
    ) throws(DeviceError) -> WebResponse {
        var (query, remarks) = (OfficeQuery(form.words), remarks)
        if form.alike { remarks += try query.addSimilarWords(in: archive) }
        let hits = try archive.search(query, filter, limit: maximumHits)
        let beginnings = try archive.beginnings(of: Set(hits.map(\.recording)).sorted())
        var (entries, indices): ([SearchEntry], [Int: Int]) = ([], [:])
        for hit in hits {
            let found = SearchEntry.Hit(
                position: hit.line.range.start, speaker: hit.line.name, excerpt: hit.marked,
                isLine: hit.line.segment != 0)
            if let index = indices[hit.recording] {
                entries[index].hits.append(found)
            } else if let recording = try archive.recording(hit.recording) {
                indices[hit.recording] = entries.count
                entries.append(entry(recording, beginnings[recording.id] ?? "", isBelowDay: false))
                entries[entries.count - 1].hits = [found]
            }
        }
        let count = hits.count == maximumHits ? "The first \(hits.count) hits" : hits.count == 1 ? "One hit" : nil
        let recordings = entries.count == 1 ? "one recording" : "\(entries.count) recordings"
        remarks.insert("\(count ?? "\(hits.count) hits") in \(recordings)", at: 0)
        return Self.page(200, searchPage(form, entries, remarks: remarks, downloaded: entries.count))
    }

    /// Returns a recording's entry in the list.
    ///
    /// - Parameters:
    ///   - text: the beginning of the transcript; empty if it has no words.
    ///   - isBelowDay: whether the entry is listed below its day rather than in order of hits.
    private func entry(_ recording: OfficeRecording, _ text: String, isBelowDay: Bool) -> SearchEntry {
        var (day, minute) = ("Unknown day", "")
        if recording.startedAt > 0 { (day, minute) = localMinute(of: recording.startedAt) }
        let facts = [
            isBelowDay ? minute : Self.time(recording.startedAt), clockTime(recording.length),
            oneLine(recording.people), recording.clock == .unverified ? "clock unverified" : "",
            recording.readings > 1 ? "\(recording.readings) texts" : "",
        ]
        let title = oneLine(recording.title)
        let opening = Self.opening(of: text)
        return SearchEntry(
            link: "recording/\(recording.id)/", number: recording.id, day: isBelowDay ? day : "",
            title: title.isEmpty ? opening.title : title, recorder: recording.recorder.folder,
            recording: recording.number, hasCopy: !recording.place.isEmpty, facts: facts.filter { !$0.isEmpty },
            words: isBelowDay ? beginning(of: title.isEmpty ? opening.rest : text) : "")
    }

    /// The maximum length of a title that is made from a text, in characters.
    private static let maximumTitle = 60

    /// Splits a text into a title, which consists of its first words, and the rest.
    static func opening(of text: String) -> (title: String, rest: String) {
        let words = oneLine(text).split(separator: " ")
        guard let first = words.first else { return ("Without words", "") }
        var title = String(first.prefix(maximumTitle))
        var count = 1
        while count < words.count, title.count + 1 + words[count].count <= maximumTitle {
            title += " \(words[count])"
            count += 1
        }
        let isCut = count < words.count || first.count > maximumTitle
        return (isCut ? title + " …" : title, words[count...].joined(separator: " "))
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
