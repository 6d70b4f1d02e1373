"""Installs a newer package during a recording."""

import os
import subprocess

from appliance import STORAGE
from bench import expect, check_played


def make_newer_package(package, folder):
    """Makes a copy of the package with a newer version, and returns the path and the version of the copy."""
    tree = os.path.join(folder, "tree")
    subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
    control = os.path.join(tree, "DEBIAN", "control")
    with open(control) as file:
        lines = file.read().splitlines()
    version = next(line for line in lines if line.startswith("Version: ")).split()[1] + "+newer"
    with open(control, "w") as file:
        file.write("".join(("Version: " + version if line.startswith("Version: ") else line) + "\n" for line in lines))
    target = os.path.join(folder, "newer.deb")
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree, target], check=True,
                   stdout=subprocess.DEVNULL)
    return target, version


def copy_to_machine(machine, path, target):
    """Copies a file into the machine as the content of a stick without a file system. Pads the file to whole sectors."""
    size = os.path.getsize(path)
    with open(path, "ab") as file:
        file.write(b"\0" * (-size % 512))
    machine.stick_in(path)
    machine.until("test -b /dev/sda && head -c %d /dev/sda >%s && test $(stat -c %%s %s) = %d" % (size, target, target, size))
    machine.stick_out()


def upgrade(bench):
    """Installing a newer package closes the running recording and keeps earlier ones, and the newer version records."""
    with bench.appliance("upgrade") as machine:
        package, version = make_newer_package(bench.package, machine.work)
        copy_to_machine(machine, package, "/root/newer.deb")
        earlier_recording = machine.record(2)
        sums = "sha256sum /etc/fieldscribe/fieldscribe.conf %s/recordings/%06d/audio.wav" % (STORAGE, earlier_recording)
        sums_before = machine.shell(sums)
        machine.play_sound()
        machine.press()
        recording = machine.until_recorded(4)["recording"]
        began = machine.note("upgrade")
        machine.shell("DEBIAN_FRONTEND=noninteractive dpkg --install /root/newer.deb </dev/null", timeout=400)
        ready = machine.until_ready() - began
        machine.until_transcribed()
        expect(machine.shell("dpkg-query -W -f '${Version}' fieldscribe") == version, "the newer version is not installed")
        # Of the sound before the old service was stopped, at most one second may be missing.
        journal = machine.shell("journalctl -b -o short-monotonic -u fieldscribe | grep -m 1 'Stopping' | tr -d '[]'")
        expected = float(journal.split()[0]) - machine.lamp().lit_after(machine.lamp().last("press"))
        row = machine.row(recording)
        expect(row["stopReason"] == "shutdown", "the stop reason is '%s'" % row["stopReason"])
        expect(row["duration"] > expected - 1, "%.1f s of %.1f s were recorded" % (row["duration"], expected))
        sound = check_played(machine.audio(recording), "the recording")
        expect("forward" in machine.text_of(machine.transcript(recording)).split(), "the speech was not transcribed")
        expect(machine.shell(sums) == sums_before, "the configuration or an earlier recording was changed")
        expect(not machine.lamp().fast_blinks(), "the lamp showed a fault")
        machine.shell("fieldscribe verify")
        next_recording = machine.record(2)
        expect(next_recording > recording, "there is no new recording")
        return "closed by '%s' with %.1f s sample-exact, transcribed; ready %.1f s after dpkg started; then it recorded" % (
            row["stopReason"], sound, ready)
