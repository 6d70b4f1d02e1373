import Core
import Transcripts

/// What somebody asks of the list of recordings, as it was typed.
struct SearchForm: Hashable, Sendable {
    /// Words that were said; empty for all recordings.
    var words = ""
    /// Whether words that are written alike count, too.
    var alike = false
    /// A recorder's name, folder or key.
    var recorder = ""
    /// A day, `2026-11-20`.
    var since = ""
    /// A day.
    var until = ""
    /// A part of the name of somebody who takes part.
    var person = ""
    /// A name, or a label such as `A`.
    var speaker = ""

    /// As it stands behind an address's question mark, where not empty; the names are those of the form's fields.
    var fields: [(name: String, value: String)] {
        [
            ("q", words), ("alike", alike ? "yes" : ""), ("recorder", recorder), ("since", since), ("until", until),
            ("person", person), ("speaker", speaker),
        ].filter { !$0.1.isEmpty }
    }

    /// An address relative to the list, with these and more fields; `./` where there are none.
    func link(_ more: [(name: String, value: String)] = []) -> String {
        let parts = (fields + more).map { "\($0.name)=\(escaped($0.value))" }
        return parts.isEmpty ? "./" : "?\(parts.joined(separator: "&"))"
    }
}

/// One recording in the list that a server gives out.
struct SearchEntry: Hashable, Sendable {
    /// A place where the words that were looked for are said.
    struct Hit: Hashable, Sendable {
        /// Where in the recording.
        var position: SamplePosition
        /// Who says it; may be empty.
        var speaker: String
        /// The text around it, with matching words between `[` and `]`.
        var excerpt: String
    }

    /// The page's place, relative to the list.
    var link: String
    /// The recording's title.
    var title: String
    /// The recorder's folder name.
    var recorder: String
    /// Short facts: the time, the length.
    var facts: [String]
    /// What was found in it, best first.
    var hits: [Hit] = []
}

/// The list of recordings, as a server gives it out: what was asked for, and what there is of that.
///
/// - Parameters:
///   - told: how much there is, and what else is to be said, in a line each.
///   - pages: where the neighbouring parts of a long list are: their name and their address.
func searchPage(
    _ form: SearchForm, _ entries: [SearchEntry], told: [String], pages: [(name: String, link: String)] = []
) -> String {
    let items = entries.map { entry in
        let recorder = form.with(recorder: entry.recorder).link()
        let facts = entry.facts.map { "<span dir=\"auto\">\(markup($0))</span>" }.joined()
        return """
            <li><a href="\(markup(entry.link))" dir="auto">\(markup(entry.title))</a>
            <p class="about"><a href="\(markup(recorder))">\(markup(entry.recorder))</a>\(facts)</p>\(hits(of: entry))</li>

            """
    }
    let neighbours = pages.map { "<a href=\"\(markup($0.link))\">\(markup($0.name))</a>" }.joined()
    let counted = told.map { "<div><dd dir=\"auto\">\(markup($0))</dd></div>" }.joined()
    let field = { (name: String, label: String, value: String, kind: String) in
        "<label>\(label) <input name=\"\(name)\" type=\"\(kind)\" value=\"\(markup(value))\" dir=\"auto\"></label>\n"
    }
    let body = """
        <header><h1>\(form.fields.isEmpty ? "Recordings" : "<a href=\"./\">Recordings</a>")</h1>
        <dl class="facts">\(counted)</dl></header>
        <section class="bar" aria-label="Search"><div>
        <form role="search" class="choose" action="./" method="get">
        <div class="words-asked"><input name="q" type="search" value="\(markup(form.words))" \
        placeholder="Search in all recordings" aria-label="Search in all recordings" dir="auto" spellcheck="false">\
        <button>Search</button></div>
        \(field("recorder", "Recorder", form.recorder, "text"))\(field("person", "Person", form.person, "text"))\
        \(field("speaker", "Speaker", form.speaker, "text"))\(field("since", "From", form.since, "date"))\
        \(field("until", "To", form.until, "date"))\
        <label><input name="alike" type="checkbox" value="yes"\(form.alike ? " checked" : "")> written alike</label>
        </form>
        </div></section>
        <main>
        \(entries.isEmpty ? "<p class=\"empty\">Nothing was found.</p>" : "<ul class=\"list\">\n\(items.joined())</ul>")
        \(neighbours.isEmpty ? "" : "<nav class=\"pages\">\(neighbours)</nav>")
        </main>
        """
    return servedPage(form.words.isEmpty ? "Recordings" : "\(oneLine(form.words)) – recordings", body)
}

/// A page that says what is wrong, and leads back to the list.
///
/// - Parameter back: where that is, relative to the page.
func problemPage(_ title: String, _ text: String, back: String) -> String {
    let body = """
        <header><p class="back"><a href="\(markup(back))">All recordings</a></p>
        <h1>\(markup(title))</h1></header>
        <main><p dir="auto">\(markup(text))</p></main>
        """
    return servedPage(title, body)
}

private func servedPage(_ title: String, _ body: String) -> String {
    servedListPage(title: title, style: PackageResources.served_css, body: body)
}

private func hits(of entry: SearchEntry) -> String {
    guard !entry.hits.isEmpty else { return "" }
    let items = entry.hits.map { hit in
        let start = decimalSeconds(hit.position)
        let who = hit.speaker.isEmpty ? "" : "<span class=\"who\" dir=\"auto\">\(markup(oneLine(hit.speaker)))</span> "
        let place = markup("\(entry.link)#t=\(start)")
        return
            "<li><a href=\"\(place)\">\(clockTime(hit.position))</a><p dir=\"auto\">\(who)\(marked(hit.excerpt))</p></li>\n"
    }
    return "\n<ul class=\"hits\">\n\(items.joined())</ul>"
}

/// The matching words as what was found; where brackets do not belong together they stay what they are.
private func marked(_ excerpt: String) -> String {
    var (text, rest) = ("", oneLine(excerpt)[...])
    while let start = rest.firstIndex(of: "["), let end = rest[start...].firstIndex(of: "]") {
        let found = rest[rest.index(after: start)..<end]
        text += "\(markup(String(rest[..<start])))<mark class=\"hit\">\(markup(String(found)))</mark>"
        rest = rest[rest.index(after: end)...]
    }
    return text + markup(String(rest))
}

/// A value behind an address's question mark.
private func escaped(_ value: String) -> String {
    // The same, without the folder in front of a file's name.
    String(relativeLink(value).dropFirst(2))
}

extension SearchForm {
    fileprivate func with(recorder: String) -> SearchForm {
        var form = self
        form.recorder = recorder
        return form
    }
}
