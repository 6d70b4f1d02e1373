"""Checks a recording's page in headless Firefox, through Firefox's own protocol Marionette (package firefox-esr).

usage: firefox.py FOLDER

FOLDER holds the page talk/index.html. The script prints one line per check, "ok NAME" or "FAIL NAME: why", or "skipped: why" if
Firefox is missing.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAM = shutil.which("firefox-esr") or shutil.which("firefox")
ENTER = "\ue007"
LINE = "return [...document.querySelectorAll('.s[data-n=\"6\"] .w')].map(word => word.textContent).join(' ')"
PREFERENCES = {
    "marionette.port": 0, "browser.download.folderList": 2, "browser.download.alwaysOpenPanel": False,
    "browser.download.useDownloadDir": True, "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.enabled": False, "app.update.enabled": False, "network.proxy.type": 0, "browser.startup.page": 0,
    "browser.aboutwelcome.enabled": False, "app.normandy.enabled": False, "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False, "services.settings.server": "data:,#remote-settings-dummy/v1",
}


class Firefox:
    """A session of Firefox with a separate profile."""

    def __init__(self, folder_path):
        profile = os.path.join(folder_path, "profile")
        self.downloads = os.path.join(folder_path, "downloads")
        for folder in (profile, self.downloads):
            os.mkdir(folder)
        preferences = {**PREFERENCES, "browser.download.dir": self.downloads}
        with open(os.path.join(profile, "user.js"), "w", encoding="utf-8") as file:
            for name, value in preferences.items():
                file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        environment = {**os.environ, "HOME": folder_path, "MOZ_CRASHREPORTER_DISABLE": "1"}
        self.log = os.path.join(folder_path, "log")
        with open(self.log, "wb") as log:
            # A process group, because Firefox has several processes.
            self.process = subprocess.Popen(
                [PROGRAM, "--headless", "--marionette", "--no-remote", "--profile", profile, "about:blank"],
                stdout=log, stderr=log, env=environment, start_new_session=True)
        self.message_id = 0
        try:
            port = self.port(os.path.join(profile, "MarionetteActivePort"))
            self.socket = socket.create_connection(("127.0.0.1", port), timeout=300)
            self.read()
            self.call("WebDriver:NewSession", {})
        except BaseException:
            self.close()
            raise

    def port(self, path):
        end = time.monotonic() + 600
        while time.monotonic() < end:  # wait: a timeout
            if self.process.poll() is not None:
                break
            try:
                with open(path, encoding="utf-8") as file:
                    return int(file.read())
            except (OSError, ValueError):
                time.sleep(0.05)  # wait: polls for the file
        with open(self.log, encoding="utf-8", errors="replace") as file:
            raise RuntimeError("Firefox did not start: " + file.read()[-500:])

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def read(self):
        length = b""
        while not length.endswith(b":"):
            length += self.receive(1)
        return json.loads(self.receive(int(length[:-1])))

    def receive(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise RuntimeError("Firefox has exited")
            data += part
        return data

    def call(self, command, parameters):
        self.message_id += 1
        text = json.dumps([0, self.message_id, command, parameters]).encode()
        self.socket.sendall(str(len(text)).encode() + b":" + text)
        _, _, error, result = self.read()
        if error:
            raise RuntimeError(error["message"])
        return result

    def open(self, path):
        self.call("WebDriver:Navigate", {"url": "about:blank"})
        self.call("WebDriver:Navigate", {"url": "file://" + path})

    def js(self, script, *arguments):
        return self.call("WebDriver:ExecuteScript", {"script": script, "args": list(arguments), "newSandbox": False})["value"]

    def until(self, script, *arguments):
        end = time.monotonic() + 600
        while True:
            value = self.js(script, *arguments)
            if value:
                return value
            assert time.monotonic() < end, "never true: " + script  # wait: a timeout
            time.sleep(0.02)  # wait: polls for the condition

    def act(self, kind, actions, **more):
        self.call("WebDriver:PerformActions", {"actions": [{"type": kind, "id": kind, "actions": actions, **more}]})

    def keys(self, text):
        actions = []
        for key in text:
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.act("key", actions)

    def click(self, selector, index=0, times=1):
        self.js("document.querySelectorAll(arguments[0])[arguments[1]].scrollIntoView({ block: 'center' })", selector, index)
        x, y = self.js("const box = document.querySelectorAll(arguments[0])[arguments[1]].getBoundingClientRect();"
                       "return [box.left + box.width / 2, box.top + box.height / 2]", selector, index)
        click = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.act("pointer", [{"type": "pointerMove", "x": round(x), "y": round(y)}] + click * times)


def check_editing(b, page):
    """A correction is still shown after a reload."""
    b.open(page)
    before = b.until(LINE).split()
    b.click('.s[data-n="6"] .w', 4, times=2)
    b.until("return document.activeElement.id === 'field'")
    assert b.js("const f = document.activeElement; return f.value.slice(f.selectionStart, f.selectionEnd)") == before[4]
    b.keys("fort" + ENTER)
    expected = " ".join(before[:4] + ["fort"] + before[5:])
    assert b.js(LINE) == expected, b.js(LINE)
    b.js("window.onbeforeunload = null")
    b.open(page)
    assert b.until(LINE) == expected
    assert b.js("return document.querySelectorAll('.edited').length") == 1
    return expected


def check_saving(b, page):
    """Saving downloads a file; once the file is beside the page, the page shows its corrections."""
    expected = b.js(LINE)
    b.click("#save")
    path = os.path.join(b.downloads, "corrections fieldscribe-1 7.html")
    end = time.monotonic() + 600
    while not (os.path.exists(path) and os.path.getsize(path) and not os.path.exists(path + ".part")):
        assert time.monotonic() < end, os.listdir(b.downloads)  # wait: a timeout
        time.sleep(0.05)  # wait: polls for the download
    assert "Move it into this page" in b.js("return document.getElementById('status').textContent")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert expected in text
    beside = os.path.join(os.path.dirname(page), "corrections.html")
    try:
        # Without this browser's storage, only the file beside the page has corrections.
        for content, edited in [(None, 0), (text, 1), (text.replace("0123456789abcde7", "0123456789abcde8"), 0)]:
            b.js("localStorage.clear()")
            if content is not None:
                with open(beside, "w", encoding="utf-8") as file:
                    file.write(content)
            b.open(page)
            if edited:
                b.until("return document.querySelectorAll('.edited').length === 1")
                assert b.js(LINE) == expected
            else:
                time.sleep(0.5)  # wait: nothing may happen; a slow machine can only hide a failure
                assert b.js("return document.querySelectorAll('.edited').length") == 0
    finally:
        if os.path.exists(beside):
            os.remove(beside)


def check_zooming_and_copying(b, page):
    """The wheel zooms the waveform; selected words are copied with their source."""
    b.open(page)
    left, top, width = b.until("const box = document.getElementById('wave').getBoundingClientRect();"
                               "return box.width ? [box.left, box.top + box.height / 2, box.width] : null")
    b.act("wheel", [{"type": "scroll", "x": round(left + width / 4), "y": round(top), "deltaX": 0, "deltaY": -400, "duration": 0}])
    first, last = b.until("const { min, max } = document.getElementById('seek'); return max < 62000 && [Number(min), Number(max)]")
    assert 0 < first < last < 62000, (first, last)
    b.js("const words = document.querySelectorAll('.s[data-n=\"6\"] .w'), range = document.createRange(); range.setStart(words[1].firstChild, 0);"
         "range.setEnd(words[4].firstChild, 2); getSelection().removeAllRanges(); getSelection().addRange(range)")
    b.until("return document.querySelectorAll('#menu:not([hidden]) button').length === 3")
    b.click("#menu button")
    b.until("return document.getElementById('status').textContent === 'Copied with its source'")
    b.js("getSelection().removeAllRanges()")


def run(folder):
    if not PROGRAM:
        print("skipped: the page in Firefox, which is not installed (package firefox-esr)")
        return 0
    page = os.path.join(os.path.abspath(folder), "talk/index.html")
    failed = 0
    with tempfile.TemporaryDirectory() as folder_path:
        try:
            b = Firefox(folder_path)
        except RuntimeError as error:
            print(f"FAIL Firefox: {error}".replace("\n", " "))
            return 1
        try:
            for name, check in {"editing in Firefox": check_editing, "saving and loading in Firefox": check_saving,
                                "zooming and copying in Firefox": check_zooming_and_copying}.items():
                try:
                    check(b, page)
                    print("ok " + name, flush=True)
                except Exception as error:  # every check is reported
                    failed += 1
                    print(f"FAIL {name}: {type(error).__name__} {error}".replace("\n", " "), flush=True)
        finally:
            b.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1]))
