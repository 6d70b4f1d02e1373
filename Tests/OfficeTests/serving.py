"""Checks a served archive in headless Chromium, with the driver of Tests/PageTests (packages chromium and chromium-driver).

usage: serving.py ADDRESS RECORDING COPY [SCREENSHOTS]

The recording has the lines "we talked of", "phone yo again" and "and moor". COPY is the folder of a copy of another
recording, which is dropped on the list. Prints one line per check: "ok NAME" or "FAIL NAME: why".
"""

import base64
import io
import json
import os
import re
import shutil
import sys
import time
import traceback
import urllib.request
import wave

ADDRESS, RECORDING, COPY = sys.argv[1], int(sys.argv[2]), sys.argv[3]
sys.argv[1:4] = [ADDRESS]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "PageTests"))
if not shutil.which("chromedriver"):
    print("skipped: a served page in a browser: apt install chromium chromium-driver")
    sys.exit()
import browser
import editing


def check_list(b):
    b.call("POST", "/url", {"url": ADDRESS})
    assert b.js("return document.querySelectorAll('.list > li').length") == 1
    b.shot("served-list")
    b.type("input[type=search]", "phone\ue007")
    b.until("return document.querySelector('.hits mark')?.textContent === 'phone'")
    b.shot("served-search")
    assert b.console_messages() == []
    b.click(".hits a")
    b.until("return location.pathname.includes('/recording/') && location.hash.startsWith('#t=')")


def check_recording(b):
    b.until(browser.READY)
    # The hit is highlighted, not the word before it.
    b.until("return document.querySelector('.w.on')?.textContent === 'phone'")
    assert b.js("return document.querySelector('.w.at').textContent") == "phone"
    assert b.js("return Math.abs(document.getElementById('audio').duration - 4) < 0.2")
    assert 1 < b.until(browser.TIME) < 2
    b.js("document.getElementById('audio').currentTime = 3.2")
    b.until("return !document.getElementById('audio').seeking && document.getElementById('audio').currentTime > 3")
    b.press("Home")
    b.press("Space")
    b.until("return !document.getElementById('audio').paused && document.getElementById('audio').currentTime > 0.2")
    b.press("Space")
    b.until("return document.getElementById('audio').paused")
    b.shot("served-recording")


def edit(b, number, text):
    editing.double_click(b, f".s[data-n='{number}'] .w")
    b.until("return document.activeElement.id === 'field'")
    b.js("document.getElementById('field').value = arguments[0]", text)
    b.press("Enter")


def wait_for_status(b, text):
    b.until("return document.getElementById('kept').textContent.includes(arguments[0])", text)


def check_saving(b):
    edit(b, 2, "fonio again")
    wait_for_status(b, "not saved yet")
    b.press("Control", "s")
    wait_for_status(b, "Enter your name")
    b.type("#about-name", "Anna\t")
    b.click("#save")
    wait_for_status(b, "Saved in the archive")
    b.click("#save")
    wait_for_status(b, "There is nothing to save")
    b.shot("served-saved")
    # After a reload the text comes from the archive, without pending edits.
    b.call("POST", "/url", {"url": f"{ADDRESS}recording/{RECORDING}/"})
    assert b.js(editing.TEXTS % 2) == "fonio again"
    assert b.js("return state.edits.size") == 0


def check_both(b):
    page = urllib.request.urlopen(f"{ADDRESS}recording/{RECORDING}/").read().decode()
    data = json.loads(re.search('id="data">(.*?)</script>', page, re.S)[1])
    request = {"format": "fieldscribe-corrections", "version": 1, "recording": data["recording"],
            "editor": {"name": "Bo", "saved": time.time()}, "details": data["details"],
            "segments": [{"id": 3, "was": "and moor", "text": "and more"}]}
    reading = data["server"]["reading"]
    edit(b, 1, "we talk of")
    urllib.request.urlopen(urllib.request.Request(
        f"{ADDRESS}recording/{RECORDING}/corrections?reading={reading}&seen={reading}", json.dumps(request).encode(),
        {"Content-Type": "application/json"}))
    b.press("Control", "s")
    wait_for_status(b, "Bo has also corrected it in the meantime")
    b.shot("served-both")
    assert [b.js(editing.TEXTS % n) for n in (1, 2, 3)] == ["we talk of", "fonio again", "and more"]
    assert b.js("return document.getElementById('about-name').value") == "Anna"
    assert b.console_messages() == []


DROP = """
const transfer = new DataTransfer();
for (const [name, content] of arguments[0])
  transfer.items.add(new File([Uint8Array.from(atob(content), byte => byte.charCodeAt(0))], name));
document.querySelector('h1').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer }));
"""


def silence(seconds):
    sound = io.BytesIO()
    with wave.open(sound, "wb") as file:
        file.setparams((1, 2, 16000, 0, "NONE", ""))
        file.writeframes(bytes(seconds * 32000))
    return base64.b64encode(sound.getvalue()).decode()


def check_adding(b):
    b.call("POST", "/url", {"url": ADDRESS})
    b.shot("served-list-again")
    files = []
    for name in sorted(os.listdir(COPY)):
        with open(os.path.join(COPY, name), "rb") as file:
            files.append([name, base64.b64encode(file.read()).decode()])
    b.js(DROP, files)
    b.until("return document.querySelector('#added li')?.textContent === 'copy: added'")
    assert b.console_messages() == []
    # The same files again, chosen instead of dropped; then sound files, one of them damaged.
    b.type("#files", "\n".join(os.path.join(COPY, name) for name, _ in files))
    b.until("return document.querySelectorAll('#added li')[1]?.textContent.includes('already')")
    b.js(DROP, [["talk.mp3", "AAAA"], ["quiet room.wav", silence(1)]])
    b.until("return document.querySelector('#added .refused')?.textContent.startsWith('talk.mp3: ')")
    b.until("return document.querySelectorAll('#added li')[3]?.textContent === 'quiet room.wav: added'")
    b.shot("served-added")
    b.click("#again a")
    b.until("return document.querySelectorAll('.list > li').length === 3")
    links = b.js("return [...document.querySelectorAll('a[href*=\"recordings.zip\"]')].map(link => link.getAttribute('href'))")
    assert links[0] == "recordings.zip" and len(links) == 4, links
    # Asks the server about an unknown sound file, as if the server had been restarted.
    b.js("const open = XMLHttpRequest.prototype.open;"
         "XMLHttpRequest.prototype.open = function (method, address, ...rest) {"
         "  open.call(this, method, address.replace(/sound=.*/, 'sound=x'), ...rest);"
         "};")
    b.js(DROP, [["later.wav", silence(2)]])
    b.until("return document.querySelector('#added .refused')?.textContent.startsWith('later.wav: the server was restarted; ')")
    b.until("const request = new XMLHttpRequest(); request.open('GET', '', false); request.send();"
            "return request.responseText.includes('4 recordings')")


def run():
    b = browser.Browser()
    try:
        for name, check in {"list": check_list, "recording": check_recording, "saving": check_saving,
                            "both": check_both, "adding": check_adding}.items():
            try:
                check(b)
                print("ok " + name, flush=True)
            except Exception as error:  # every check is reported
                frames = traceback.extract_tb(error.__traceback__)
                line = [frame.line for frame in frames if frame.name == check.__name__][-1:]
                print(f"FAIL {name}: {type(error).__name__} {error} at {line}".replace("\n", " "), flush=True)
    finally:
        b.close()


run()
