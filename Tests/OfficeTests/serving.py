"""Checks a served archive in headless Chromium, like Tests/PageTests. Needs the packages chromium and chromium-driver.

usage: serving.py ADDRESS RECORDING COPY [SCREENSHOTS]

RECORDING is the ID of a recording with the lines "we talked of", "phone yo again" and "and moor". COPY is the folder of a
copy of another recording; its files are dropped on the list. Prints one line per check: "ok NAME" or "FAIL NAME: REASON".
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


def check_list(driver):
    driver.call("POST", "/url", {"url": ADDRESS})
    assert driver.js("return document.querySelectorAll('.list > li').length") == 1
    driver.shot("served-list")
    driver.type("input[type=search]", "phone\ue007")
    driver.until("return document.querySelector('.hits mark')?.textContent === 'phone'")
    driver.shot("served-search")
    assert driver.console_messages() == []
    driver.click(".hits a")
    driver.until("return location.pathname.includes('/recording/') && location.hash.startsWith('#t=')")


def check_recording(driver):
    driver.until(browser.READY)
    # The hit is highlighted rather than the word before it.
    driver.until("return document.querySelector('.w.on')?.textContent === 'phone'")
    assert driver.js("return document.querySelector('.w.at').textContent") == "phone"
    assert driver.js("return Math.abs(document.getElementById('audio').duration - 4) < 0.2")
    assert 1 < driver.until(browser.TIME) < 2
    driver.js("document.getElementById('audio').currentTime = 3.2")
    driver.until("return !document.getElementById('audio').seeking && document.getElementById('audio').currentTime > 3")
    driver.press("Home")
    driver.press("Space")
    driver.until("return !document.getElementById('audio').paused && document.getElementById('audio').currentTime > 0.2")
    driver.press("Space")
    driver.until("return document.getElementById('audio').paused")
    driver.shot("served-recording")


def edit(driver, segment, text):
    editing.double_click(driver, f".s[data-n='{segment}'] .w")
    driver.until("return document.activeElement.id === 'field'")
    driver.js("document.getElementById('field').value = arguments[0]", text)
    driver.press("Enter")


def wait_for_status(driver, text):
    driver.until("return document.getElementById('status').textContent.includes(arguments[0])", text)


def check_saving(driver):
    edit(driver, 2, "fonio again")
    wait_for_status(driver, "not saved yet")
    driver.press("Control", "s")
    wait_for_status(driver, "Enter your name")
    driver.type("#about-name", "Anna\t")
    driver.click("#save")
    wait_for_status(driver, "Saved in the archive")
    driver.click("#save")
    wait_for_status(driver, "There is nothing to save")
    driver.shot("served-saved")
    # After a reload, the text comes from the archive, and there are no pending edits.
    driver.call("POST", "/url", {"url": f"{ADDRESS}recording/{RECORDING}/"})
    assert driver.js(editing.TEXTS % 2) == "fonio again"
    assert driver.js("return state.edits.size") == 0


def check_both(driver):
    html = urllib.request.urlopen(f"{ADDRESS}recording/{RECORDING}/").read().decode()
    data = json.loads(re.search('id="data">(.*?)</script>', html, re.S)[1])
    request = {"format": "fieldscribe-corrections", "version": 1, "recording": data["recording"],
            "editor": {"name": "Bo", "saved": time.time()}, "details": data["details"],
            "segments": [{"id": 3, "was": "and moor", "text": "and more"}]}
    transcript_id = data["server"]["reading"]
    edit(driver, 1, "we talk of")
    urllib.request.urlopen(urllib.request.Request(
        f"{ADDRESS}recording/{RECORDING}/corrections?reading={transcript_id}&seen={transcript_id}", json.dumps(request).encode(),
        {"Content-Type": "application/json"}))
    driver.press("Control", "s")
    wait_for_status(driver, "Bo has also corrected this transcript in the meantime")
    driver.shot("served-both")
    assert [driver.js(editing.TEXTS % n) for n in (1, 2, 3)] == ["we talk of", "fonio again", "and more"]
    assert driver.js("return document.getElementById('about-name').value") == "Anna"
    assert driver.console_messages() == []


DROP = """
const transfer = new DataTransfer();
for (const [name, content] of arguments[0])
  transfer.items.add(new File([Uint8Array.from(atob(content), byte => byte.charCodeAt(0))], name));
document.querySelector('h1').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer }));
"""


def silence(seconds):
    """Returns a WAV file in Base64."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setparams((1, 2, 16000, 0, "NONE", ""))
        file.writeframes(bytes(seconds * 32000))
    return base64.b64encode(buffer.getvalue()).decode()


def check_adding(driver):
    driver.call("POST", "/url", {"url": ADDRESS})
    driver.shot("served-list-again")
    files = []
    for name in sorted(os.listdir(COPY)):
        with open(os.path.join(COPY, name), "rb") as file:
            files.append([name, base64.b64encode(file.read()).decode()])
    driver.js(DROP, files)
    driver.until("return document.querySelector('#added li')?.textContent === 'copy: added'")
    assert driver.console_messages() == []
    # Chooses the same files instead of dropping them. Then drops sound files, one of which is damaged.
    driver.type("#files", "\n".join(os.path.join(COPY, name) for name, _ in files))
    driver.until("return document.querySelectorAll('#added li')[1]?.textContent.includes('already')")
    driver.js(DROP, [["talk.mp3", "AAAA"], ["quiet room.wav", silence(1)]])
    driver.until("return document.querySelector('#added .refused')?.textContent.startsWith('talk.mp3: ')")
    driver.until("return document.querySelectorAll('#added li')[3]?.textContent === 'quiet room.wav: added'")
    driver.shot("served-added")
    driver.click("#again a")
    driver.until("return document.querySelectorAll('.list > li').length === 3")
    links = driver.js("return [...document.querySelectorAll('a[href*=\"recordings.zip\"]')].map(link => link.getAttribute('href'))")
    assert links[0] == "recordings.zip" and len(links) == 4, links
    # Asks the server about an unknown sound file, as if the server had been restarted.
    driver.js("const open = XMLHttpRequest.prototype.open;"
         "XMLHttpRequest.prototype.open = function (method, address, ...rest) {"
         "  open.call(this, method, address.replace(/sound=.*/, 'sound=x'), ...rest);"
         "};")
    driver.js(DROP, [["later.wav", silence(2)]])
    driver.until("return document.querySelector('#added .refused')?.textContent.startsWith('later.wav: the server was restarted; ')")
    driver.until("const request = new XMLHttpRequest(); request.open('GET', '', false); request.send();"
            "return request.responseText.includes('4 recordings')")


def run():
    driver = browser.Browser()
    try:
        for name, check in {"list": check_list, "recording": check_recording, "saving": check_saving,
                            "both": check_both, "adding": check_adding}.items():
            try:
                check(driver)
                print("ok " + name, flush=True)
            except Exception as error:  # reports each failed check and continues
                frames = traceback.extract_tb(error.__traceback__)
                line = [frame.line for frame in frames if frame.name == check.__name__][-1:]
                print(f"FAIL {name}: {type(error).__name__} {error} at {line}".replace("\n", " "), flush=True)
    finally:
        driver.close()


run()
