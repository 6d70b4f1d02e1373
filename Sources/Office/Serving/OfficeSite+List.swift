import Core
import Transcripts

/// The maximum numbers of recordings on a page of the list, of hits in a search, and of recordings in a ZIP file.
private let (maximumListed, maximumHits, maximumDownloaded) = (100, 200, 1_000)

extension OfficeSite {
    static let downloadName = "recordings.zip"
    /// The maximum number of ZIP files that are sent at the same time. The server's only thread makes all of them.
    private static let maximumDownloads = 8

    func list(_ request: WebRequest, _ archive: any OfficeArchive) throws(DeviceError) -> WebResponse {
        let (form, filter, remarks) = Self.parse(request)
        do throws(DeviceError) {
            return form.words.isEmpty
                ? try listPage(form, filter, remarks, request, archive)
                : try searchResults(form, filter, remarks, archive)
        } catch {
            // An unknown recorder is the user's mistake, not a problem in the archive.
            guard error.cause == .unknownRecorder else { throw error }
            return Self.htmlResponse(200, searchPage(form, [], remarks: [error.message]))
        }
    }

    /// Returns the fields of the form, the filter, and a line for each invalid field.
    private static func parse(_ request: WebRequest) -> (form: SearchForm, filter: OfficeFilter, remarks: [String]) {
        let field = { (name: String) in oneLine(request.query[name] ?? "") }
        let form = SearchForm(
            words: field("q"), includesSimilarWords: field("alike") == "yes", recorder: field("recorder"),
            since: field("since"), until: field("until"), person: field("person"), speaker: field("speaker"))
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
        // A page on another site could fill its visitor's disk.
        guard !["cross-site", "same-site"].contains(request.headers["sec-fetch-site"]) else {
            return Self.errorResponse(403, "Cannot be downloaded", "Follow the link in the list.", request)
        }
        guard downloads < Self.maximumDownloads else {
            return Self.errorResponse(
                503, "Too many downloads", "Others are being sent; try again later.", request, [("Retry-After", "60")])
        }
        let (form, filter, remarks) = Self.parse(request)
        if let remark = remarks.first { return Self.errorResponse(400, "Cannot be downloaded", remark, request) }
        let recordings: [OfficeRecording]
        do throws(DeviceError) { recordings = try requestedRecordings(request, form, filter, archive) } catch {
            guard error.cause == .unknownRecorder else { throw error }
            return Self.errorResponse(400, "Cannot be downloaded", error.message, request)
        }
        guard recordings.count <= maximumDownloaded else {
            return Self.errorResponse(
                400, "More than \(maximumDownloaded) recordings",
                "Narrow the search, or use fieldscribe-office export.", request)
        }
        guard let first = recordings.first else {
            return Self.errorResponse(404, "Nothing was found", "There is nothing to download.", request)
        }
        let zip = try ZipDownload(recordings, in: archive) { [weak self] error in
            self?.downloads -= 1
            if let error { self?.reportOnce(error.message) }
        }
        downloads += 1
        if recordings.count == 1 {
            do throws(DeviceError) { try zip.openNext() } catch {
                return Self.errorResponse(404, "Cannot be downloaded", error.message, request)
            }
        }
        let name = recordings.count == 1 ? "recording-\(first.id).zip" : Self.downloadName
        let headers = [("Content-Disposition", "attachment; filename=\"\(name)\"")]
        return WebResponse(200, Self.headers("application/zip") + headers, .zip(zip))
    }

    private func requestedRecordings(
        _ request: WebRequest, _ form: SearchForm, _ filter: OfficeFilter, _ archive: any OfficeArchive
    ) throws(DeviceError) -> [OfficeRecording] {
        guard request.query["id"] != nil || !form.words.isEmpty else {
            return try archive.recordings(filter, from: .latest, limit: maximumDownloaded + 1)
        }
        var ids = [request.query["id"].flatMap { Int($0) } ?? 0]
        if request.query["id"] == nil {
            var query = OfficeQuery(form.words)
            if form.includesSimilarWords { _ = try query.addSimilarWords(in: archive) }
            ids = Set(try archive.search(query, filter, limit: maximumHits).map(\.recording)).sorted()
        }
        var recordings: [OfficeRecording] = []
        for id in ids { if let recording = try archive.recording(id) { recordings.append(recording) } }
        return recordings
    }

