import Core
import System

/// A recording in the index of a folder.
package struct IndexEntry: Hashable, Sendable {
    /// The recorder's name, which is a heading on the page.
    var device: String
    /// The relative link to the page; each component has only letters, digits, `-`, `_` and `.`.
    var link: String
    var title: String
    /// Short texts such as the length.
    var facts: [String]
    /// The whole transcript; empty if unavailable.
    var text: String

    package init(device: String, link: String, title: String, facts: [String] = [], text: String = "") {
        self.device = device
        self.link = link
        self.title = title
        self.facts = facts
        self.text = text
    }
}

/// Returns the index page for a folder, with a search in all transcripts.
///
/// - Parameters:
///   - entries: The recordings; those of a recorder must be adjacent.
///   - passes: The measured accuracy of corrected recordings, oldest first. The passes of a recording are adjacent.
package func indexPage(_ entries: [IndexEntry], passes: [PlottedPass] = []) throws -> String {
    var list = ""
    var device: String?
    for entry in entries {
        if entry.device != device {
            list += device == nil ? "" : "</ul>\n"
            list += "<h2 dir=\"auto\">\(markup(entry.device))</h2>\n<ul class=\"list\">\n"
            device = entry.device
        }
        let facts = entry.facts.map { "<span dir=\"auto\">\(markup($0))</span>" }.joined()
        let link = markup(entry.link)
        list += """
            <li><a href="\(link)" data-href="\(link)" dir="auto">\(markup(entry.title))</a>
            <p class="about">\(facts)</p><p class="words" dir="auto">\(markup(beginning(of: entry.text)))</p></li>

            """
    }
    let count = entries.count == 1 ? "One recording" : "\(entries.count) recordings"
    let body = """
        <header><h1>Recordings</h1>
        <dl class="facts"><div><dd>\(count)</dd></div></dl></header>
        <section class="bar" aria-label="Search"><div><div class="row">
        <form role="search"><input id="find" type="search" placeholder="Search in all recordings" \
        aria-label="Search in all recordings" autocomplete="off" spellcheck="false" aria-keyshortcuts="/">\
        <output id="hits" for="find"></output></form>
        </div></div></section>
        <main>
        \(list)\(device == nil ? "" : "</ul>\n")\(AccuracyPlot(passes).markup)</main>
        <footer><p>Each folder contains the sound, the transcript in several formats, and SHA256SUMS, with which \
        <kbd>sha256sum -c</kbd> checks that the files are intact.</p></footer>
        """
    return Page(
        title: "Recordings", styles: [.sharedStyle, .indexStyle], script: .indexScript,
        data: try jsonObject(entries.map { oneLine($0.text) }), body: body
    ).text
}

/// Returns the first words of a text, about two lines.
package func beginning(of text: String) -> String {
    var beginning = ""
    for word in oneLine(text).split(separator: " ") {
        if beginning.count + word.count > 180 { return beginning.isEmpty ? "\(word.prefix(180))…" : beginning + " …" }
        beginning += beginning.isEmpty ? word : " \(word)"
    }
    return beginning
}
