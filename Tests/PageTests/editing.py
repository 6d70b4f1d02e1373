"""Checks of the pages' correction features for browser.py, which drives the browser."""

import base64
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
import zipfile

TEXTS = "return [...document.querySelectorAll('.s[data-n=\"%d\"] .w')].map(word => word.textContent).join(' ')"
TIMES = "return [...document.querySelectorAll('.s[data-n=\"%d\"] .w')].map(word => [word.textContent, Number(word.dataset.t)])"
CATCH_DOWNLOADS = """
    window.caught = [];
    const make = URL.createObjectURL;
    URL.createObjectURL = blob => { blob.text().then(text => window.caught.push(text)); return make.call(URL, blob); };
    """
# Replaces the browser's folder picker, which a test cannot operate.
FAKE_PICKER = """
    window.written = {};
    const page = document.documentElement.outerHTML;
    window.showDirectoryPicker = async () => ({ getFileHandle: async (name, options) => options?.create
      ? { createWritable: async () => ({ write: async text => { window.written[name] = text; }, close: async () => {} }) }
      : { getFile: async () => ({ text: async () => page }) } });
    """


# Whether the page has no corrections.
PRISTINE = """return document.querySelectorAll('.w').length > 0 && (!identity || !open && !isUnsaved && !state.edits.size
    && !Object.values(state.details).some(Boolean) && !state.notes.length && !state.quotations.length && !state.marks)"""


def fresh(b, page="talk"):
    """Opens the page without corrections."""
    beside = os.path.join(b.folder, page, "corrections.html")
    if os.path.exists(beside):
        os.remove(beside)
    b.open(page + "/index.html")
    # A page's last write may reach the storage after it was cleared.
    for _ in range(5):
        b.js("localStorage.clear(); window.onbeforeunload = null")
        # Otherwise the page would store its corrections again when the browser leaves it.
        b.js("identity && (isUnsaved = false, open = null)")
        b.open(page + "/index.html")
        if b.js(PRISTINE):
            return
    assert False, "a page without corrections still shows some"


def double_click(b, selector, index=0):
    # On a busy machine, two WebDriver clicks are too far apart for a double click.
    b.js("window.lastTop = undefined;"
         "document.querySelectorAll(arguments[0])[arguments[1]].scrollIntoView({ block: 'center', behavior: 'instant' })", selector, index)
    left, top = b.until(
        "const box = document.querySelectorAll(arguments[0])[arguments[1]].getBoundingClientRect(), before = window.lastTop;"
        "window.lastTop = box.top; return before === box.top && [box.left + box.width / 2, box.top + box.height / 2]", selector, index)
    for count in (1, 2):
        for event in ("mousePressed", "mouseReleased"):
            b.devtools("Input.dispatchMouseEvent", type=event, x=left, y=top, button="left", clickCount=count)


def keys(b, text):
    actions = []
    for key in text:
        actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
    b.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})


def check_editing(b):
    fresh(b)
    before = b.js(TIMES % 6)
    assert " ".join(word for word, _ in before) == "we crossed by the ford below the mill", before
    double_click(b, '.s[data-n="6"] .w', 4)
    assert b.js("return document.activeElement.id") == "field"
    assert b.js("const f = document.activeElement; return f.value.slice(f.selectionStart, f.selectionEnd)") == "ford"
    assert b.js("return document.querySelector('.s[data-n=\"6\"] .x').checkVisibility()")
    b.until("const top = document.activeElement.getBoundingClientRect().top, before = window.lastTop;"
            "window.lastTop = top; return before === top")
    keys(b, "old fort")
    b.shot("correcting")
    b.press("Enter")
    after = b.js(TIMES % 6)
    assert [word for word, _ in after] == ["we", "crossed", "by", "the", "old", "fort", "below", "the", "mill"], after
    assert after[:4] == before[:4] and after[6:] == before[5:]
    assert before[4][1] == after[4][1] < after[5][1] < before[5][1]
    # Restoring the recognized words also restores their times.
    b.js("document.querySelector('.s[data-n=\"6\"] .t').click()")
    b.press("Enter")
    b.js("document.getElementById('field').value = 'we crossed by the ford below the mill'")
    b.press("Enter")
    assert b.js(TIMES % 6) == before
    assert b.js("return document.querySelectorAll('.edited').length") == 0
    # Escape discards the change; the keyboard can leave every control.
    b.press("Enter")
    keys(b, "xx")
    b.press("Escape")
    assert b.js(TIMES % 6) == before
    b.press("Enter")
    b.press("Shift", "Tab")
    assert b.js("return document.activeElement.className") == "t"


def check_undo(b):
    fresh(b)
    for text in ["one", "two"]:
        double_click(b, '.s[data-n="6"] .w')
        b.js("document.getElementById('field').value = arguments[0]", text)
        b.press("Enter")
    assert b.js(TEXTS % 6) == "two"
    b.press("Control", "z")
    assert b.js(TEXTS % 6) == "one"
    b.press("Control", "z")
    b.press("Control", "z")
    assert b.js(TEXTS % 6).startswith("we crossed")
    b.press("Control", "y")
    b.press("Control", "y")
    assert b.js(TEXTS % 6) == "two"
    assert b.js("return document.getElementById('redo').disabled")


def check_stored_edits(b):
    fresh(b)
    double_click(b, '.s[data-n="6"] .w', 4)
    keys(b, "fort")
    b.press("Enter")
    assert "this browser only" in b.js("return document.getElementById('status').textContent")
    double_click(b, '.s[data-n="5"] .w', 0)
    keys(b, "half typed")
    b.until("return JSON.parse(localStorage.getItem(storageKey)).open")
    b.open("talk/index.html")
    b.until("return document.activeElement.id === 'field'")
    assert b.js(TEXTS % 6) == "we crossed by the fort below the mill"
    assert "half typed" in b.js("return document.getElementById('field').value")
    b.press("Escape")
    # If something is unsaved, closing the page asks for confirmation.
    asks_confirmation = "return !dispatchEvent(new Event('beforeunload', { cancelable: true }))"
    assert b.js(asks_confirmation)
    # If the browser's storage is full, the page says so.
    b.js("Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }")
    b.press("Enter")
    keys(b, "fort ")
    b.press("Enter")
    assert b.js("return document.getElementById('status').textContent") == "This browser cannot store more: save now"
    b.js("isUnsaved = false")
    assert not b.js(asks_confirmation)
    # Another recording shows no corrections, although Chromium has one storage for all files.
    b.open("long/index.html")
    assert b.js("return document.querySelectorAll('.edited').length") == 0
    fresh(b)


def check_replacing(b):
    fresh(b)
    count = b.js("return [...document.querySelectorAll('.w')].filter(word => word.textContent === 'river').length")
    assert count > 2
    b.press("/")
    keys(b, "the River")
    b.type("#instead", "the Rhine\ue007")
    assert b.js("return document.getElementById('status').textContent") == f"Replaced {count} times"
    assert b.js("return [...document.querySelectorAll('.w')].filter(word => word.textContent === 'Rhine').length") == count
    assert b.js("return [...document.querySelectorAll('.w')].filter(word => word.textContent === 'river').length") == 0
    b.js("document.activeElement.blur()")
    b.press("Control", "z")
    assert b.js("return [...document.querySelectorAll('.w')].filter(word => word.textContent === 'river').length") == count
    # The text previews the replacements. After a single replacement, the next hit is shown.
    b.js("document.getElementById('instead').value = ''; find.value = 'river'; find.dispatchEvent(new Event('input'))")
    b.type("#instead", "Rhine")
    preview = "return [...main.querySelectorAll('.gone')].map(word => word.textContent + ' ' + word.dataset.instead)"
    b.until("return main.querySelectorAll('.gone').length")
    assert b.js(preview) == ["river Rhine"] * count and b.js("return byId('replace-all').textContent") == f"Replace all {count}", b.js(preview)
    assert b.js("return getComputedStyle(main.querySelector('.gone'), '::after').content.includes('Rhine')")
    b.shot("replace")
    b.click("#next")
    second = b.js("return hits[1].map(startOf)")
    b.click("#replace-one")
    b.until(f"return main.querySelectorAll('.gone').length === {count - 1}")
    words = "return [...main.querySelectorAll('.w')].filter(word => /Rhine|Elbe/.test(word.textContent)).map(word => [word.textContent, startOf(word)])"
    assert b.js(words) == [["Rhine", second[0]]], b.js(words)
    # The search continues after the replacement, even if the new text contains the word again.
    assert b.js("return [byId('hits').textContent, byId('replace-all').textContent]") == [f"2 of {count - 1}", f"Replace all {count - 1}"]
    b.js("instead.value = 'river Elbe'")
    b.click("#replace-one")
    assert [word for word, _ in b.js(words)] == ["Rhine", "Elbe"], b.js(words)
    after = b.js("return [hits[hit][0].dataset.t, hits.length]")
    assert after[1] == count - 1 and (count < 4 or int(after[0]) > b.js(words)[1][1]), after
    for remaining in (1, 0):
        b.js("document.activeElement.blur()")
        b.press("Control", "z")
        # The restored words are found again.
        assert b.js("return hits.length") == count - remaining and b.js("return hits.flat().every(word => word.isConnected)")
    # Punctuation around a hit stays, and parts of words are not replaced.
    b.js("step([textChange(6, 'the “River,” rivers and the river-bank')]); find.value = 'river'; search(); instead.value = 'Rhine'; replace(wholeHits())")
    assert b.js(TEXTS % 6) == "the “Rhine,” rivers and the river-bank", b.js(TEXTS % 6)
    b.press("Control", "z")
    b.press("Control", "z")
    # If lines were joined, a replacement may span two segments.
    b.js("step([change(7, { ...draftOf(7), joined: true })]); find.value = 'mill the'; search(); instead.value = 'mill. A'; replace(wholeHits())")
    assert "below mill. A water was cold" in b.js("return textOfLine(lineOf(6))").replace("the mill.", "mill."), b.js("return textOfLine(lineOf(6))")
    b.press("Control", "z")
    b.press("Control", "z")
    b.js("find.value = 'the River'; search(); instead.value = ''")
    # Esc closes the replacement; a second Esc closes the search that opened it.
    b.type("#instead", "the Elbe")
    b.press("Escape")
    state = "return [document.getElementById('replace').hidden, document.activeElement.id, document.getElementById('find').value]"
    assert b.js(state) == [True, "find", "the River"], b.js(state)
    b.press("/")
    assert b.js(state) == [False, "find", "the River/"], b.js(state)
    b.press("Escape")
    assert b.js(state)[0] and b.js("return document.getElementById('find').value") == ""
    fresh(b)


