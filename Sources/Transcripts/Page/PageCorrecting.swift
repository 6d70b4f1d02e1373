import Core

/// Returns the correction buttons that are always in the bar.
///
/// - Parameter isShown: Whether corrections can be saved. If the script showed the buttons later, the text would move.
func correctingButtons(isShown: Bool) -> String {
    let hidden = isShown ? "" : " hidden"
    return """
        <button id="edit" class="correcting" type="button" aria-keyshortcuts="Enter"\(hidden)>Edit</button>
        <button id="notes-button" class="correcting" type="button" aria-expanded="false" aria-controls="work"\(hidden)>Notes</button>
        <button id="save" class="correcting" type="button" aria-keyshortcuts="Control+S"\(hidden)>Save</button>

        """
}

/// Returns the correction tools in the bar's menu.
///
/// - Parameter isShown: Whether corrections can be saved.
func correctingTools(isShown: Bool) -> String {
    """
    <div class="row correcting"\(isShown ? "" : " hidden")>
    <button id="uncertain" type="button" aria-keyshortcuts="d">Next uncertain word</button>\
    <output class="left" id="left"></output>
    <button id="right" type="button" aria-keyshortcuts="r">Line is right</button>
    <button id="give" type="button" aria-keyshortcuts="s">Speaker …</button>
    <button id="undo" type="button" disabled>Undo</button><button id="redo" type="button" disabled>Redo</button>
    </div>

    """
}

/// The forms that the bar shows while somebody replaces words or must choose between two versions.
let correctingForms = """
    <form id="replace" class="row tools" hidden><input id="instead" type="search" placeholder="Replace it with" \
    aria-label="Replace matches with" autocomplete="off"><button id="replace-one" type="button">Replace</button>\
    <button id="replace-all">Replace all</button></form>
    <p class="choice" id="choice" role="alert" hidden><span id="choice-text"></span> \
    <button id="choice-file" type="button">Show the file</button> \
    <button id="choice-mine" type="button">Keep mine</button></p>
    """

func correctingPanel(_ timeline: Timeline, proposals: [String: String] = [:]) -> String {
    let seconds = timeline.hasSeveralSpeakers ? timeline.speakers?.seconds ?? [] : []
    let names = seconds.indices.filter { seconds[$0] > 0 }.map { speaker in
        let label = Speakers.label(speaker)
        let proposed = proposals[label].map {
            #" placeholder="\#(markup(oneLine($0)))?" title="perhaps \#(markup(oneLine($0))), judging by the voice""#
        }
        return
            #"<label>Speaker \#(label) <input class="person" data-person="\#(label)" dir="auto"\#(proposed ?? "")></label>"#
            + "\n"
    }
    return """
        <details id="work" class="correcting" hidden><summary>Recording, notes and quotations</summary>
        <h2>Notes</h2><button id="add-note" type="button">Add a note here</button><ul id="notes"></ul>
        <h2>Quotations</h2>
        <label>Tag <input id="word" list="words-used"></label>\
        <datalist id="words-used"><option>problem</option><option>idea</option></datalist>
        <label>Colour <select id="colour"><option>yellow</option><option>green</option><option>blue</option>\
        <option>red</option></select></label>
        <button id="keep-quotation" type="button" aria-keyshortcuts="q">Quote the selection</button> \
        <button id="quotations-csv" type="button" disabled>Download as CSV</button><ul id="quotations"></ul>
        <h2>Bookmarks</h2><button id="add-mark" type="button">Add a bookmark here</button><ul id="marks"></ul>
        <h2>Recording</h2>
        <label>Title <input id="about-title" dir="auto"></label>
        <label>People <input id="about-people" dir="auto"></label>
        \(names.joined())<label>Place <input id="about-place" dir="auto"></label>
        <label>Note <textarea id="about-note" dir="auto"></textarea></label>
        <label>Consent <textarea id="about-consent" dir="auto"></textarea></label>
        <label>Corrected by <input id="about-name" dir="auto"></label>
        <label>Load corrections (or drop a file anywhere) \
        <input id="load" type="file" accept=".json,.html"></label>
        </details>

        """
}

let correctingKeys = """
    <div class="correcting" hidden><h2>Correcting</h2>
    <dl>
    <dt><kbd>Enter</kbd></dt><dd>edit this line (or double-click it); while editing: finish the line, or split it if \
    you have moved the cursor</dd>
    <dt><kbd>Shift</kbd> <kbd>Enter</kbd></dt><dd>finish the line without splitting it</dd>
    <dt><kbd>Backspace</kbd></dt><dd>at the beginning of a line: join it to the previous line</dd>
    <dt><kbd>s</kbd></dt><dd>assign this line, the selection or the rest to another speaker</dd>
    <dt><kbd>Ctrl</kbd> <kbd>Enter</kbd></dt><dd>finish the line and edit the next one</dd>
    <dt><kbd>Esc</kbd></dt><dd>discard the changes to this line</dd>
    <dt><kbd>Shift</kbd> <kbd>Tab</kbd></dt><dd>finish the line and leave the text</dd>
    <dt><kbd>d</kbd> <kbd>c</kbd></dt><dd>next uncertain word; this word is right</dd>
    <dt><kbd>r</kbd></dt><dd>all words in this line are right; accept the grey words in an unclear line</dd>
    <dt><kbd>q</kbd></dt><dd>save the selection as a quotation</dd>
    <dt><kbd>Ctrl</kbd> <kbd>Z</kbd> <kbd>Y</kbd></dt><dd>undo, redo</dd>
    <dt><kbd>Ctrl</kbd> <kbd>S</kbd></dt><dd>save</dd>
    </dl>
    <p>These keys also work while you type, or from a pedal. Click a key to change it.</p>
    <dl id="learn"></dl></div>
    """
