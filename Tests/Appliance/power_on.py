"""Power on, press, speak, press: the speech is transcribed, by PocketSphinx and by Moonshine."""

import glob
import json
import os
import tarfile

from bench import expect, same_as_heard
from machine import Starved
from stick import fill, make_stick, run, text
from upgrade import bring

# The limit for the seconds from a press to the lamp: 0.1 on a board; this machine is emulated.
ANSWERED = 0.3
# The words spoken during the recording.
SAID = "go forward ten meters"


def power_on(bench):
    """From power-on to the text: the lamp is off, the service gets ready, and a recording with a mark has the right sound and text."""
    with bench.appliance("power-on", cold=True) as machine:
        return recorded(machine, "pocketsphinx", says_most)


def power_on_stick(bench):
    """Runs `power-on`, then plugs a stick in: the copy is complete with the right text, and corrections on the stick are answered."""
    with bench.appliance("power-on-stick", cold=True) as machine:
        figures = recorded(machine, "pocketsphinx", says_most)
        path = machine.path("stick.img")
        make_stick(path, "vfat")
        put_corrections(machine, path)
        seconds, root, (folder,) = fill(machine, path, 1, "copy")
        # Both the copy and the service have read them, each in a confined process in its own sandbox.
        answer = text(os.path.join(root, "RESULT.txt"))
        expect("belongs to recording 9, which is not in this archive" in answer, "RESULT.txt says: " + answer)
        copied = text(os.path.join(root, folder, "transcript.txt"))
        expect(says_most(words_of(copied)), "said '%s'; on the stick '%s'" % (SAID, copied))
        return "%s, copied to a stick in %.0f s" % (figures, seconds)


def put_corrections(machine, path):
    """Puts corrections of an unknown recording onto a stick."""
    corrections = machine.path("corrections.json")
    with open(corrections, "w") as file:
        json.dump({"format": "fieldscribe-corrections", "version": 1, "recording": {"id": 9, "sound": "a" * 64},
                   "editor": {"name": "Ann", "saved": 1}, "segments": []}, file)
    run("mmd", "-i", "%s@@1M" % path, "::Fieldscribe")
    run("mcopy", "-i", "%s@@1M" % path, corrections, "::Fieldscribe/corrections.json")


def power_on_moonshine(bench):
    """Runs `power-on` after Moonshine's packages were installed by hand, as on a board without a network: the text has every
    spoken word and no other."""
    with bench.appliance("power-on-moonshine", cold=True) as machine:
        machine.boot()
        machine.until_ready()
        packages = machine.path("packages.tar")
        with tarfile.open(packages, "w") as archive:
            for package in glob.glob(os.path.join(bench.model, "*.deb")):
                archive.add(package, os.path.basename(package))
        bring(machine, packages, "/root/packages.tar")
        machine.until_written()
        process = machine.shell("systemctl show -P MainPID fieldscribe")
        machine.shell("cd /root && tar -xf packages.tar && dpkg --install fieldscribe-*.deb && rm packages.tar fieldscribe-*.deb",
                      timeout=400)
        machine.until_ready()
        expect(machine.shell("systemctl show -P MainPID fieldscribe") != process, "the idle service did not restart with the new engine")
        # The next power-on is the first with the new engine.
        machine.shell("sync")
        machine.power_cut()
        return recorded(machine, "moonshine", lambda words: words == SAID.split())


def recorded(machine, engine, is_right):
    """Switches on and makes a recording with a mark, which that engine transcribes; `is_right` judges its words. Returns the figures."""
    machine.boot()
    ready = machine.until_ready()
    expect(machine.lamp().changes == [], "the lamp was on although nobody pressed")
    idle = int(machine.shell("sed -n 's/^VmRSS:[^0-9]*\\([0-9]*\\) kB/\\1/p' "
                             "/proc/$(systemctl show -P MainPID fieldscribe)/status"))
    machine.room_sounds()
    machine.press()
    number = machine.until_recorded(5)["recording"]
    # A machine that decodes as fast as people speak has nothing left to decode at the last press, and its lamp does not pulse. So the
    # decode workers are stopped from here, during the speech, until the lamp has pulsed.
    readers = "--parent $(systemctl show -P MainPID fieldscribe) --full decode-worker"
    # wait: polls for workers to stop
    machine.shell("rm -f /run/let-go; setsid sh -c 'while ! [ -e /run/let-go ]; do pkill -STOP %s; sleep 0.1; done; pkill -CONT %s' "
                  "</dev/null >/dev/null 2>&1 &" % (readers, readers))
    machine.press(seconds=1.4)
    status = machine.until_recorded(9)
    expect(status["microphone"]["health"] == "alive", "the microphone is %s" % status["microphone"]["health"])
    machine.press()
    machine.wait_lamp(lambda it: pulses_of(it, it.last("press")), 60, "a pulse while transcribing")
    machine.shell("touch /run/let-go")
    machine.until_written()
    lamp = machine.wait_lamp(lambda it: it if not it.changes[-1][1] else None, 10, "off when all is transcribed")
    expect(not lamp.fast_blinks(), "the lamp showed a fault")
    (began, marked, ended), (_, let_go, _) = lamp.all("press"), lamp.all("release")
    answered = lamp.lit_after(began) - began
    if answered >= ANSWERED:
        # The scenario runs again; a recorder that is slow fails again.
        raise Starved("the lamp showed a press only after %.0f ms" % (answered * 1000))
    # The lamp showed the press, and then that sound reached the disk.
    expect(lamp.lit_for(marked) > 3, "the lamp was not steady between press and mark")
    expect(lamp.changes_in(let_go + 1, ended) == 0 and lamp.lit_for(ended) > 1, "the lamp was not steady after the mark")
    expect(pulses_of(lamp, ended), "the lamp did not pulse while transcribing")

    transcript = machine.transcript(number)
    text = machine.text_of(transcript)
    expect(is_right(words_of(text)), "said '%s'; transcribed '%s'" % (SAID, text))
    expect(len(transcript["marks"]) == 1, "%d marks instead of one" % len(transcript["marks"]))
    expect(transcript["gaps"] == [], "gaps: %s" % transcript["gaps"])
    expect(transcript["engine"]["name"] == engine, "engine: %s" % transcript["engine"])

    sound = same_as_heard(machine.audio(number), "the recording")
    expect(abs(sound - (ended - began)) < 1.5, "%.1f s recorded between presses %.1f s apart" % (sound, ended - began))
    machine.shell("fieldscribe verify")
    return "ready after %.0f s, idle %.1f MB resident, press to lamp %.0f ms, %.1f s sample-exact, text '%s', 1 mark" % (
        ready, idle * 1.024e-3, answered * 1000, sound, text)


def pulses_of(lamp, since):
    """The lengths of the pulses since a moment, while transcribing."""
    return [length for _, length, lit in lamp.phases(since) if lit and 0.8 < length < 1.2]


def says_most(words):
    """Whether at least three of the four spoken words are there, as PocketSphinx recognizes them."""
    return sum(word in words for word in SAID.split()) >= 3


def words_of(said):
    """The words of a text, in lower case and without punctuation."""
    return [word for word in (word.strip(".,?!;:'\"-").lower() for word in said.split()) if word]