def check_uncertain_words(b):
    fresh(b)
    remaining = lambda: int(b.until("return document.getElementById('left').textContent").split()[0])
    total = remaining()
    assert total > 5
    b.press("d")
    worst = b.js("const word = document.querySelector('.asked'); return [word.textContent, Number(word.dataset.c)]")
    assert worst[1] == b.js("return Math.min(...[...document.querySelectorAll('.w')].map(word => word.dataset.c))")
    b.press("c")
    assert remaining() == total - 1
    # Skipped words do not come back each time a word is finished.
    asked_word = "const asked = document.querySelector('.asked'); return asked.closest('.s').dataset.n + ' ' + asked.dataset.t"
    seen = [b.js(asked_word)]
    for _ in range(2):
        b.press("d")
        seen.append(b.js(asked_word))
    b.press("c")
    seen.append(b.js(asked_word))
    assert len(set(seen)) == 4, seen
    for _ in range(remaining() - 2):
        b.press("d")
    assert b.js(asked_word) == seen[0]
    # Correcting a word takes a key to open it, its letters, and a key to continue.
    pressed = 0
    for _ in range(3):
        before = remaining()
        uncertain_words = b.js("return document.querySelector('.asked').closest('.s').querySelectorAll('.c0, .c1').length")
        line, index = b.js("const asked = document.querySelector('.asked'); return [Number(asked.closest('.s').dataset.n),"
                     " [...asked.closest('.s').querySelectorAll('.w')].indexOf(asked)]")
        b.press("Enter")
        keys(b, "grandfather")
        b.press("Enter")
        pressed += 2 + len("grandfather")
        assert (b.js(TEXTS % line).split()[index]) == "grandfather"
        # A corrected line counts as confirmed.
        assert remaining() == before - uncertain_words
    # Pressing only these keys corrected each word and opened the next one.
    assert pressed <= 3 * (len("grandfather") + 2)
    print(f"note keystrokes per corrected word: its letters + {(pressed - 3 * len('grandfather')) / 3:g}")
    fresh(b)


def check_confirming(b):
    """A line that a person confirmed or corrected has no uncertain words."""
    fresh(b)
    b.until("return document.getElementById('left').textContent")
    line = b.js("return Number(segments.find(line => line.querySelectorAll('.c0, .c1').length > 1).dataset.n)")
    count = "return lineOf(arguments[0]).querySelectorAll('.c0, .c1').length"
    before, remaining = b.js(count, line), "return parseInt(document.getElementById('left').textContent)"
    total = b.js(remaining)
    b.js("seek(startOf(lineOf(arguments[0])))", line)
    b.press("r")
    assert b.js(count, line) == 0 and b.js(remaining) == total - before
    assert b.js("return correctionsDocument().segments.map(one => [one.id, one.confirmed.length])") == [
        [line, b.js("return wordsOf(lineOf(arguments[0])).length", line)]]
    b.press("Control", "z")
    assert b.js(count, line) == before and b.js(remaining) == total
    # The button confirms the open line with the typed text.
    double_click(b, f'.s[data-n="{line}"] .w', 0)
    keys(b, "so")
    b.menu()
    b.click("#right")
    assert b.js(count, line) == 0 and b.js(TEXTS % line).startswith("so ") and b.js("return open === null")
    b.press("Control", "z")
    assert b.js(count, line) == before
    # During the review of uncertain words, confirming a line moves to the next uncertain word.
    b.press("d")
    asked = b.js("return document.querySelector('.asked').closest('.s').dataset.n")
    b.press("r")
    assert b.js("return document.querySelector('.asked').closest('.s').dataset.n") != asked
    fresh(b)


def check_undo_all(b):
    """Every addition can be undone and redone, even after a reload."""
    fresh(b)
    state_script = "const { details, notes, marks, quotations, speakers } = correctionsDocument(); return { details, notes, marks: marks ?? null, quotations, speakers }"
    states = [b.js(state_script)]
    shown = "return [document.querySelector('h1').textContent, main.querySelectorAll('.note').length, main.querySelectorAll('.mark').length, document.querySelectorAll('#quotations li').length]"
    first = b.js(shown)
    for action in ["step([], { details: { ...state.details, title: 'The mill' } })", "setNotes([{ time: 20, text: 'he laughs' }])",
                "setMarks(allMarks().slice(1))", "setQuotations([{ start: 20, end: 21, text: 'we', word: '', colour: 'green' }])",
                "setNotes([...state.notes, { time: 5, text: 'rain' }])", "step([textChange(6, 'another text')])"]:
        b.js(action)
        states.append(b.js(state_script))
    last = b.js(shown)
    assert last == ["The mill", 2, first[2] - 1, 1], last
    b.open("talk/index.html")
    b.until("return past.length === 6")
    assert b.js(shown) == last and b.js(TEXTS % 6) == "another text"
    b.js("document.activeElement.blur()")
    for state in reversed(states[:-1]):
        b.press("Control", "z")
        assert b.js(state_script) == state, (b.js(state_script), state)
    assert b.js(shown) == first and b.js(TEXTS % 6).startswith("we crossed")
    assert b.js("return [past.length, future.length, document.getElementById('undo').disabled]") == [0, 6, True]
    b.open("talk/index.html")
    b.until("return future.length === 6")
    for state in states[1:]:
        b.press("Control", "y")
        assert b.js(state_script) == state
    assert b.js(shown) == last
    # An invalid undo history is ignored.
    b.js("const draft = JSON.parse(localStorage.getItem(storageKey)); draft.past[0].parts = [{ name: 'edits', before: 1, after: {} }];"
         "isUnsaved = false; window.storedDraft = JSON.stringify(draft); onpagehide = () => localStorage.setItem(storageKey, storedDraft)")
    b.open("talk/index.html")
    b.until("return document.querySelector('h1').textContent === 'The mill'")
    assert b.js("return past.length") == 0
    fresh(b)


def check_downloads(b):
    """Downloaded documents contain what the page shows: corrections, names and notes."""
    fresh(b, "people")
    b.js("step([textChange(6, 'we crossed by the <old> fort & below the mill')], { speakers: { B: 'Béla' }, details: { ...state.details, title: 'The mill', people: 'Anna' } });"
         "setNotes([{ time: startOf(lineOf(6)) / 1000, text: 'he laughs' }])")
    b.js("""window.made = [];
        const make = URL.createObjectURL;
        URL.createObjectURL = blob => { blob.arrayBuffer().then(bytes => made.push(btoa(String.fromCharCode(...new Uint8Array(bytes))))); return make.call(URL, blob); };
        HTMLAnchorElement.prototype.click = function () { window.name_ = this.download; };""")
    files = {}
    b.menu()
    for i, ending in enumerate(["docx", "odt", "txt", "md", "srt"]):
        b.click("#download")
        if not i:
            b.shot("download")
        b.click("#menu button", i)
        files[ending] = base64.b64decode(b.until("return made[arguments[0]]", i))
        assert b.js("return name_") == "The mill." + ending
    line = "we crossed by the <old> fort & below the mill"
    text, markdown, subtitles = (files[one].decode() for one in ["txt", "md", "srt"])
    clock = b.js("return [clock(startOf(wordsOf(lineOf(6))[0])), clock(startOf(wordsOf(main.querySelector('.who[data-who=B]').closest('.s'))[0]))]")
    assert text.startswith("The mill\n1:02\n") and "Speakers: A (0:" in text and "People: Anna" in text, text
    assert f"\n{clock[1]}  Béla: " in text and f"[note {clock[0]}: he laughs]" in text and line in text, text
    assert "[gap 2.3 s: overrun]" in text and "the first landing]" in text
    assert markdown.startswith("# The mill\n\n1:02\n") and f"{clock[1]} **Béla:** " in markdown and "\\<old\\>" in markdown, markdown
    cues = [cue.split("\n") for cue in subtitles.strip().split("\n\n")]
    assert [cue[0] for cue in cues] == [str(i + 1) for i in range(len(cues))]
    assert all(" --> " in cue[1] and len(cue) <= 5 for cue in cues) and sum(any(line.startswith("Béla: ") for line in cue) for cue in cues) == 1
    ends = [moment.replace(",", ".") for cue in cues for moment in cue[1].split(" --> ")]
    assert ends == sorted(ends), ends
    spoken = b.js("return [...main.querySelectorAll('.w')].map(word => word.textContent).join(' ')")
    # Each document contains all words in order.
    for ending in ["docx", "odt"]:
        package = zipfile.ZipFile(io.BytesIO(files[ending]))
        assert package.testzip() is None
        parts = {name: package.read(name) for name in package.namelist()}
        for name, part in parts.items():
            if name != "mimetype":
                ET.fromstring(part)
        content = ET.fromstring(parts["word/document.xml" if ending == "docx" else "content.xml"])
        lines = ["".join(one.itertext()) for one in content.iter() if one.tag.endswith("}p")]
        assert lines[:2] == ["The mill", "1:02"] and any(one.startswith(f"{clock[1]} Béla: ") for one in lines), lines
        said = " ".join(one.split(" ", 1)[1].removeprefix("A: ").removeprefix("Béla: ") for one in lines if one[0].isdigit() and ":" in one.split(" ")[0] and " " in one)
        assert said == spoken, (said, spoken)
    assert zipfile.ZipFile(io.BytesIO(files["odt"])).namelist()[0] == "mimetype"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.docx")
        with open(path, "wb") as file:
            file.write(files["docx"])
        try:
            import docx  # noqa: F401
            reader = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../ExportingTests/word.py")
            word_document = json.loads(subprocess.run([sys.executable, reader, path], capture_output=True, check=True).stdout)
            assert word_document["title"] == "The mill" and "Béla:" in word_document["bold"] and word_document["page"] == [210, 297], word_document
        except ImportError:
            print("note python-docx is missing: the Word file was only parsed")
    fresh(b, "people")
    # The recorder's name has a label, because it may look like a person's.
    fresh(b)
    assert ", 1:02, recorder fieldscribe-1\n" in b.js("return timedText()")
    # Subtitles go past 24 hours.
    assert "\n27:46:40,250 --> " in b.js("wordsOf(lineOf(6))[0].dataset.t = 100000250; return subtitles()")


