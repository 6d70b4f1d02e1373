"""Power on, press, speak, press: the speech is transcribed by PocketSphinx or Moonshine."""

import glob
import json
import os
import tarfile

from bench import expect, check_played
from machine import Starved
from stick import fill, make_stick, run, text
from upgrade import copy_to_machine

# The maximum seconds from a press to the lamp. A board takes 0.1; this machine is emulated.
MAXIMUM_RESPONSE = 0.3
# The words that the played speech contains.
SPOKEN = "go forward ten meters"


def power_on(bench):
    """After power-on, the lamp is off and the service becomes ready. A recording with a bookmark has the right sound and transcript."""
    with bench.appliance("power-on", cold=True) as machine:
        return record_and_check(machine, "pocketsphinx", has_most_words)


def power_on_stick(bench):
    """Runs `power-on`, then plugs a stick in: the copy has the right transcript, and RESULT.txt answers the corrections on the stick."""
    with bench.appliance("power-on-stick", cold=True) as machine:
        figures = record_and_check(machine, "pocketsphinx", has_most_words)
        path = machine.path("stick.img")
        make_stick(path, "vfat")
        put_corrections(machine, path)
        seconds, root, (folder,) = fill(machine, path, 1, "copy")
        # The copy and the service have both parsed the corrections, each in a sandboxed process.
        answer = text(os.path.join(root, "RESULT.txt"))
        expect("belongs to recording 9, which is not in this archive" in answer, "RESULT.txt says: " + answer)
        copied = text(os.path.join(root, folder, "transcript.txt"))
        expect(has_most_words(words_of(copied)), "spoken: '%s'; on the stick: '%s'" % (SPOKEN, copied))
        return "%s, copied to a stick in %.0f s" % (figures, seconds)


def put_corrections(machine, path):
    """Puts corrections for an unknown recording on a stick."""
    corrections = machine.path("corrections.json")
    with open(corrections, "w") as file:
        json.dump({"format": "fieldscribe-corrections", "version": 1, "recording": {"id": 9, "sound": "a" * 64},
                   "editor": {"name": "Ann", "saved": 1}, "segments": []}, file)
    run("mmd", "-i", "%s@@1M" % path, "::Fieldscribe")
    run("mcopy", "-i", "%s@@1M" % path, corrections, "::Fieldscribe/corrections.json")


def power_on_moonshine(bench):
    """Installs Moonshine's packages by hand, as on a board without a network, and runs `power-on`. The transcript must have exactly the
    spoken words."""
    with bench.appliance("power-on-moonshine", cold=True) as machine:
        machine.boot()
        machine.until_ready()
        packages = machine.path("packages.tar")
        with tarfile.open(packages, "w") as archive:
            for package in glob.glob(os.path.join(bench.model, "*.deb")):
                archive.add(package, os.path.basename(package))
        copy_to_machine(machine, packages, "/root/packages.tar")
        machine.until_transcribed()
        process = machine.shell("systemctl show -P MainPID fieldscribe")
        machine.shell("cd /root && tar -xf packages.tar && dpkg --install fieldscribe-*.deb && rm packages.tar fieldscribe-*.deb",
                      timeout=400)
        machine.until_ready()
        expect(machine.shell("systemctl show -P MainPID fieldscribe") != process, "the idle service did not restart with the new engine")
        # Tests the new engine after another power-on.
        machine.shell("sync")
        machine.power_cut()
        return record_and_check(machine, "moonshine", lambda words: words == SPOKEN.split())


def record_and_check(machine, engine, is_right):
    """Switches the machine on and makes a recording with a bookmark, which `engine` must transcribe; `is_right` checks the words. Returns
    the figures."""
    machine.boot()
    ready = machine.until_ready()
    expect(machine.lamp().changes == [], "the lamp was on although the button was not pressed")
    idle = int(machine.shell("sed -n 's/^VmRSS:[^0-9]*\\([0-9]*\\) kB/\\1/p' "
                             "/proc/$(systemctl show -P MainPID fieldscribe)/status"))
    machine.play_sound()
    machine.press()
    recording = machine.until_recorded(5)["recording"]
    # If the machine decodes as fast as people speak, nothing is left to decode after the last press, and the lamp does not pulse.
    # This therefore stops the decode workers during the speech, until the lamp has pulsed.
    workers = "--parent $(systemctl show -P MainPID fieldscribe) --full decode-worker"
    # wait: polls for new workers, which it stops
    machine.shell("rm -f /run/continue-workers; setsid sh -c 'while ! [ -e /run/continue-workers ]; do pkill -STOP %s; sleep 0.1; done; pkill -CONT %s' "
                  "</dev/null >/dev/null 2>&1 &" % (workers, workers))
    machine.press(seconds=1.4)
    status = machine.until_recorded(9)
    expect(status["microphone"]["health"] == "alive", "the microphone is %s" % status["microphone"]["health"])
    machine.press()
    machine.wait_lamp(lambda it: pulses_of(it, it.last("press")), 60, "a pulse while transcribing")
    machine.shell("touch /run/continue-workers")
    machine.until_transcribed()
    lamp = machine.wait_lamp(lambda it: it if not it.changes[-1][1] else None, 10, "off when all is transcribed")
    expect(not lamp.fast_blinks(), "the lamp showed a fault")
    (began, marked, ended), (_, hold_released, _) = lamp.all("press"), lamp.all("release")
    response = lamp.lit_after(began) - began
    if response >= MAXIMUM_RESPONSE:
        # The runner repeats the scenario. If the recorder is slow, it fails again.
        raise Starved("the lamp showed a press only after %.0f ms" % (response * 1000))
    # The lamp blinks for the press, and then shows that sound reaches the disk.
    expect(lamp.lit_for(marked) > 3, "the lamp was not steady between the press and the bookmark")
    expect(lamp.changes_in(hold_released + 1, ended) == 0 and lamp.lit_for(ended) > 1, "the lamp was not steady after the bookmark")
    expect(pulses_of(lamp, ended), "the lamp did not pulse while transcribing")

    transcript = machine.transcript(recording)
    text = machine.text_of(transcript)
    expect(is_right(words_of(text)), "spoken: '%s'; transcribed: '%s'" % (SPOKEN, text))
    expect(len(transcript["marks"]) == 1, "%d bookmarks instead of one" % len(transcript["marks"]))
    expect(transcript["gaps"] == [], "gaps: %s" % transcript["gaps"])
    expect(transcript["engine"]["name"] == engine, "engine: %s" % transcript["engine"])

    sound = check_played(machine.audio(recording), "the recording")
    expect(abs(sound - (ended - began)) < 1.5, "%.1f s were recorded between presses %.1f s apart" % (sound, ended - began))
    machine.shell("fieldscribe verify")
    return "ready after %.0f s, idle %.1f MB resident, press to lamp %.0f ms, %.1f s sample-exact, transcript '%s', 1 bookmark" % (
        ready, idle * 1.024e-3, response * 1000, sound, text)


def pulses_of(lamp, since):
    """Returns the lengths of the pulses since a time. They show that speech is being transcribed."""
    return [length for _, length, lit in lamp.phases(since) if lit and 0.8 < length < 1.2]


def has_most_words(words):
    """Returns whether at least three of the four spoken words were recognized, which is what PocketSphinx can do."""
    return sum(word in words for word in SPOKEN.split()) >= 3


def words_of(text):
    """Returns the words of a text in lower case and without punctuation."""
    return [word for word in (word.strip(".,?!;:'\"-").lower() for word in text.split()) if word]
