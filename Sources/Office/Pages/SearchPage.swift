import CPages
import Core
import Transcripts

/// The content of the search form.
struct SearchForm: Hashable, Sendable {
    /// The words to search for; empty for all recordings.
    var words = ""
    /// Whether to also search for words with a similar spelling.
    var alike = false
    var recorder = ""
    /// A day, such as `2026-11-20`.
    var since = ""
    var until = ""
    /// Part of a participant's name.
    var person = ""
    var speaker = ""

    /// The fields of the address's query: those that are not empty.
    var fields: [(name: String, value: String)] {
        [
            ("q", words), ("alike", alike ? "yes" : ""), ("recorder", recorder), ("since", since), ("until", until),
            ("person", person), ("speaker", speaker),
        ].filter { !$0.1.isEmpty }
    }

    /// Returns an address relative to the list, with these fields and additional ones; `./` if there are no fields.
    func link(_ more: [(name: String, value: String)] = []) -> String {
        let query = query(more)
        return query.isEmpty ? "./" : query
    }

    /// The address of a ZIP file with everything in the list or search, relative to the list.
    var download: String { OfficeSite.downloadName + query() }

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
        /// The speaker's name; may be empty.
        var speaker: String
        /// The text around the match, with matching words marked as in `OfficeHit.marked`.
        var excerpt: String
        /// Whether it is a line of the transcript rather than a bookmark.
        var isLine = true
    }

    /// The address of the recording's page, relative to the list.
    var link: String
    /// The recording's ID in the archive, which the commands need.
    var number: Int
    /// The heading above the recordings from one day; empty for no heading.
    var day = ""
    var title: String
    var recorder: String
    /// The recording's number on its recorder.
    var recording: Int
    /// Whether its files can be downloaded.
    var hasCopy = true
    /// Short facts, such as time and length.
    var facts: [String]
    /// The beginning of the transcript, unless it is the title; may be empty.
    var words = ""
    /// The matches, the best first.
    var hits: [Hit] = []
}

/// Returns the page with the list of recordings.
///
/// - Parameters:
///   - remarks: the number of recordings, and other remarks, one line each.
///   - downloaded: the number of recordings in the ZIP file; 0 for no link.
///   - pages: the names and addresses of the previous and next pages of the list.
func searchPage(
    _ form: SearchForm, _ entries: [SearchEntry], remarks: [String], downloaded: Int = 0,
    pages: [(name: String, link: String)] = []
) -> String {
    let neighbours = pages.map { "<a href=\"\(markup($0.link))\">\(markup($0.name))</a>" }.joined()
    let counted = remarks.map { "<div><dd dir=\"auto\">\(markup($0))</dd></div>" }.joined()
    let all = downloaded == 1 ? "Download it" : "Download all \(downloaded)"
    let download =
        downloaded == 0 ? "" : "<div><dd><a href=\"\(markup(form.download))\">\(all) as ZIP</a></dd></div>"
    let field = { (name: String, label: String, value: String, kind: String) in
        "<label>\(label) <input name=\"\(name)\" type=\"\(kind)\" value=\"\(markup(value))\" dir=\"auto\"></label>\n"
    }
    let body = """
        <header><h1>\(form.fields.isEmpty ? "Recordings" : "<a href=\"./\">Recordings</a>")</h1>
        <dl class="facts">\(counted)\(download)</dl></header>
        <section class="bar" aria-label="Search"><div>
        <form role="search" class="choose" action="./" method="get">
        <div class="words-asked"><input name="q" type="search" value="\(markup(form.words))" \
        placeholder="Search all recordings" aria-label="Search all recordings" dir="auto" spellcheck="false">\
        <button>Search</button></div>
        \(field("recorder", "Recorder", form.recorder, "text"))\(field("person", "Person", form.person, "text"))\
        \(field("speaker", "Speaker", form.speaker, "text"))\(field("since", "From", form.since, "date"))\
        \(field("until", "To", form.until, "date"))\
        <label><input name="alike" type="checkbox" value="yes"\(form.alike ? " checked" : "")> similar spelling</label>
        </form>
        </div></section>
        <main>
        \(adding)
        \(entries.isEmpty ? "<p class=\"empty\">Nothing was found.</p>" : list(entries, form))
        \(neighbours.isEmpty ? "" : "<nav class=\"pages\">\(neighbours)</nav>")
        </main>
        """
    return servedPage(
        form.words.isEmpty ? "Recordings" : "\(oneLine(form.words)) – recordings", body,
        script: String(cString: page_adding_js()))
}

/// The part of the page for adding files. It is hidden until the page's script runs.
private let adding = """
    <details class="add" id="add" hidden><summary>Add recordings or corrections</summary>
    <p>Drop files anywhere on this page, or choose them: folders of a stick, sound files, which are transcribed here, \
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
/// - Parameter back: the address of the list, relative to the page.
func problemPage(_ title: String, _ text: String, back: String) -> String {
    let body = """
        <header><p class="back"><a href="\(markup(back))">All recordings</a></p>
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
        var narrowed = form
        narrowed.recorder = entry.recorder
        let recorder = markup(narrowed.link())
        let facts = entry.facts.map { "<span dir=\"auto\">\(markup($0))</span>" }.joined()
        let download =
            entry.hasCopy ? "<a href=\"\(OfficeSite.downloadName)?id=\(entry.number)\">Download</a>" : ""
        let words = entry.words.isEmpty ? "" : "\n<p class=\"words\" dir=\"auto\">\(markup(entry.words))</p>"
        list += """
            <li><a href="\(markup(entry.link))" dir="auto">\(markup(entry.title))</a>
            <p class="about"><span title="fieldscribe-office show \(entry.number)">no. \(entry.number)</span>\(facts)\
            <a href="\(recorder)">\(markup(entry.recorder))</a><span>recording \(entry.recording)</span>\(download)</p>\
            \(words)\(hits(of: entry))</li>

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
        let words = hit.isLine ? found(in: hit.excerpt) : ""
        let link = markup("\(entry.link)#t=\(start)\(words.isEmpty ? "" : "&hit=\(percentEncoded(words))")")
        return
            "<li><a href=\"\(link)\">\(clockTime(hit.position))</a>"
            + "<p dir=\"auto\">\(speakerMarkup)\(marked(hit.excerpt))</p></li>\n"
    }
    return "\n<ul class=\"hits\">\n\(items.joined())</ul>"
}

/// Returns the first matching words; empty if there are none.
private func found(in excerpt: String) -> String {
    let text = oneLine(excerpt)
    guard let start = text.firstIndex(of: OfficeHit.start), let end = text[start...].firstIndex(of: OfficeHit.end)
    else { return "" }
    return String(text[text.index(after: start)..<end])
}

/// Returns an excerpt as HTML, with the matching words marked.
private func marked(_ excerpt: String) -> String {
    var (text, rest) = ("", oneLine(excerpt)[...])
    while let start = rest.firstIndex(of: OfficeHit.start), let end = rest[start...].firstIndex(of: OfficeHit.end) {
        let found = rest[rest.index(after: start)..<end]
        text += "\(markup(String(rest[..<start])))<mark class=\"hit\">\(markup(String(found)))</mark>"
        rest = rest[rest.index(after: end)...]
    }
    return text + markup(String(rest))
}
