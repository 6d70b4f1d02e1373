"""Plugs in every bad stick: no foreign file changes, the messages are right, and a good stick then gets everything."""

import hashlib
import os
import shutil

from bad_sticks import ALWAYS, BAD_STICKS, LETTER, NEVER, read_letter, volume
from bench import Failed, expect
from stick import check_folders, next_stick, read_folder

PROCESS = "systemctl show -P MainPID fieldscribe"
DONE, FAILED = "safe to unplug", "not everything was copied"

# Waits until udev and systemd have seen the stick and all of its partitions, and all jobs for it are finished.
SETTLED = """cat >/run/test/settled <<'END'
# wait: polls for udev and systemd; timeout is the limit
until [ -b /dev/sda ]; do sleep 0.1; done
udevadm settle --timeout=200
for part in /sys/class/block/sda*; do
    # wait: polls, as above
    until systemctl --quiet is-active "dev-${part##*/}.device"; do sleep 0.2; done
done
running='systemctl list-units --no-legend --plain --state=activating,active,deactivating fieldscribe-export@*'
until [ -z "$($running)$(systemctl list-jobs --no-legend)" ]; do
    sleep 0.5 # wait: polls, as above
done
journalctl --sync
END
timeout %d sh /run/test/settled"""


def hostile(bench):
    """Plugs in every bad stick. No file on the machine and no foreign file on a stick may change."""
    with bench.appliance("sticks-hostile") as machine:
        machine.record(2)
        # wait: files that are written from now on have a later time on every file system
        machine.shell("touch /root/before; sleep 1.1")
        counts, failures = {DONE: 0, FAILED: 0, "": 0}, []
        for stick in BAD_STICKS:
            path = machine.path(stick.name + ".img")
            stick.make(path)
            try:
                counts[plug_in(machine, stick, path)] += 1
            except Failed as error:
                failures.append(str(error))
            for name in os.listdir(machine.work):
                if name.startswith(stick.name + ".img"):
                    leftover = machine.path(name)
                    shutil.rmtree(leftover) if os.path.isdir(leftover) else os.unlink(leftover)
        expect(not failures, "%d of %d: %s" % (len(failures), len(BAD_STICKS), "\n".join(failures)))
        changed = machine.shell("find / -xdev -newer /root/before ! -type d ! -path '/var/lib/fieldscribe/*' "
                                "! -path '/var/log/*' ! -path '/var/lib/systemd/*' ! -path '/root/before'; "
                                "find / -xdev -name '*pwned*'").split()
        expect(not changed, "files on the machine were changed: %s" % " ".join(changed))
        machine.shell("fieldscribe verify")
        machine.record(2)
        seconds = next_stick(machine, 2)
        return "%d sticks: %d ignored, %d refused with a fault, %d copied to and intact; then a good one after %.0f s" % (
            len(BAD_STICKS), counts[""], counts[FAILED], counts[DONE], seconds)


def plug_in(machine, stick, path):
    """Plugs a stick in, and pulls it out when the machine is idle again. Returns the message in the log: DONE, FAILED, or "" for none."""
    digest_before = digest(path)
    line_count, process = len(log_lines(machine)), machine.shell(PROCESS)
    began = machine.note("stick")
    machine.stick_in(path, **stick.options)
    machine.shell(SETTLED % 600, timeout=300)
    new_lines = log_lines(machine)[line_count:]
    found = [text for text in (FAILED, DONE) if any(text in line for line in new_lines)]
    message = found[0] if found else ""
    evidence = "stick %s: %s" % (stick.name, " | ".join(new_lines))
    if message == DONE:
        machine.wait_lamp(lambda lamp: lamp.safe_signals(began), 30, "three steady seconds for " + stick.name)
    elif message == FAILED:
        machine.wait_lamp(lambda lamp: lamp.fast_blinks(began), 30, "fast blinks for " + stick.name)
    machine.stick_out()
    lamp = machine.lamp()
    expect(stick.verdict != NEVER or message != DONE, evidence)
    expect(stick.verdict != ALWAYS or message == DONE, evidence)
    expect(message == DONE or not lamp.safe_signals(began), stick.name + ": the lamp showed that it is safe to unplug")
    expect(machine.shell(PROCESS) == process, stick.name + ": the service was restarted")
    if message == FAILED:
        # A press would acknowledge the fault, but also start a recording.
        machine.shell("systemctl restart fieldscribe")
        machine.until_ready()
    if not message:
        expect(digest(path) == digest_before, stick.name + ": the stick was changed without a message")
    for number, (kind, at) in enumerate(stick.volumes):
        expect(read_letter(path, kind, at) == LETTER, "%s: the foreign file was changed" % stick.name)
        if message == DONE:
            found = check_folders(read_folder(volume(path, at), kind, path + ".read%d" % number))
            expect(len(found) == 1, "%s: %d recordings instead of 1" % (stick.name, len(found)))
    return message


def log_lines(machine):
    return machine.shell("journalctl -b --no-pager -o cat -u 'fieldscribe-export@*' 2>/dev/null; true").splitlines()


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