def check_panel(b):
    """Notes and quotations are in a panel at the side; on a narrow screen, in a sheet at the bottom."""
    fresh(b)
    layout = "const box = work.getBoundingClientRect(); return [work.open && work.checkVisibility(), box.left, box.top, box.right, box.bottom, innerWidth, innerHeight, document.documentElement.scrollWidth]"
    assert not b.js(layout)[0]
    b.js("scrollTo(0, document.body.scrollHeight)")
    b.click("#notes-button")
    open_, left, top, right_, bottom, width, height, whole = b.js(layout)
    assert open_ and left > width / 2 and top == 0 and right_ <= width and bottom == height and whole <= width, b.js(layout)
    assert b.js("return main.getBoundingClientRect().right") <= left
    assert b.js("return byId('notes-button').getAttribute('aria-expanded')") == "true"
    b.click("#add-note")
    keys(b, "rain")
    b.shot("panel")
    b.press("Escape")
    assert not b.js(layout)[0] and b.js("return [document.activeElement.id, state.notes[0].text]") == ["notes-button", "rain"]
    b.devtools("Emulation.setDeviceMetricsOverride", width=380, height=720, deviceScaleFactor=1, mobile=True)
    try:
        b.menu()
        b.click("#notes-button")
        open_, left, top, right_, bottom, width, height, whole = b.js(layout)
        assert open_ and left == 0 and top >= height * .39 and bottom == height and whole <= width, b.js(layout)
        b.shot("sheet")
        b.click("#work > summary")
        assert not b.js(layout)[0]
    finally:
        b.devtools("Emulation.clearDeviceMetricsOverride")
    fresh(b)


