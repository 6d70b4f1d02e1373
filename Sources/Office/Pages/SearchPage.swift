import CPages
import Core
import Transcripts

/// The content of the search form.
struct SearchForm: Hashable, Sendable {
    var words = ""
    var includesSimilarWords = false
    var recorder = ""
    /// A day, such as `2026-11-20`.
    var since = ""
    var until = ""
    /// Part of the name of a participant or speaker.
    var person = ""
    var speaker = ""

    /// The fields of the URL's query, without empty ones.
    var fields: [(name: String, value: String)] {
        [
            ("q", words), ("alike", includesSimilarWords ? "yes" : ""), ("recorder", recorder), ("since", since),
            ("until", until), ("person", person), ("speaker", speaker),
        ].filter { !$0.1.isEmpty }
    }

    /// Returns a URL relative to the list, with these fields and additional ones; `./` if there are no fields.
    func link(_ more: [(name: String, value: String)] = []) -> String {
        let query = query(more)
        return query.isEmpty ? "./" : query
    }

    /// The URL, relative to the list, of a ZIP file with all recordings in the list or search.
    var downloadLink: String { OfficeSite.downloadName + query() }

    private func query(_ more: [(name: String, value: String)] = []) -> String {
        let pairs = (fields + more).map { "\($0.name)=\(percentEncoded($0.value))" }
        return pairs.isEmpty ? "" : "?\(pairs.joined(separator: "&"))"
    }
}

/// A recording in the list.
struct SearchEntry: Hashable, Sendable {
    /// A line that a search found.
    struct Hit: Hashable, Sendable {
        var position: SamplePosition
        var speaker: String
        /// The text around the match, with matching words marked as in `OfficeHit.marked`.
        var excerpt: String
        /// Whether the hit is a line of the transcript rather than a bookmark.
        var isLine = true
    }

    /// The URL of the recording's page, relative to the list.
    var link: String
    /// The recording's ID in the archive.
    var id: Int
    /// The heading above this recording and others from the same day; empty for no heading.
    var day = ""
    var title: String
    var recorder: String
    /// The recording's number on its recorder.
    var number: Int
    var hasCopy = true
    var facts: [String]
    /// The beginning of the transcript, after the words in the title; may be empty.
    var beginning = ""
    var hits: [Hit] = []
}

/// Returns the page with the list of recordings.
///
/// - Parameters:
///   - remarks: one line each, such as the number of recordings.
///   - downloadCount: the number of recordings in the ZIP file; 0 for no link to it.
///   - neighbors: the names and URLs of the previous and next pages of the list.
func searchPage(
    _ form: SearchForm, _ entries: [SearchEntry], remarks: [String], downloadCount: Int = 0,
    neighbors: [(name: String, link: String)] = []
) -> String {
    let neighborLinks = neighbors.map { "<a href=\"\(markup($0.link))\">\(markup($0.name))</a>" }.joined()
    let remarkItems = remarks.map { "<div><dd dir=\"auto\">\(markup($0))</dd></div>" }.joined()
    let linkText = downloadCount == 1 ? "Download it" : "Download all \(downloadCount)"
    let download =
        downloadCount == 0 ? "" : "<div><dd><a href=\"\(markup(form.downloadLink))\">\(linkText) as ZIP</a></dd></div>"
    let field = { (name: String, label: String, value: String, kind: String) in
        "<label>\(label) <input name=\"\(name)\" type=\"\(kind)\" value=\"\(markup(value))\" dir=\"auto\"></label>\n"
    }
    let body = """
        <header><h1>\(form.fields.isEmpty ? "Recordings" : "<a href=\"./\">Recordings</a>")</h1>
        <dl class="facts">\(remarkItems)\(download)</dl></header>
        <section class="bar" aria-label="Search"><div>
        <form role="search" class="choose" action="./" method="get">
        <div class="words-asked"><input name="q" type="search" value="\(markup(form.words))" \
        placeholder="Search all recordings" aria-label="Search all recordings" dir="auto" spellcheck="false">\
        <button>Search</button></div>
        \(field("recorder", "Recorder", form.recorder, "text"))\(field("person", "Person", form.person, "text"))\
        \(field("speaker", "Speaker", form.speaker, "text"))\(field("since", "From", form.since, "date"))\
        \(field("until", "To", form.until, "date"))\
        <label><input name="alike" type="checkbox" value="yes"\(form.includesSimilarWords ? " checked" : "")> similar spelling</label>
        </form>
        </div></section>
        <main>
        \(uploadForm)
        \(entries.isEmpty ? "<p class=\"empty\">Nothing was found.</p>" : list(entries, form))
        \(neighborLinks.isEmpty ? "" : "<nav class=\"pages\">\(neighborLinks)</nav>")
        </main>
        """
    return servedPage(
        form.words.isEmpty ? "Recordings" : "\(oneLine(form.words)) – recordings", body,
        script: String(cString: page_adding_js()))
}

