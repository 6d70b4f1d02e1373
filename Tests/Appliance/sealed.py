"""Encrypted copies, unknown sticks, and a sealed recorder that is opened and locked."""

import hashlib
import os
import shlex
import subprocess

from appliance import STORAGE
from bench import expect
from drive import CONFIGURE
from stick import HOLD, fill, insert, make_stick, read_stick, run, text

# Three short blinks and a short pause; three short blinks and a long pause.
REFUSED_BLINKS = [(0.05, 0.24), (0.08, 0.33), (0.05, 0.24), (0.08, 0.33), (0.05, 0.24), (0.5, 1.3)]
OPEN_BLINKS = [(0.05, 0.25), (0.1, 0.35), (0.05, 0.25), (0.1, 0.35), (0.05, 0.25), (1.9, 2.8)]
# A word in the played speech.
WORD = "forward"
# The first command counts the opened files in memory. The second lists the files on the disk that contain the word; there must be none.
COUNT_IN_MEMORY = "find /run/fieldscribe /dev/shm -path '*fieldscribe-opened-*' -type f | wc -l"
READABLE = "grep -rail '%s' %s /etc/fieldscribe /tmp /var/tmp || true" % (WORD, STORAGE)


def key_pair(machine):
    """Creates a key pair on the host. Returns (the path of the private key, the public key)."""
    path = machine.path("key.txt")
    run("age-keygen", "-o", path)
    return path, run("age-keygen", "-y", path).decode().strip()


def configure(machine, section, line):
    machine.shell(CONFIGURE % (section, line))
    machine.until_ready()


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unseal(key, path, target):
    """Decrypts a sealed file on the host as README.txt explains, verifies the checksums, and returns the decrypted folder."""
    os.makedirs(target)
    run("sh", "-c", "set -e; cd %s; age -d -i %s %s | tar x" % tuple(shlex.quote(it) for it in (target, key, path)))
    folder = os.path.join(target, os.listdir(target)[0])
    sums = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, capture_output=True, text=True)
    expect(sums.returncode == 0, "%s: %s" % (folder, sums.stderr + sums.stdout))
    return folder


def put_key(path, key):
    """Puts a private key on a partitioned stick, as a person would."""
    if subprocess.run(["mdir", "-i", "%s@@1M" % path, "::Fieldscribe"], capture_output=True).returncode != 0:
        run("mmd", "-i", "%s@@1M" % path, "::Fieldscribe")
    run("mcopy", "-o", "-i", "%s@@1M" % path, key, "::Fieldscribe/key.txt")


def sealed_stick(bench):
    """Copies on a stick are encrypted: age decrypts them on the host, and nothing of a recording is readable on the stick."""
    with bench.appliance("sealed-stick") as machine:
        key, public = key_pair(machine)
        configure(machine, "export", "recipients = " + public)
        path = machine.path("stick.img")
        make_stick(path, "vfat")
        machine.record(8)
        seconds = insert(machine, path)
        machine.stick_out()
        root = read_stick(path, "vfat", True, machine.path("first"))
        sealed = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names if name.endswith(".age")]
        expect([os.path.basename(it) for it in sealed] == ["000001.fieldscribe.age"], "on the stick: %s" % sealed)
        others = sorted(name for _, _, names in os.walk(root) for name in names if not name.endswith(".age"))
        expect(others == ["README.txt", "RESULT.txt", "SHA256SUMS"], "other files on the stick: %s" % " ".join(others))
        with open(path, "rb") as file:
            content = file.read().lower()
        for plain in (WORD.encode(), b"flac", b"transcript", b"<html"):
            expect(plain not in content, "'%s' can be read on the stick" % plain.decode())
        folder = unseal(key, sealed[0], machine.path("opened"))
        expect(WORD in text(folder + "/transcript.txt").split(), "the transcript says '%s'" % text(folder + "/transcript.txt"))
        expect(os.path.getsize(folder + "/audio.flac") > 10_000, "the decrypted copy has no sound")
        wrong_key = machine.path("other.txt")
        run("age-keygen", "-o", wrong_key)
        decryption = subprocess.run(["age", "-d", "-i", wrong_key, sealed[0]], capture_output=True)
        expect(decryption.returncode != 0 and not decryption.stdout, "a wrong key opens the copy")
        before = digest(sealed[0])
        insert(machine, path)
        machine.stick_out()
        root = read_stick(path, "vfat", True, machine.path("second"))
        expect(digest(sealed[0].replace(machine.path("first"), machine.path("second"))) == before, "the copy was written again")
        expect("Already here: recording 1" in text(root + "/RESULT.txt"), text(root + "/RESULT.txt"))
        return "encrypted after %.0f s, decrypted with age, intact; nothing readable; a second copy writes nothing" % seconds