    private func listPage(
        _ form: SearchForm, _ filter: OfficeFilter, _ remarks: [String], _ request: WebRequest,
        _ archive: any OfficeArchive
    ) throws(DeviceError) -> WebResponse {
        let id = { (name: String) in request.query[name].flatMap { Int($0) } }
        let (earlierThan, laterThan) = (id("before"), id("after"))
        // Queries one recording more than the page shows, to find out whether there is a next page.
        var shown: [OfficeRecording] = []
        var (hasLater, hasEarlier) = (false, false)
        if let laterThan {
            shown = try archive.recordings(filter, from: .later(laterThan), limit: maximumListed + 1)
            (hasLater, hasEarlier) = (shown.count > maximumListed, true)
            shown = shown.suffix(maximumListed)
        } else if let earlierThan {
            shown = try archive.recordings(filter, from: .earlier(earlierThan), limit: maximumListed + 1)
            (hasLater, hasEarlier) = (true, shown.count > maximumListed)
        }
        // Instead of an incomplete page at the beginning of the list, shows the full first page.
        if !hasLater || shown.isEmpty {
            shown = try archive.recordings(filter, from: .latest, limit: maximumListed + 1)
            (hasLater, hasEarlier) = (false, shown.count > maximumListed)
        }
        shown = Array(shown.prefix(maximumListed))
        var pages: [(name: String, link: String)] = []
        if hasLater, let first = shown.first { pages.append(("Later ones", form.link([("after", "\(first.id)")]))) }
        if hasEarlier, let last = shown.last { pages.append(("Earlier ones", form.link([("before", "\(last.id)")]))) }
        let count = try hasLater || hasEarlier ? archive.count(filter) : shown.count
        let countRemark = count == 1 ? "One recording" : "\(count) recordings"
        let beginnings = try archive.beginnings(of: shown.map(\.id))
        let entries = shown.map { entry($0, beginnings[$0.id] ?? "", isBelowDay: true) }
        let downloadCount = count <= maximumDownloaded ? count : 0
        return Self.htmlResponse(
            200,
            searchPage(
                form, entries, remarks: [countRemark] + remarks, downloadCount: downloadCount, neighbors: pages))
    }

    private func searchResults(
        _ form: SearchForm, _ filter: OfficeFilter, _ remarks: [String], _ archive: any OfficeArchive
    ) throws(DeviceError) -> WebResponse {
        var (query, remarks) = (OfficeQuery(form.words), remarks)
        if form.includesSimilarWords { remarks += try query.addSimilarWords(in: archive) }
        let hits = try archive.search(query, filter, limit: maximumHits)
        let beginnings = try archive.beginnings(of: Set(hits.map(\.recording)).sorted())
        var (entries, indices): ([SearchEntry], [Int: Int]) = ([], [:])
        for hit in hits {
            let entryHit = SearchEntry.Hit(
                position: hit.line.range.start, speaker: hit.line.name, excerpt: hit.marked,
                isLine: hit.line.segment != 0)
            if let index = indices[hit.recording] {
                entries[index].hits.append(entryHit)
            } else if let recording = try archive.recording(hit.recording) {
                indices[hit.recording] = entries.count
                entries.append(entry(recording, beginnings[recording.id] ?? "", isBelowDay: false))
                entries[entries.count - 1].hits = [entryHit]
            }
        }
        let hitCount = hits.count == maximumHits ? "The first \(hits.count) hits" : hits.count == 1 ? "One hit" : nil
        let recordings = entries.count == 1 ? "one recording" : "\(entries.count) recordings"
        remarks.insert("\(hitCount ?? "\(hits.count) hits") in \(recordings)", at: 0)
        return Self.htmlResponse(200, searchPage(form, entries, remarks: remarks, downloadCount: entries.count))
    }

    /// Returns a recording's entry in the list.
    ///
    /// - Parameters:
    ///   - text: the beginning of the transcript; empty if it has no words.
    ///   - isBelowDay: whether the entry is below a heading with its day, rather than in a list of search results.
    private func entry(_ recording: OfficeRecording, _ text: String, isBelowDay: Bool) -> SearchEntry {
        var (day, minute) = ("Unknown day", "")
        if recording.startedAt > 0 { (day, minute) = localMinute(of: recording.startedAt) }
        let facts = [
            isBelowDay ? minute : Self.formatted(recording.startedAt), clockTime(recording.length),
            oneLine(recording.people), recording.clock == .unverified ? "clock unverified" : "",
            recording.transcriptCount > 1 ? "\(recording.transcriptCount) transcripts" : "",
        ]
        let title = oneLine(recording.title)
        let opening = Self.opening(of: text)
        return SearchEntry(
            link: "recording/\(recording.id)/", id: recording.id, day: isBelowDay ? day : "",
            title: title.isEmpty ? opening.title : title, recorder: recording.recorder.folder,
            number: recording.number, hasCopy: !recording.copyFolder.isEmpty, facts: facts.filter { !$0.isEmpty },
            beginning: isBelowDay ? beginning(of: title.isEmpty ? opening.rest : text) : "")
    }

    /// The maximum length of a title that consists of a transcript's first words, in characters.
    private static let maximumTitleLength = 60

    /// Splits the beginning of a transcript into a title, which consists of its first words, and the rest.
    static func opening(of text: String) -> (title: String, rest: String) {
        let words = oneLine(text).split(separator: " ")
        guard let first = words.first else { return ("Without words", "") }
        var title = String(first.prefix(maximumTitleLength))
        var count = 1
        while count < words.count, title.count + 1 + words[count].count <= maximumTitleLength {
            title += " \(words[count])"
            count += 1
        }
        let isCut = count < words.count || first.count > maximumTitleLength
        return (isCut ? title + " …" : title, words[count...].joined(separator: " "))
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