def check_toolbar(b):
    """The toolbar is one row on wide screens and small on phones; other controls are in a menu."""
    fresh(b)
    height = "return [bar.offsetHeight, document.documentElement.scrollWidth]"
    shown = "return ['play', 'wave', 'time', 'find', 'edit', 'notes-button', 'save', 'menu-button', 'tools'].filter(id => byId(id).checkVisibility())"
    row = ["play", "wave", "time", "find", "edit", "notes-button", "save", "menu-button"]
    for width, high, expected in [(1280, 80, row), (1000, 80, row), (768, 80, row[:5] + row[7:]), (380, 120, row[:3] + row[7:])]:
        b.devtools("Emulation.setDeviceMetricsOverride", width=width, height=720, deviceScaleFactor=1, mobile=width < 1000)
        try:
            for search in ["", "the river"] if width >= 1000 else [""]:
                b.js("find.value = arguments[0]; search()", search)
                now = b.js(height)
                assert now[0] <= high and now[1] <= width and b.js(shown) == expected, (width, search, now, b.js(shown))
                assert b.js("return byId('wave').clientWidth") >= 90, width
            # The menu has all other controls and fits into the window.
            b.click("#menu-button")
            assert b.js(shown) == row + ["tools"], (width, b.js(shown))
            assert b.js("return [...bar.querySelectorAll('button, input, select')].every(one => {"
                        "const box = one.getBoundingClientRect(); return !one.checkVisibility() || box.left >= 0 && box.right <= innerWidth })"), width
            assert b.js(height)[1] <= width
            b.shot(f"menu-{width}")
            # Where the menu covers the text, it closes after a choice. Esc always closes it.
            if width < 1000:
                b.click("#edit")
                assert "tools" not in b.js(shown) and b.js("return document.activeElement.id") == "field"
                b.click("#menu-button")
                b.click("#edit")
                # During a search, the toolbar keeps the search field and the buttons for its hits.
                b.click("#menu-button")
                b.type("#find", "river\ue007")
                now = b.js(shown)
                assert "tools" not in now and "find" in now and b.js(height)[0] <= 120, (width, now, b.js(height))
                b.until("const box = document.querySelector('.hit.at').getBoundingClientRect();"
                        "return box.top >= bar.getBoundingClientRect().bottom && box.bottom <= innerHeight")
                b.click("#next")
                assert b.js("return [byId('hits').textContent.split(' ')[0], hits.length > 2]") == ["2", True]
                b.click("#menu-button")
            b.js("byId('silence').focus()")
            b.press("Escape")
            assert "tools" not in b.js(shown) and b.js("return document.activeElement.id") == "menu-button"
        finally:
            b.devtools("Emulation.clearDeviceMetricsOverride")
            fresh(b)
    # Technical details are collapsed.
    assert not b.js("return [...document.querySelectorAll('dt')].find(one => one.textContent === 'Transcribed by').checkVisibility()")
    # A message disappears at the next action, and the button Save shows unsaved changes.
    b.js("showStatus('Copied'); statusShownAt -= 5000")
    seen = "return [getComputedStyle(statusLine).opacity, byId('save').matches('.due')]"
    colour = "return getComputedStyle(byId('menu-button')).backgroundColor"
    plain = b.js(colour)
    assert b.js(seen) == ["1", False]
    b.press("Down")
    b.until("return getComputedStyle(statusLine).opacity === '0'")
    # An earlier action also removes the message, but not before four seconds.
    b.js("showStatus('Copied'); statusShownAt -= 3000")
    b.press("Down")
    b.until("return getComputedStyle(statusLine).opacity === '0'")
    # wait: never sooner than the page promises, however slow the machine
    assert b.js("return Date.now() - statusShownAt >= 4000")
    # The message is beside the text; on narrow screens it is below the current line and the end of the page.
    b.js("showStatus(notSaved); seek(startOf(lineOf(1)))")
    assert b.js("return statusLine.getBoundingClientRect().right < main.querySelector('.t').getBoundingClientRect().left"), b.js("return innerWidth")
    b.click("#notes-button")
    assert b.js("return statusLine.getBoundingClientRect().left >= work.getBoundingClientRect().left")
    b.press("Escape")
    for width in [768, 380]:
        b.devtools("Emulation.setDeviceMetricsOverride", width=width, height=500, deviceScaleFactor=1, mobile=True)
        try:
            b.js("showStatus(notSaved); scrollTo(0, 0); seek(0)")
            for _ in range(9):
                b.press("Down")
                # Waits for the smooth scrolling to end.
                b.until("return segments[segment].getBoundingClientRect().bottom <= statusLine.getBoundingClientRect().top")
                b.js("showStatus(notSaved)")
            b.js("scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
            assert b.js("return [...document.querySelector('footer').children].every(one => !one.checkVisibility() || one.getBoundingClientRect().bottom <= statusLine.getBoundingClientRect().top)"), width
        finally:
            b.devtools("Emulation.clearDeviceMetricsOverride")
    b.js("seek(0)")
    b.js("step([textChange(6, 'another text')])")
    assert b.js(seen) == ["1", True]
    # On narrow screens, the toolbar is one row too. During editing, the button Done is in it.
    for width, expected in [(768, row[:5] + row[6:]), (380, row[:3] + row[7:])]:
        b.devtools("Emulation.setDeviceMetricsOverride", width=width, height=720, deviceScaleFactor=1, mobile=True)
        try:
            assert b.js(shown) == expected and b.js(height)[0] <= 80 and b.js(height)[1] <= width, (width, b.js(shown), b.js(height))
            assert (b.js(colour) == plain) == (width == 768), width
            b.menu()
            b.click("#edit")
            b.until("return byId('edit').textContent === 'Done'")
            assert b.js(shown) == expected[:3] + row[3:5][width < 700:] + expected[-2:][width < 700:], (width, b.js(shown))
            assert b.js(height)[0] <= 80 and b.js("return byId('wave').clientWidth") >= 60, (width, b.js(height))
            b.click("#edit")
            # Where the button is always in the bar, `shown` does not tell whether editing has ended.
            b.until("return byId('edit').textContent === 'Edit'")
            assert b.js(shown) == expected, (width, b.js(shown))
        finally:
            b.devtools("Emulation.clearDeviceMetricsOverride")
    fresh(b)


def file_name(b):
    """Returns the file name that the page suggests for a download."""
    return b.js("""let name; const click = HTMLAnchorElement.prototype.click;
        HTMLAnchorElement.prototype.click = function () { name = this.download; };
        download(fileName, 'text/html', correctionsPage());
        HTMLAnchorElement.prototype.click = click;
        return name;""")


def check_saving(b):
    fresh(b)
    double_click(b, '.s[data-n="6"] .w', 4)
    keys(b, "</script><b>fort")
    b.press("Enter")
    b.js("document.getElementById('work').open = true")
    b.type("#about-name", "Anna\t")
    b.js(FAKE_PICKER)
    b.press("Control", "s")
    b.until("return window.written['corrections.json'] && document.getElementById('status').textContent.startsWith('Saved')")
    text = b.js("return window.written['corrections fieldscribe-1 7.html']")
    corrections = json.loads(b.js("return window.written['corrections.json']"))
    assert corrections["editor"]["name"] == "Anna" and corrections["segments"][0]["text"].endswith("</script><b>fort below the mill")
    # The page asks for the folder only once.
    b.js("window.showDirectoryPicker = () => { throw new Error('asked again'); }; window.written = {}")
    b.press("Control", "s")
    b.until("return window.written['corrections.json']")
    # The page does not write into another recording's folder.
    b.js("savedFolder = null;" + FAKE_PICKER.replace("outerHTML", "outerHTML.replaceAll('0123456789abcde7', 'f123456789abcdef')"))
    b.press("Control", "s")
    b.until("return document.getElementById('status').textContent.startsWith('That is another recording')")
    assert b.js("return Object.keys(window.written).length") == 0
    # In another browser or on another computer, only the file beside the page has corrections.
    beside = os.path.join(b.folder, "talk/corrections.html")
    b.js("localStorage.clear()")
    with open(beside, "w", encoding="utf-8") as file:
        file.write(text)
    b.console_messages()
    b.open("talk/index.html")
    b.until("return document.querySelectorAll('.edited').length === 1")
    assert b.js(TEXTS % 6) == "we crossed by the </script><b>fort below the mill"
    assert b.js("return document.getElementById('about-name').value") == "Anna"
    assert b.console_messages() == []
    # Another recording's corrections and invalid ones change nothing.
    for bad in [text.replace("talk", "x").replace(corrections["recording"]["sound"], "f" * 64), "<script>parent.postMessage('{', '*')</script>",
                "<script>parent.postMessage({a: 1}, '*'); parent.document.body.textContent = ''</script>"]:
        b.js("localStorage.clear()")
        with open(beside, "w", encoding="utf-8") as file:
            file.write(bad)
        b.open("talk/index.html")
        time.sleep(0.4)  # wait: nothing may happen; a slow machine can only hide a failure
        assert b.js("return document.querySelectorAll('.edited').length") == 0
        assert b.js("return document.querySelectorAll('.w').length") > 50
    # If there is no folder picker, the corrections are downloaded instead.
    fresh(b)
    b.js("window.showDirectoryPicker = undefined;" + CATCH_DOWNLOADS)
    double_click(b, '.s[data-n="6"] .w', 4)
    keys(b, "fort")
    b.press("Enter")
    b.click("#save")
    page = b.until("return window.caught[0]")
    assert "fort below the mill" in page and "Move it into this page" in b.js("return document.getElementById('status').textContent")
    assert b.js("return fileName") == "corrections fieldscribe-1 7.html"
    assert file_name(b) == "corrections fieldscribe-1 7.html"
    # If several files are beside the page, the latest is shown, even if it has the name of a second download.
    for name, word, time_ in [("corrections.html", "wall", 10), ("corrections fieldscribe-1 7.html", "old", 20),
                              ("corrections fieldscribe-1 7 (1).html", "last", 30), ("corrections fieldscribe-1 7(1).html", "older", 15)]:
        with open(os.path.join(b.folder, "talk", name), "w", encoding="utf-8") as file:
            saved_at = json.loads(page.split('id="corrections">')[1].split("</script>")[0])["editor"]["saved"]
            file.write(page.replace("by the fort", "by the " + word).replace(f'"saved":{saved_at}', f'"saved":{time_}'))
    b.js("isUnsaved = false; localStorage.clear()")
    b.open("talk/index.html")
    try:
        b.until("return document.querySelectorAll('.edited').length === 1 && textOfLine(lineOf(6)).includes('last')")
        time.sleep(0.4)  # wait: nothing may happen; a slow machine can only hide a failure
        assert b.js(TEXTS % 6) == "we crossed by the last below the mill"
    finally:
        for name in os.listdir(os.path.join(b.folder, "talk")):
            if name.startswith("corrections"):
                os.remove(os.path.join(b.folder, "talk", name))
    # A later transcript that already has the corrections says so, and shows nothing from the old file.
    fresh(b)
    assert b.js("""const saved = parseCorrections(JSON.stringify({ ...correctionsDocument(), segments: [{ id: 6, was: 'x', text: textOf(original(6)), confirmed: [] }] }));
        identity.pass = 3;
        adopt({ ...saved, pass: 2 });
        const message = byId('status').textContent;
        adopt({ ...saved, pass: 2, edits: [{ id: 6, was: 'x', text: 'something else' }] });
        delete identity.pass;
        return [message, byId('status').textContent]""") == [
            "The recorder has imported the corrections: this transcript contains them",
            "One correction was made to another version of this transcript and is not shown"]
    # Dropping the file on the page loads it.
    fresh(b)
    b.js("const data = new DataTransfer(); data.items.add(new File([arguments[0]], 'corrections (1).html'));"
         "dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }))", page)
    b.until("return document.querySelectorAll('.edited').length === 1")
    assert b.js(TEXTS % 6) == "we crossed by the fort below the mill"
    b.js("const data = new DataTransfer(); data.items.add(new File(['no'], 'x.json'));"
         "dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }))")
    b.until("return document.getElementById('status').textContent === 'x.json: This is not a corrections file.'")
    assert b.js(TEXTS % 6) == "we crossed by the fort below the mill"
    # The user chooses only if the file differs from the draft, not if it was only saved at another time.
    assert b.js("""isUnsaved = true;
        return [{}, { notes: [{ time: 1, text: 'other' }] }].map(changes => {
            const saved = { ...correctionsDocument(), ...changes };
            saved.editor.saved += 60;
            offer(parseCorrections(JSON.stringify(saved)));
            return !byId('choice').hidden;
        });""") == [False, True]
    fresh(b)


def check_additions(b):
    fresh(b)
    b.js("document.getElementById('work').open = true")
    b.type("#about-title", "At the ford\t")
    assert b.js("return document.querySelector('h1').textContent") == "At the ford"
    b.js("seek(20000)")
    b.click("#add-note")
    b.type("#notes input", "he laughs\t")
    assert "he laughs" in b.js("return document.querySelector('.note').textContent")
    count = b.js("return document.querySelectorAll('.mark').length")
    b.click("#add-mark")
    assert b.js("return document.querySelectorAll('.mark').length") == count + 1
    b.js("const name = document.querySelectorAll('#marks input')[1]; name.value = 'at the ford'; name.dispatchEvent(new Event('change'))")
    assert "⚑ at the ford" in b.js("return [...document.querySelectorAll('.mark')].map(mark => mark.textContent)")
    b.click("#marks li:first-child button")
    assert "landing" not in b.js("return [...document.querySelectorAll('.mark')].map(mark => mark.textContent).join()")
    b.js("const words = document.querySelectorAll('.s[data-n=\"6\"] .w'), range = document.createRange();"
         "range.setStart(words[1].firstChild, 2); range.setEnd(words[4].firstChild, 4);"
         "getSelection().removeAllRanges(); getSelection().addRange(range)")
    b.js("document.getElementById('word').value = '=idea'; document.activeElement.blur();")
    b.press("q")
    assert b.js("return document.querySelector('#quotations q').textContent") == "crossed by the ford"
    assert b.js("return [statusLine.textContent, getComputedStyle(statusLine).opacity]") == ["Kept as a quotation, under Notes", "1"]
    # The quotation is highlighted in the text, even after its line is changed.
    coloured = "return [...main.querySelectorAll('.quoted.yellow')].map(word => word.textContent).join(' ')"
    assert b.js(coloured) == "crossed by the ford"
    b.shot("quotation")
    b.js("step([textChange(6, 'we crossed by an old ford below the mill')])")
    assert b.js(coloured) == "crossed by an old ford"
    b.press("Control", "z")
    b.js("Object.defineProperty(navigator, 'clipboard', { value: { writeText: async text => { window.copied = text; } } })")
    b.click("#quotations li button")
    start = b.js("return state.quotations[0].start")
    time_ = f"{int(start) // 60}:{int(start) % 60:02}"
    assert b.until("return window.copied") == f'"crossed by the ford" ({time_}, At the ford, 20 Nov 2026)', b.js("return window.copied")
    b.until("return statusLine.textContent === 'Copied with its source'")
    # The source omits unknown details; if there is no title, it has the page's heading.
    source = "return citation(state.quotations[0]).split(' (')[1]"
    dated = "document.querySelector('.facts dd').textContent = arguments[0];"
    for recorded, expected in [("2026-03-01 08:30", "1 Mar 2026)"), ("Friday 6 May 2026 clock unverified", "")]:
        assert b.js(dated + source, recorded) == ", ".join(filter(None, [time_, "At the ford", expected])).rstrip(")") + ")", b.js(source)
    b.js("step([], { details: { ...state.details, title: '' } })")
    assert b.js(source) == f"{time_}, 20 November 2026, 09:30)", b.js(source)
    assert b.js(dated + source, "Friday 6 May 2026, 10:00") == f"{time_}, 6 May 2026)"
    b.press("Control", "z")
    b.js(CATCH_DOWNLOADS)
    b.click("#quotations-csv")
    rows = b.until("return window.caught[0]").split("\r\n")
    assert rows[0] == "start,end,word,colour,text" and rows[1].endswith(",'=idea,yellow,crossed by the ford"), rows
    b.open("talk/index.html")
    assert b.js("return document.querySelector('h1').textContent") == "At the ford"
    assert b.js("return document.querySelectorAll('#quotations li').length") == 1
    assert "he laughs" in b.js("return document.querySelector('.note').textContent")
    fresh(b)


def check_selection(b):
    """Selected words can be copied or kept as a quotation without the keyboard."""
    fresh(b, "people")
    items = "return [...document.querySelectorAll('#menu:not([hidden]) button')].map(one => one.textContent)"
    select = """const words = [lineOf(6), lineOf(7)].flatMap(wordsOf), range = document.createRange();
        range.setStart(words[4].firstChild, 0); range.setEnd(words[arguments[0]].firstChild, 3);
        getSelection().removeAllRanges(); getSelection().addRange(range)"""
    b.js("step([], { speakers: { B: 'Anna' } })")
    b.js("Object.defineProperty(navigator, 'clipboard', { value: undefined });"
         "document.execCommand = () => { const data = new DataTransfer();"
         "dispatchEvent(new ClipboardEvent('copy', { clipboardData: data })); window.copied = data.getData('text/plain'); return true }")
    b.js(select, 7)
    assert b.until(items) == ["Copy with source", "Keep as quotation", "Assign to …"]
    assert b.js("return menu.contains(document.activeElement)") is False
    b.shot("selection")
    b.click("#menu button")
    start = b.js("return clock(startOf(wordsOf(lineOf(6))[4]))")
    # If navigator.clipboard is missing, the page uses the browser's copy command.
    assert b.until("return window.copied") == f'"ford below the mill" (Anna, {start}, Two people)', b.js("return window.copied")
    assert b.js("return statusLine.textContent") == "Copied with its source" and b.js(items) == []
    # A quotation from two people, one of whom has no name.
    b.js("step([], { turns: reassigned(startOf(lineOf(7)) / 1000, Infinity, 'A'), speakers: { B: 'Anna' } })")
    b.js(select, 9)
    b.until("return document.querySelectorAll('#menu:not([hidden]) button').length")
    b.click("#menu button", 1)
    assert b.js("return state.quotations.map(one => one.text)") == ["ford below the mill the water"]
    assert b.js("return citation(state.quotations[0])").endswith(f" (Anna and Speaker A, {start}, Two people)")
    assert b.js("return main.querySelectorAll('.quoted').length") == 6
    b.until("return document.getElementById('menu').hidden")
    b.js(select, 7)
    b.until("return document.querySelectorAll('#menu:not([hidden]) button').length")
    b.press("Escape")
    assert b.js(items) == []
    fresh(b, "people")


def check_details(b):
    """The recording's details are stored immediately, saved with the corrections, and never treated as markup."""
    entered = {"title": "The ford", "people": "Anna <b>, Béla", "place": "By the mill", "note": "Rain.\nThen sun.",
            "consent": "Signed on paper, </script> 12 May"}
    fresh(b)
    b.js("document.getElementById('work').open = true")
    for name, text in entered.items():
        if "\n" in text:
            b.js("const field = document.getElementById('about-' + arguments[0]); field.value = arguments[1];"
                 "field.dispatchEvent(new Event('change'))", name, text)
        else:
            b.type("#about-" + name, text + "\t")
    b.shot("about the recording")
    b.open("talk/index.html")
    seen = {name: b.js("return document.getElementById('about-' + arguments[0]).value", name) for name in entered}
    assert seen == entered, seen
    assert b.js("return document.querySelectorAll('h1 b, .correcting b').length") == 0
    # The details are also shown above the transcript.
    shown = "return Object.fromEntries(shownFacts().filter((_, i) => !document.querySelectorAll('.facts > div')[i].hidden))"
    facts = b.js(shown)
    assert [facts[name] for name in ["People", "Place", "Note", "Consent"]] == [
        entered["people"], entered["place"], "Rain. Then sun.", entered["consent"]], facts
    b.js(FAKE_PICKER)
    b.press("Control", "s")
    b.until("return window.written['corrections fieldscribe-1 7.html'] && window.written['corrections.json']")
    assert json.loads(b.js("return window.written['corrections.json']"))["details"] == entered
    assert "</script> 12" not in b.js("return window.written['corrections fieldscribe-1 7.html']")
    # A cleared field is saved as empty.
    b.js("document.getElementById('work').open = true")
    b.type("#about-people", "\ue009a\ue000\ue003\t")
    b.js("window.written = {}")
    b.press("Control", "s")
    b.until("return window.written['corrections.json']")
    assert json.loads(b.js("return window.written['corrections.json']"))["details"]["people"] == ""
    assert "People" not in b.js(shown)
    fresh(b)


def check_people(b):
    fresh(b, "people")
    assert b.js("return [...main.querySelectorAll('.who')].map(one => one.textContent)") == ["A", "B"]
    b.js("document.getElementById('work').open = true")
    b.type('[data-person="B"]', " Mr. <b>Ford \t")
    named = "return [...document.querySelectorAll('[data-who=B]')].map(one => one.textContent)"
    assert b.js(named) == ["Mr. <b>Ford"] * 3, b.js(named)
    # A changed line keeps the name of the speaker who starts speaking in it.
    line = b.js("return Number(main.querySelector('.who[data-who=B]').closest('.s').dataset.n)")
    double_click(b, f'.s[data-n="{line}"] .w', 1)
    keys(b, "xyz")
    b.press("Enter")
    assert b.js("return [...main.querySelectorAll('.s .who')].map(one => one.textContent)") == ["A", "Mr. <b>Ford"]
    assert b.js("return correctionsDocument().speakers") == {"B": "Mr. <b>Ford"}
    b.js("document.getElementById('speaker').value = 'B'; document.getElementById('speaker').dispatchEvent(new Event('change'))")
    shown = b.js("return segments.filter(line => !line.hidden).every(line => line.dataset.p.includes('B'))")
    assert shown and b.js("return segments.some(line => line.hidden)")
    b.js("document.getElementById('speaker').value = ''; document.getElementById('speaker').dispatchEvent(new Event('change'))")
    assert not b.js("return segments.some(line => line.hidden)")
    # The name is still shown after a reload.
    b.open("people/index.html")
    b.until("return state.edits.size === 1")
    assert b.js(named) == ["Mr. <b>Ford"] * 3
    assert b.js("return document.querySelector('[data-person=B]').value") == "Mr. <b>Ford"
    fresh(b, "people")


def check_edit_button(b):
    fresh(b)
    message = "return document.getElementById('status').textContent"
    assert "press Edit" in b.js(message), b.js(message)
    b.click("#edit")
    assert b.js("return [document.activeElement.id, open.id, document.getElementById('edit').textContent]") == ["field", 1, "Done"]
    assert b.js(message) == ""
    # During editing, each click opens a line at the clicked word, and plays nothing.
    b.click('.s[data-n="3"] .w', 3)
    assert b.js("return [open.id, field.value.slice(field.selectionStart, field.selectionEnd), audio.paused]") == [3, "river", True]
    keys(b, "lake")
    b.click("#edit")
    assert b.js(TEXTS % 3) == "he said the lake remembers what the map forgets", b.js(TEXTS % 3)
    assert b.js("return open === null && document.getElementById('edit').textContent === 'Edit'")
    b.click('.s[data-n="6"] .w', 2)
    b.until("return !audio.paused")
    b.press("Space")
    # Once a line has been opened, the hint is not shown again.
    b.js("isUnsaved = false; localStorage.removeItem(storageKey)")
    b.open("talk/index.html")
    assert b.js(message) == ""
    # Edit opens the visible line, not the current line far above.
    b.call("POST", "/window/rect", {"width": 1280, "height": 600})
    b.js("document.querySelector('.s[data-n=\"8\"]').scrollIntoView({ block: 'start', behavior: 'instant' })")
    b.click("#edit")
    seen = b.js("return [segment, open.id]")
    assert seen[0] < 1 and seen[1] > 4, seen
    b.call("POST", "/window/rect", {"width": 1280, "height": 900})
    b.press("Escape")
    b.press("Escape")
    assert b.js("return !isEditing")
    fresh(b)


def check_title(b):
    fresh(b)
    before = b.js("return document.querySelector('h1').textContent")
    b.click("h1")
    assert b.js("return [document.activeElement.id, document.activeElement.placeholder]") == ["title", before]
    keys(b, "The <b>mill</b>")
    b.press("Enter")
    shown = "return [document.querySelector('h1').textContent, document.getElementById('about-title').value, correctionsDocument().details.title]"
    assert b.js(shown) == ["The <b>mill</b>"] * 3, b.js(shown)
    b.click("h1")
    keys(b, "another")
    b.press("Escape")
    assert b.js(shown) == ["The <b>mill</b>"] * 3, b.js(shown)
    # Leaving the field also keeps the title; an empty title restores the original heading.
    b.click("h1")
    b.js("document.activeElement.value = ''; document.activeElement.blur()")
    assert b.js(shown) == [before, "", ""], b.js(shown)
    fresh(b)


def check_assigning(b):
    """Lines are assigned to other speakers, two speakers are merged, and a new speaker gets a colour and a letter."""
    fresh(b, "people")
    speaker_of = lambda line: b.js("return lineOf(arguments[0]).dataset.p", line)
    names = "return [...main.querySelectorAll('.s .who')].map(one => one.textContent)"
    assign = lambda scope, to: b.js("""
        const what = document.querySelector('#menu select');
        what.value = arguments[0];
        [...document.querySelectorAll('#menu button')].find(one => one.textContent === arguments[1]).click();""", scope, to)
    assert (speaker_of(3), speaker_of(7)) == ("A", "B") and b.js("return segments.every(line => !line.dataset.n || !line.querySelector('.w') || line.dataset.p.length === 1)")
    # The key s assigns only the current line.
    b.js("seek(startOf(lineOf(7)))")
    b.press("s")
    scopes = "return [...document.querySelectorAll('#menu option')].map(one => one.value)"
    assert b.js(scopes) == ["line", "own", "rest", "all"], b.js(scopes)
    b.shot("give")
    assign("line", "A new speaker")
    assert (speaker_of(6), speaker_of(7), speaker_of(8)) == ("B", "C", "B"), (speaker_of(6), speaker_of(7), speaker_of(8))
    assert b.js(names) == ["A", "B", "C", "B"] and b.js("return lineOf(7).querySelector('.who').matches('.p2')")
    assert b.js("return [...byId('speaker').options].map(one => one.value)") == ["", "A", "B", "C"]
    assert b.js("return document.querySelectorAll('.facts .who').length") == 3
    saved = b.js("return correctionsDocument()")
    assert saved["version"] == 2 and {turn["speaker"] for turn in saved["turns"]} == {"A", "B", "C"}, saved
    assert all(turn["start"] < turn["end"] for turn in saved["turns"]) and saved["segments"] == []
    # If a selection within a line is assigned, the line is split where the speaker changes.
    b.js("const words = wordsOf(lineOf(8)), range = document.createRange(); range.setStart(words[3].firstChild, 0);"
         "range.setEnd(words[5].firstChild, 2); getSelection().removeAllRanges(); getSelection().addRange(range)")
    b.menu()
    b.click("#give")
    assert b.js(scopes)[0] == "selection"
    assign("selection", "A")
    shown = "return linesOfSegment.get(8).map(line => [line.dataset.p, wordsOf(line).map(word => word.textContent).join(' ')])"
    assert [who for who, _ in b.js(shown)] == ["B", "A", "B"] and len(b.js(shown)[1][1].split()) == 3, b.js(shown)
    assert " ".join(text for _, text in b.js(shown)) == b.js(TEXTS % 8)
    # Each part of the line has its own time.
    assert b.js("return linesOfSegment.get(8).every(line => Math.abs(startOf(line) - startOf(wordsOf(line)[0])) < 700)")
    b.press("Control", "z")
    assert len(b.js(shown)) == 1 and b.js(shown)[0][0] == "B"
    # Assigns everything from a line on, then only one person's lines.
    b.js("seek(startOf(lineOf(5)))")
    b.press("s")
    assign("rest", "A")
    assert b.js("return segmentIds.slice(indexOfId.get(5)).every(id => !original(id).words.length || lineOf(id).dataset.p === 'A')")
    b.press("Control", "z")
    assert (speaker_of(6), speaker_of(7)) == ("B", "C")
    b.js("openAssignMenu(lineOf(6).querySelector('.t'), lineOf(6))")
    assign("own", "A")
    assert (speaker_of(6), speaker_of(7), speaker_of(8)) == ("A", "C", "A")
    b.press("Control", "z")
    # Merges two speakers who are the same person; the name stays.
    b.js("step([], { speakers: { C: 'Carla' } })")
    b.click("main .who[data-who=C]")
    b.click("#menu button", 3)
    assert b.js("return document.querySelector('#menu select').value") == "all"
    # All of a speaker's lines can only be merged with another speaker; some of them can also go to a new speaker.
    offered = "return [...document.querySelectorAll('#menu button')].filter(one => one.checkVisibility()).map(one => one.textContent)"
    assert b.js(offered) == ["A", "B"], b.js(offered)
    b.js("const what = document.querySelector('#menu select'); what.value = 'own'; what.dispatchEvent(new Event('change'))")
    assert b.js(offered) == ["A", "B", "A new speaker"], b.js(offered)
    b.js("const what = document.querySelector('#menu select'); what.value = 'all'; what.dispatchEvent(new Event('change'))")
    b.press("Up")
    assert b.js("return document.activeElement.textContent") == "B"
    assign("all", "B")
    assert speaker_of(7) == "B" and b.js(names) == ["A", "Carla"], b.js(names)
    assert b.js("return correctionsDocument().speakers") == {"B": "Carla"}
    # A reload changes nothing, and each step can still be undone.
    before = b.js("return [correctionsDocument().turns, correctionsDocument().speakers]")
    b.open("people/index.html")
    b.until("return state.turns")
    assert b.js("return [correctionsDocument().turns, correctionsDocument().speakers]") == before and b.js(names) == ["A", "Carla"]
    b.press("Control", "z")
    assert speaker_of(7) == "C" and b.js(names) == ["A", "B", "Carla", "B"], b.js(names)
    b.press("Control", "z")
    b.press("Control", "z")
    assert speaker_of(7) == "B" and b.js("return state.turns === null") and b.js(names) == ["A", "B"]
    assert not b.js("return Boolean(past.length) || correctionsDocument().version !== 1")
    assert b.js("return document.querySelectorAll('.facts .who').length") == 2
    # A transcript with one speaker gets a second one.
    fresh(b)
    b.js("openAssignMenu(lineOf(6).querySelector('.t'), lineOf(6))")
    assert b.js(scopes) == ["line", "rest"], b.js(scopes)
    assign("line", "A new speaker")
    assert b.js(names) == ["A", "B", "A"] and b.js("return byId('speaker').options.length") == 3
    b.press("Control", "z")
    assert b.js(names) == [] and b.js("return byId('speaker').closest('label').hidden")
    fresh(b)


def check_splitting(b):
    fresh(b)
    lines = "return [...main.querySelectorAll('.s')].filter(line => line.querySelector('.w')).map(line => wordsOf(line).map(word => word.textContent).join(' '))"
    before, times = b.js(lines), b.js("return [...main.querySelectorAll('.w')].map(word => word.dataset.t)")
    index = before.index("we crossed by the ford below the mill")
    # Enter splits the line if only the cursor was moved; after typing, it finishes the edit.
    double_click(b, '.s[data-n="6"] .w', 4)
    b.press("Left")
    b.press("Enter")
    now = b.js(lines)
    assert now == before[:index] + ["we crossed by the", "ford below the mill"] + before[index + 1:], now
    assert b.js("return [open.id, open.from, field.value, field.selectionStart]") == [6, 4, "ford below the mill", 0]
    assert b.js("return [...main.querySelectorAll('.w')].map(word => word.dataset.t)") == times
    keys(b, "old ")
    b.press("Enter")
    assert b.js(lines)[index + 1] == "old ford below the mill" and b.js("return open === null")
    assert b.js("return correctionsDocument().segments") == [
        {"id": 6, "was": before[index], "text": "we crossed by the old ford below the mill", "confirmed": [4, 5, 6, 7, 8], "breaks": [4]}]
    # The second part has its own time, and is the current line when played.
    b.js("seek(Number(lineAt(6, 5).dataset.t) + 5)")
    assert b.js("return lineAt(6, 5) === segments[segment] && lineAt(6, 5).contains(document.querySelector('.w.on'))")
    b.open("talk/index.html")
    b.until("return document.querySelectorAll('.edited').length === 2")
    assert b.js(lines)[index:index + 2] == ["we crossed by the", "old ford below the mill"]
    # Changing the first part does not change the second.
    double_click(b, '.s[data-n="6"] .w', 1)
    keys(b, "went across")
    b.press("Enter")
    assert b.js(lines)[index:index + 2] == ["we went across by the", "old ford below the mill"]
    # Backspace at the beginning of the second part joins the parts again.
    b.js("edit(lineAt(6, 6)); field.setSelectionRange(0, 0)")
    b.press("Backspace")
    assert b.js(lines)[index] == "we went across by the old ford below the mill"
    assert b.js("return field.value.slice(0, field.selectionStart)") == "we went across by the "
    b.press("Escape")
    for _ in range(4):
        b.press("Control", "z")
    assert b.js(lines) == before and b.js("return correctionsDocument().version") == 1
    # Backspace also joins a segment to the previous one.
    b.js("edit(lineOf(7)); field.setSelectionRange(0, 0)")
    b.press("Backspace")
    joined = before[index] + " " + before[index + 1]
    assert b.js(lines) == before[:index] + [joined] + before[index + 2:], b.js(lines)
    b.press("Escape")
    assert b.js("return correctionsDocument().segments.map(one => [one.id, one.text, one.joined])") == [[7, before[index + 1], True]]
    # Text typed in the joined line belongs to the segment at the cursor.
    double_click(b, '.s[data-n="6"] .w', 8)
    keys(b, "our water")
    b.press("Enter")
    texts = {one["id"]: one["text"] for one in b.js("return correctionsDocument().segments")}
    assert texts[6 if 6 in texts else 7] and " ".join([texts.get(6, before[index]), texts[7]]) == b.js(lines)[index], texts
    b.press("Control", "z")
    b.press("Control", "z")
    assert b.js(lines) == before
    # If two people speak, a joined line gets the speaker of the line before it.
    fresh(b, "people")
    line = b.js("return Number(main.querySelector('.who[data-who=B]').closest('.s').dataset.n)")
    at = b.js("return Number(main.querySelector('.who[data-who=B]').closest('.s').dataset.k ?? 0)")
    b.js("edit(lineAt(...arguments)); field.setSelectionRange(0, 0)", line, at)
    b.press("Backspace")
    b.press("Escape")
    assert b.js("return [...linesOfSegment.get(arguments[0])].every(one => one.dataset.p === 'A')", line)
    b.press("Control", "z")
    assert b.js("return lineAt(...arguments).dataset.p", line, at) == "B"
    fresh(b, "people")


def linear(value):
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


# How people without red or green receptors see linear colours (Machado, Oliveira and Fernandes 2009).
SIGHTS = {
    "all": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "no green": [[.367322, .860646, -.227968], [.280085, .672501, .047413], [-.011820, .042940, .968881]],
    "no red": [[.152286, 1.052583, -.204868], [.114503, .786281, .099216], [-.003882, -.048116, 1.051998]],
}


def oklab(colour, sight):
    parts = [linear(int(colour[i:i + 2], 16) / 255) for i in (1, 3, 5)]
    r, g, b = (min(1, max(0, sum(row[i] * parts[i] for i in range(3)))) for row in SIGHTS[sight])
    l = (.4122214708 * r + .5363325363 * g + .0514459929 * b) ** (1 / 3)
    m = (.2119034982 * r + .6806995451 * g + .1073969566 * b) ** (1 / 3)
    s = (.0883024619 * r + .2817188376 * g + .6299787005 * b) ** (1 / 3)
    return (.2104542553 * l + .7936177850 * m - .0040720468 * s, 1.9779984951 * l - 2.4285922050 * m + .4505937099 * s,
            .0259040371 * l + .7827717662 * m - .8086757660 * s)


def check_colours(b):
    fresh(b, "people")
    pairs = b.js("""return [...Array(12).keys()].map(i => {
        const style = getComputedStyle(make('i', {})), element = make('span', { class: 'who p' + i, 'data-who': 'A' }, 'A');
        document.body.append(element);
        const own = getComputedStyle(element), found = [own.getPropertyValue('--who').trim(), own.getPropertyValue('--on-who').trim()];
        element.remove();
        return found;
    })""")
    assert len({colour for colour, _ in pairs}) == 12
    for colour, letter in pairs:
        light = [.2126 * linear(r / 255) + .7152 * linear(g / 255) + .0722 * linear(b_ / 255)
                 for r, g, b_ in ([int(colour[i:i + 2], 16) for i in (1, 3, 5)], [0, 0, 0] if letter in ("#000", "#000000") else [255] * 3)]
        assert (max(light) + .05) / (min(light) + .05) >= 4.5, (colour, letter)
    for sight in SIGHTS:
        seen = [oklab(colour, sight) for colour, _ in pairs]
        # More than twice the smallest difference that is visible side by side.
        smallest = min(sum((x - y) ** 2 for x, y in zip(left, right)) ** .5 for i, left in enumerate(seen) for right in seen[:i])
        assert smallest > 0.12, (sight, smallest)


def check_speaker_menu(b):
    fresh(b, "people")
    items = "return [...document.querySelectorAll('#menu:not([hidden]) button')].map(one => one.textContent)"
    b.click("main .who[data-who=B]")
    assert b.js(items) == ["Play", "Rename", "Assign to …", "Merge with …", "Show only B"] and b.js("return audio.paused"), b.js(items)
    b.shot("speaker")
    b.press("Down")
    assert b.js("return document.activeElement.textContent") == "Rename"
    b.press("Enter")
    keys(b, "Anna")
    b.press("Enter")
    assert b.js("return [...document.querySelectorAll('[data-who=B]')].every(one => one.textContent === 'Anna')")
    assert b.js("return [correctionsDocument().speakers.B, document.getElementById('menu').hidden]") == ["Anna", True]
    # Uses the keyboard in the facts above the transcript.
    b.js("document.querySelector('.facts .who[data-who=B]').focus()")
    b.press("Enter")
    assert b.js(items) == ["Play", "Rename", "Merge with …", "Show only Anna"]
    b.press("Up")
    b.press("Enter")
    assert b.js("return segments.filter(line => !line.hidden).every(line => line.dataset.p.includes('B'))")
    assert b.js("return document.activeElement.dataset.who") == "B"
    b.press("Enter")
    assert b.js(items)[3] == "Show everybody"
    b.click("#menu button", 3)
    assert not b.js("return segments.some(line => line.hidden)")
    b.click("main .who[data-who=B]")
    b.press("Escape")
    assert b.js(items) == []
    b.click("main .who[data-who=B]")
    b.click("h1 + dl")
    assert b.js(items) == []
    # A click elsewhere keeps the new name and has its usual effect; Esc discards the name.
    rename = lambda name: (b.click(".facts .who[data-who=A]"), b.click("#menu button", 1), b.js("menu.firstChild.value = ''"), keys(b, name))
    rename("Berta")
    b.click(".facts .who[data-who=B]")
    assert b.js("return state.speakers.A") == "Berta" and b.js(items)[3] == "Show only Anna"
    rename("Carla")
    b.press("Escape")
    assert b.js("return state.speakers.A") == "Berta" and b.js(items) == []
    rename("Dora")
    b.press("Tab")
    assert b.js("return state.speakers.A") == "Dora" and b.js(items) == []
    # After a click, Space plays instead of opening the menu again. This page has no sound file.
    played = "window.played = []; audio.play = async () => { window.played.push(now()); }"
    b.js(played)
    b.click(".facts .who[data-who=A]")
    b.click("#menu button")
    b.press("Space")
    assert len(b.js("return window.played")) == 2 and b.js(items) == []
    fresh(b, "people")
    b.js(played)
    # A speaker without recognized words can be played and merged.
    b.js("const chip = nameChip('C'); chip.dataset.from = 5000; document.querySelector('.facts .who').closest('dd').append(', ', chip, ' 0:01');"
         "makeButtons(); data.alongside = [[5000, 6000, 2]]")
    b.click(".facts .who[data-who=C]")
    assert b.js(items) == ["Play", "Rename", "Merge with …"], b.js(items)
    b.click("#menu button")
    assert b.js("return window.played") == [5000]
    b.click(".facts .who[data-who=C]")
    b.click("#menu button", 2)
    assert b.js("return menu.querySelector('option').textContent") == "Everything C says" and b.js(items)[:2] == ["A", "B"]
    assert b.js("return [...document.querySelectorAll('#menu button[hidden]')].map(one => one.textContent)") == ["A new speaker"]
    b.click("#menu button")
    assert b.js("return [...document.querySelectorAll('.facts .who')].map(one => one.dataset.who).join()") == "A,B"
    assert b.js("return [...new Set(correctionsDocument().turns.map(turn => turn.speaker))].sort().join()") == "A,B"
    assert "C" not in b.js("return timedText()").split("Speakers: ")[1].split("\n")[0]
    fresh(b, "people")


def check_lines_without_speech(b):
    fresh(b, "quiet")
    group = "return [...document.querySelectorAll('.quiet')].map(one => one.querySelector('summary').textContent)"
    assert len(b.js(group)) == 1 and b.js(group)[0].endswith(" s without speech"), b.js(group)
    assert b.js("return document.querySelectorAll('.quiet .s').length") == 3
    assert not b.js("return document.querySelector('.s[data-n=\"9\"] .x').checkVisibility()")
    # A single line without speech is not grouped.
    assert b.js("return document.querySelector('.s[data-n=\"2\"]').textContent.endsWith('[no words]')")
    b.shot("without-speech")
    b.click(".quiet summary")
    assert b.js("return document.querySelector('.s[data-n=\"9\"] .x').checkVisibility()")
    b.click(".quiet summary")
    # A line that gets text or a note is shown.
    b.js("setNotes([{ time: Number(lineOf(10).dataset.t) / 1000, text: 'steps' }])")
    assert b.js(group) == [] and b.js("return document.querySelector('.s[data-n=\"10\"] .note').checkVisibility()")
    fresh(b, "quiet")
    b.js("step([textChange(10, 'she laughs')])")
    assert b.js(group) == [] and b.js(TEXTS % 10) == "she laughs"
    # It is still shown after a reload.
    b.open("quiet/index.html")
    b.until("return document.querySelectorAll('.edited').length === 1")
    assert b.js(group) == [] and b.js("return document.querySelector('.s[data-n=\"10\"] .x').checkVisibility()")
    fresh(b, "quiet")


def check_page_without_words(b):
    """A page without words does not mention words."""
    b.console_messages()
    b.open("empty/index.html")
    keys_ = b.js("return document.querySelector('.keys').textContent")
    assert keys_.startswith("Space plays"), keys_
    # This page's sound file is missing.
    assert [line for line in b.console_messages() if ".flac" not in line] == []


def check_unclear_line(b):
    shutil.copy(os.path.join(b.folder, "talk/audio.flac"), os.path.join(b.folder, "unclear/audio.flac"))
    fresh(b, "unclear")
    line = "document.querySelector('.s[data-n=\"4\"]')"
    shown = f"return {line}.querySelector('.x').textContent"
    assert b.js(shown) == "[unclear] then <nobody> spoke", b.js(shown)
    assert b.js(f"return getComputedStyle({line}.querySelector('.held')).color === "
                "getComputedStyle(document.querySelector('.s .t')).color"), "it is not grey"
    b.shot("unclear")
    # The unclear line can be played.
    b.click('.s[data-n="4"] .unclear')
    start = b.js(f"return Number({line}.dataset.t) / 1000")
    b.until(f"return !audio.paused && audio.currentTime >= {start}")
    b.js("audio.pause()")
    # The unclear line comes first among uncertain words, also in the list.
    assert b.js("return document.querySelector('footer ol li').textContent").endswith("[unclear] then <nobody> spoke")
    b.press("d")
    assert b.js("return current.matches('.unclear') && current === uncertain[0]")
    # Downloads mark the line.
    assert "[unclear]\n" in b.js("return timedText()") and "[unclear]" in b.js("return subtitles()")
    # If the line is opened without an edit, it stays unclear, and the held-back words do not become its text.
    double_click(b, '.s[data-n="4"] .unclear')
    assert b.js("return field.value + '|' + field.placeholder") == "|then <nobody> spoke"
    b.press("Enter")
    assert b.js(shown) == "[unclear] then <nobody> spoke" and b.js("return state.edits.size") == 0
    # A correction goes into the file that the recorder imports; undo makes the line unclear again.
    b.js("step([textChange(4, 'and then nobody spoke')])")
    assert b.js(TEXTS % 4) == "and then nobody spoke"
    edit = b.js("return correctionsDocument().segments[0]")
    assert (edit["id"], edit["was"], edit["text"]) == (4, "", "and then nobody spoke"), edit
    assert not b.js("return main.querySelector('.unclear, .held')")
    b.js("undo()")
    assert b.js(shown) == "[unclear] then <nobody> spoke"
    # The key r confirms the held-back words, even if the line was skipped before.
    b.js("skippedKeys.clear(); current = null")
    b.press("d")
    b.press("r")
    assert b.js(TEXTS % 4) == "then <nobody> spoke" and b.js("return correctionsDocument().segments[0].confirmed") == [0, 1, 2]
    b.open("unclear/index.html")
    b.until("return document.querySelectorAll('.edited').length === 1")
    assert b.js(TEXTS % 4) == "then <nobody> spoke"
    fresh(b, "unclear")


def check_key_learning(b):
    fresh(b)
    b.press("?")
    b.click("#learn button", 1)
    b.press("F9")
    b.press("Escape")
    b.until("return !document.getElementById('help').open")
    b.js("seek(10000)")
    double_click(b, '.s[data-n="6"] .w', 4)
    at = b.until("return document.getElementById('audio').currentTime")
    b.press("F9")
    b.until("return Math.abs(document.getElementById('audio').currentTime - arguments[0]) < 0.2", at - 3)
    b.press("F4")
    assert b.js("return audio.playbackRate") == 1.25
    b.press("F3")
    assert b.js("return audio.playbackRate") == 1
    # Playback resumes slightly before the position where it stopped.
    stopped = b.js("return audio.currentTime")
    b.press("Tab")
    b.until("return !document.getElementById('audio').paused")
    assert b.js("return audio.currentTime") < stopped - 0.5
    assert b.js("return document.activeElement.id") == "field"
    b.press("Tab")
    b.until("return document.getElementById('audio').paused")
    b.press("F8")
    b.js("document.getElementById('audio').playbackRate = 4")
    start, end = b.js("return [open.start, open.end]")
    b.js("seek(open.end)")
    b.until("return now() < arguments[0]", (start + end) / 2)
    b.press("Escape")
    b.js("audio.pause()")
    fresh(b)


def check_silence(b):
    fresh(b)
    b.menu()
    b.click("#silence")
    end, next_ = b.js("const lines = [...document.querySelectorAll('.s[data-n]')]; const at = lines.findIndex((line, i) =>"
                      " i && line.dataset.t - lines[i - 1].dataset.e > 2000); return [Number(lines[at - 1].dataset.e), Number(lines[at].dataset.t)]")
    b.js("seek(arguments[0] - 200)", end)
    b.press("Space")
    b.until("return now() > arguments[0] - 300", next_)
    assert b.js("return now()") < next_ + 1500
    b.press("Space")
    b.js("document.getElementById('silence').checked = false")


def check_single_word(b):
    fresh(b)
    b.js("document.querySelector('footer details:not(.correcting)').open = true")
    from_, to = b.js("const word = document.querySelector('.hear'); return [Number(word.dataset.from), Number(word.dataset.to)]")
    b.click(".hear")
    b.until("return !audio.paused")
    b.until("return audio.paused")
    assert abs(b.js("return now()") - to - 250) < 200
    # After a click on a control, the keys still work in the transcript.
    b.menu()
    b.click("#uncertain")
    b.press("Space")
    b.until("return !audio.paused")
    b.press("Space")
    b.until("return audio.paused")


def check_three_hours(b):
    fresh(b, "hours")
    assert b.js("return document.querySelectorAll('.w').length") == 30_000
    opened = []
    for _ in range(3):
        b.open("hours/index.html")
        opened.append(b.js("return performance.getEntriesByType('navigation')[0].domComplete"))
    # Text beyond the screen is laid out later, but the link's target is visible.
    b.open("hours/index.html#t=9000")
    b.until("return main.classList.contains('laid')")
    b.until("const box = document.querySelector('.s.on').getBoundingClientRect();"
            "return box.top > document.getElementById('bar').getBoundingClientRect().bottom && box.bottom < innerHeight")
    near = b.js("return Number(document.querySelector('.s.on').dataset.t)")
    assert 8_990_000 < near <= 9_000_001, near
    b.open("hours/index.html")
    b.until("return main.classList.contains('laid')")
    laid = b.js("return new Promise(done => requestAnimationFrame(() => done(performance.now())))")
    double_click(b, '.s[data-n="1500"] .w', 4)
    painted = b.call("POST", "/execute/async", {"script": """
        const done = arguments[arguments.length - 1], field = document.getElementById('field'), found = [];
        const turn = () => {
          if (found.length === 12) return done(found.sort((a, b) => a - b));
          const from = performance.now();
          document.execCommand('insertText', false, 'x');
          field.getBoundingClientRect();
          requestAnimationFrame(() => { const channel = new MessageChannel();
            // wait: paces the keys whose times are printed; nothing is asserted about them
            channel.port1.onmessage = () => { found.push(performance.now() - from); setTimeout(turn, 30); };
            channel.port2.postMessage(0); });
        };
        turn();""", "args": []})
    b.press("Enter")
    assert b.js(TEXTS % 1500).count("x") == 12
    print_start = time.monotonic()
    pages = b.pdf()
    printed = time.monotonic() - print_start
    # Screen readers also get text beyond the screen.
    tree = b.devtools("Accessibility.getFullAXTree")["nodes"]
    word_count = sum(node.get("name", {}).get("value", "").split().__len__() for node in tree
               if not node.get("ignored") and node.get("role", {}).get("value") == "StaticText")
    print(f"note 30,000 words: page complete after {sorted(opened)[1]:.0f} ms, all of it laid out after {laid:.0f} ms, a key to paint {painted[6]:.0f} ms (longest "
          f"{painted[-1]:.0f}), printed in {printed:.1f} s, {word_count} words in the accessibility tree")
    assert len(pages) > 100_000 and word_count >= 30_000, word_count
    fresh(b, "hours")


CHECKS = {
    "the toolbar": check_toolbar, "the button Edit": check_edit_button, "the title in the heading": check_title,
    "a speaker's menu": check_speaker_menu, "lines are assigned to other speakers": check_assigning, "lines are split and joined": check_splitting,
    "speakers' colours": check_colours, "a line is confirmed": check_confirming, "everything can be undone": check_undo_all, "documents are downloaded": check_downloads,
    "notes in a side panel": check_panel, "lines without speech": check_lines_without_speech, "a page without words": check_page_without_words, "an unclear line": check_unclear_line,
    "editing": check_editing, "undo and redo": check_undo, "edits are kept": check_stored_edits, "replace": check_replacing, "uncertain words": check_uncertain_words,
    "saving and loading": check_saving, "notes, marks and quotations": check_additions, "selected words": check_selection, "about the recording": check_details, "learning keys": check_key_learning,
    "people are named and chosen": check_people, "silence is skipped": check_silence,
    "a single word is played": check_single_word, "three hours": check_three_hours,
}