def stick_unknown(bench):
    """With `sticks = known`, a stick that is not allowed is not written to, and the lamp shows that. Once allowed, it gets everything."""
    with bench.appliance("stick-unknown") as machine:
        configure(machine, "export", "sticks = known")
        path = machine.path("stick.img")
        make_stick(path, "vfat")
        before = digest(path)
        machine.record(3)
        began = machine.note("stick")
        machine.stick_in(path)
        machine.wait_lamp(lambda lamp: lamp.matching(began, REFUSED_BLINKS), 120, "three blinks: the stick is refused")
        machine.until("! systemctl is-active --quiet fieldscribe-export@sda1")
        lamp = machine.lamp()
        expect(not lamp.safe_signals(began) and not lamp.fast_blinks(began), "the lamp also showed a fault, or that it is safe to unplug")
        report = machine.journal("fieldscribe-export@*")
        expect("not copied to" in report and "stick allow" in report, report)
        allowed = machine.shell("fieldscribe stick allow")
        machine.stick_out()
        expect(digest(path) == before, "the stick was written to")
        expect(len(machine.shell("fieldscribe stick list").splitlines()) >= 1, "no stick is allowed")
        seconds, root, _ = fill(machine, path, 1, "known")
        expect("1 recording was copied" in text(root + "/RESULT.txt"), text(root + "/RESULT.txt"))
        return "three blinks, no byte changed, reported in the journal; once allowed (%s), safe to unplug after %.0f s" % (allowed.split("\n")[0], seconds)


