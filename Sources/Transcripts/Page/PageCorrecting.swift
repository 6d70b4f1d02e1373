import Core

/// Returns the buttons for corrections that the bar always shows.
///
/// - Parameter isShown: Whether corrections can be saved. Showing them by script would move the text down.
func correctingButtons(isShown: Bool) -> String {
    let hidden = isShown ? "" : " hidden"
    return """
        <button id="edit" class="correcting" type="button" aria-keyshortcuts="Enter"\(hidden)>Edit</button>
        <button id="notes-button" class="correcting" type="button" aria-expanded="false" aria-controls="work"\(hidden)>Notes</button>
        <button id="save" class="correcting" type="button" aria-keyshortcuts="Control+S"\(hidden)>Save</button>

        """
}

/// Returns the tools for corrections in the bar's menu.
///
/// - Parameter isShown: As for the buttons.
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

/// What the bar shows while somebody replaces words or has to choose between two versions.
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
            #" placeholder="\#(markup(oneLine($0)))?" title="perhaps \#(markup(oneLine($0))), by the voice""#
        }
        return
            #"<label>Speaker \#(label) <input class="person" data-person="\#(label)" dir="auto"\#(proposed ?? "")></label>"#
            + "\n"
    }
    return """
        <details id="work" class="correcting" hidden><summary>Recording, notes and quotations</summary>
        <h2>Notes</h2><button id="add-note" type="button">Note at this place</button><ul id="notes"></ul>
        <h2>Quotations</h2>
        <label>Tag <input id="word" list="words-used"></label>\
        <datalist id="words-used"><option>problem</option><option>idea</option></datalist>
        <label>Colour <select id="colour"><option>yellow</option><option>green</option><option>blue</option>\
        <option>red</option></select></label>
        <button id="keep-quotation" type="button" aria-keyshortcuts="q">Keep the selection</button> \
        <button id="quotations-csv" type="button" disabled>Download as CSV</button><ul id="quotations"></ul>
        <h2>Marks</h2><button id="add-mark" type="button">Mark this place</button><ul id="marks"></ul>
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
    <dt><kbd>Enter</kbd></dt><dd>open this line, or a double click, or Edit; again: done, or split the line where you have put \
    the cursor</dd>
    <dt><kbd>Shift</kbd> <kbd>Enter</kbd></dt><dd>done, wherever the cursor is</dd>
    <dt><kbd>Backspace</kbd></dt><dd>at the beginning of a line: join it with the one before</dd>
    <dt><kbd>s</kbd></dt><dd>give this line, the selection or the rest to another speaker</dd>
    <dt><kbd>Ctrl</kbd> <kbd>Enter</kbd></dt><dd>done, and open the next</dd>
    <dt><kbd>Esc</kbd></dt><dd>discard the changes</dd>
    <dt><kbd>Shift</kbd> <kbd>Tab</kbd></dt><dd>done, and leave the text</dd>
    <dt><kbd>d</kbd> <kbd>c</kbd></dt><dd>next uncertain word; this word is right</dd>
    <dt><kbd>r</kbd></dt><dd>all words of this line are right; of an unclear one, what was read</dd>
    <dt><kbd>q</kbd></dt><dd>keep the selection as a quotation</dd>
    <dt><kbd>Ctrl</kbd> <kbd>Z</kbd> <kbd>Y</kbd></dt><dd>undo, redo</dd>
    <dt><kbd>Ctrl</kbd> <kbd>S</kbd></dt><dd>save</dd>
    </dl>
    <p>While typing, and with a pedal. Click a key to change it.</p>
    <dl id="learn"></dl></div>
    """