/// The part of the page for adding files, which is hidden until the page's script runs.
private let uploadForm = """
    <details class="add" id="add" hidden><summary>Add recordings or corrections</summary>
    <p>Drop files anywhere on this page, or choose them: folders from a stick, sound files (transcribed here), \
    corrections that were saved on a recording’s page, or edited transcripts (\(EditedTranscript.fileExtensions.joined(separator: ", "))).</p>
    <p class="choose"><label>Files <input id="files" type="file" multiple></label>
    <label>Folder <input id="folder" type="file" webkitdirectory></label>
    <label title="only for an edited transcript that does not identify its recording">\(OfficeSite.recordingField) \
    <input id="of" type="number" min="1"></label></p>
    <ul id="added" aria-live="polite"></ul>
    <p id="again" hidden><a href="">Reload the list</a></p></details>
    """

/// Returns an error page.
///
/// - Parameter listLink: the URL of the list, relative to the page.
func errorPage(_ title: String, _ text: String, listLink: String) -> String {
    let body = """
        <header><p class="back"><a href="\(markup(listLink))">All recordings</a></p>
        <h1>\(markup(title))</h1></header>
        <main><p dir="auto">\(markup(text))</p></main>
        """
    return servedPage(title, body)
}

private func servedPage(_ title: String, _ body: String, script: String? = nil) -> String {
    servedListPage(title: title, style: String(cString: page_served_css()), script: script, body: body)
}

/// Returns the list, with a heading above the recordings of each day.
private func list(_ entries: [SearchEntry], _ form: SearchForm) -> String {
    var list = ""
    var day: String?
    for entry in entries {
        if entry.day != day {
            list += list.isEmpty ? "" : "</ul>\n"
            list += entry.day.isEmpty ? "" : "<h2>\(markup(entry.day))</h2>\n"
            list += "<ul class=\"list\">\n"
            day = entry.day
        }
        var recorderForm = form
        recorderForm.recorder = entry.recorder
        let recorderLink = markup(recorderForm.link())
        let facts = entry.facts.map { "<span dir=\"auto\">\(markup($0))</span>" }.joined()
        let download =
            entry.hasCopy ? "<a href=\"\(OfficeSite.downloadName)?id=\(entry.id)\">Download</a>" : ""
        let beginning =
            entry.beginning.isEmpty ? "" : "\n<p class=\"words\" dir=\"auto\">\(markup(entry.beginning))</p>"
        list += """
            <li><a href="\(markup(entry.link))" dir="auto">\(markup(entry.title))</a>
            <p class="about"><span title="fieldscribe-office show \(entry.id)">no. \(entry.id)</span>\(facts)\
            <a href="\(recorderLink)">\(markup(entry.recorder))</a><span>recording \(entry.number)</span>\(download)</p>\
            \(beginning)\(hits(of: entry))</li>

            """
    }
    return list + "</ul>"
}

private func hits(of entry: SearchEntry) -> String {
    guard !entry.hits.isEmpty else { return "" }
    let items = entry.hits.map { hit in
        let start = decimalSeconds(hit.position)
        let speaker = hit.isLine ? oneLine(hit.speaker) : "bookmark"
        let speakerMarkup = speaker.isEmpty ? "" : "<span class=\"who\" dir=\"auto\">\(markup(speaker))</span> "
        let match = hit.isLine ? firstMatch(in: hit.excerpt) : ""
        let link = markup("\(entry.link)#t=\(start)\(match.isEmpty ? "" : "&hit=\(percentEncoded(match))")")
        return
            "<li><a href=\"\(link)\">\(clockTime(hit.position))</a>"
            + "<p dir=\"auto\">\(speakerMarkup)\(marked(hit.excerpt))</p></li>\n"
    }
    return "\n<ul class=\"hits\">\n\(items.joined())</ul>"
}

private func firstMatch(in excerpt: String) -> String {
    let text = oneLine(excerpt)
    guard let start = text.firstIndex(of: OfficeHit.start), let end = text[start...].firstIndex(of: OfficeHit.end)
    else { return "" }
    return String(text[text.index(after: start)..<end])
}

/// Returns an excerpt as HTML, with the matching words marked.
private func marked(_ excerpt: String) -> String {
    var (text, rest) = ("", oneLine(excerpt)[...])
    while let start = rest.firstIndex(of: OfficeHit.start), let end = rest[start...].firstIndex(of: OfficeHit.end) {
        let match = rest[rest.index(after: start)..<end]
        text += "\(markup(String(rest[..<start])))<mark class=\"hit\">\(markup(String(match)))</mark>"
        rest = rest[rest.index(after: end)...]
    }
    return text + markup(String(rest))
}