def sealed_recorder(bench):
    """A key on a stick opens a sealed recorder, which can then be searched. A command or a kill locks it. Neither the key nor a transcript is
    ever on its disk."""
    with bench.appliance("sealed-recorder") as machine:
        key, public = key_pair(machine)
        configure(machine, "storage", "seal = " + public)
        machine.record(8)
        machine.until("fieldscribe list | grep -q sealed", 120)
        search = "fieldscribe search %s 2>/dev/null | grep -c . || true" % WORD
        expect(machine.shell(search).strip() == "0", "a search finds something in a sealed recording")
        expect(not machine.shell(READABLE).strip(), "unencrypted: " + machine.shell(READABLE))
        path = machine.path("stick.img")
        make_stick(path, "vfat")

        wrong_key = machine.path("other.txt")
        run("age-keygen", "-o", wrong_key)
        put_key(path, wrong_key)
        began = machine.note("wrong")
        machine.stick_in(path)
        machine.wait_lamp(lambda lamp: lamp.fast_blinks(began), 150, "fast blinks: a fault")
        machine.until("! systemctl is-active --quiet fieldscribe-export@sda1")
        machine.stick_out()
        expect("does not open" in machine.status()["lastFault"]["message"], str(machine.status()["lastFault"]))
        root = read_stick(path, "vfat", True, machine.path("wrong"))
        report = text(root + "/RESULT.txt")
        expect("does not open the sealed recording" in report and "NOTHING WAS COPIED" in report, report)
        expect(machine.shell(search).strip() == "0" and "opened" not in machine.status(), "a wrong key opened the recordings")
        machine.play_sound()
        machine.press()
        machine.until_recorded(3)
        machine.press()
        machine.until_transcribed()
        machine.until("[ $(fieldscribe list | grep -c sealed) -eq 2 ]", 120)

        put_key(path, key)
        began = machine.note("key")
        seconds = insert(machine, path)
        machine.stick_out()
        root = read_stick(path, "vfat", True, machine.path("right"))
        report = text(root + "/RESULT.txt")
        expect("recordings 1 and 2 are open for an hour" in report and "NOTHING WAS COPIED" in report, report)
        expect(sorted(os.listdir(root)) == ["RESULT.txt", "key.txt"], "on the stick: %s" % " ".join(os.listdir(root)))
        opened = machine.status()["opened"]
        expect(opened["recordings"] == [1, 2] and 3000 < opened["secondsLeft"] <= 3600, str(opened))
        expect(int(machine.shell(search)) >= 1, "a search finds nothing in an open recording")
        expect(WORD in machine.text_of(machine.transcript(1)), "an open recording is not shown")
        machine.wait_lamp(lambda lamp: lamp.matching(began, OPEN_BLINKS), 60, "three short blinks every 3 s: open")
        expect("a private key has opened 2 sealed recordings" in machine.shell("fieldscribe doctor; true"), "doctor does not report that recordings are open")
        expect(machine.shell("fieldscribe history 1 | grep -c ' opened '").strip() == "1", "the history has no entry about the opening")
        expect(int(machine.shell(COUNT_IN_MEMORY)) > 0, "the opened files are not in memory")
        expect(not machine.shell(READABLE).strip(), "unencrypted: " + machine.shell(READABLE))
        modes = machine.shell("find /run/fieldscribe /dev/shm -maxdepth 1 -name 'fieldscribe-opened-*' -printf '%m %U\\n'").split()
        expect(modes[0] == "700" and modes[1] == machine.shell("id -u fieldscribe").strip(), str(modes))
        expect(machine.shell("fieldscribe lock") == "locked\n", "the recorder cannot be locked")
        expect(machine.shell(search).strip() == "0" and machine.shell(COUNT_IN_MEMORY).strip() == "0", "the recorder is not locked")

        # The service is killed while recordings are open.
        insert(machine, path)
        machine.stick_out()
        expect(int(machine.shell(search)) >= 1, "the recordings were not opened the second time")
        machine.shell("process=$(systemctl show -P MainPID fieldscribe); systemctl kill --kill-whom=main --signal=KILL fieldscribe; "
                      # wait: polls until systemd has seen that the process is gone
                      "while [ $(systemctl show -P MainPID fieldscribe) = $process ]; do sleep 0.1; done")
        machine.until_ready()
        expect(machine.shell(COUNT_IN_MEMORY).strip() == "0", "a killed service left opened files: " + machine.shell(COUNT_IN_MEMORY))
        expect(machine.shell(search).strip() == "0" and "opened" not in machine.status(), "the recordings are open after a kill")

        # The stick is pulled while recordings are being opened, or shortly after that.
        machine.shell(HOLD)
        machine.shell("systemd-run --quiet --unit=hold-key sh /run/test/hold %s" % shlex.quote("[ $(%s) -gt 0 ]" % COUNT_IN_MEMORY))
        began = machine.note("pulled")
        machine.stick_in(path)
        machine.until("! systemctl is-active --quiet hold-key", 150)
        machine.stick_out()
        machine.wait_lamp(lambda lamp: lamp.fast_blinks(began), 150, "fast blinks: a fault, the key's stick was pulled")
        state_after_pull = "open" if "opened" in machine.status() else "not open"
        expect(not machine.shell(READABLE).strip(), "unencrypted: " + machine.shell(READABLE))
        machine.shell("fieldscribe lock")
        expect(machine.shell(search).strip() == "0" and machine.shell(COUNT_IN_MEMORY).strip() == "0", "the recorder is not locked")
        machine.shell("fieldscribe verify && sync")
        secret = [line for line in text(key).splitlines() if line.startswith("AGE-SECRET-KEY")][0]
        expect(secret not in machine.shell("journalctl --no-pager"), "the key is in the journal")
        machine.power_cut()
        found = subprocess.run(["grep", "-c", "-a", "-F", secret, machine.disk], capture_output=True, text=True)
        expect(found.stdout.strip() == "0", "the key is on the disk: " + found.stdout)
        return ("opened with a stick after %.0f s and searched, locked by a command and by a kill; %s after the stick was pulled "
                "too early; neither key nor transcript on the disk" % (seconds, state_after_pull))
