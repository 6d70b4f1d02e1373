"""Every stick of the zoo, one after the other: no harm, no false message, and the next good stick gets everything."""

import hashlib
import os
import shutil

from bench import Failed, expect
from stick import check_folders, next_stick, read_folder
from zoo import ALWAYS, LETTER, NEVER, ZOO, read_letter, volume

PROCESS = "systemctl show -P MainPID fieldscribe"
DONE, FAILED = "safe to unplug", "not everything was copied"

# Waits until udev and systemd have seen the stick with all of its partitions, and all jobs for it have ended.
SETTLED = """cat >/run/test/settled <<'END'
# wait: polls for udev and systemd; timeout is the guard
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
    """Plugs in every stick of the zoo; no file of the machine and no foreign file on a stick may change."""
    with bench.appliance("sticks-hostile") as machine:
        machine.record(2)
        # wait: what is written from now on has a later time on every file system
        machine.shell("touch /root/before; sleep 1.1")
        became, wrong = {DONE: 0, FAILED: 0, "": 0}, []
        for one in ZOO:
            path = machine.path(one.name + ".img")
            one.make(path)
            try:
                became[show(machine, one, path)] += 1
            except Failed as error:
                wrong.append(str(error))
            for name in os.listdir(machine.work):
                if name.startswith(one.name + ".img"):
                    whole = machine.path(name)
                    shutil.rmtree(whole) if os.path.isdir(whole) else os.unlink(whole)
        expect(not wrong, "%d of %d: %s" % (len(wrong), len(ZOO), "\n".join(wrong)))
        changed = machine.shell("find / -xdev -newer /root/before ! -type d ! -path '/var/lib/fieldscribe/*' "
                                "! -path '/var/log/*' ! -path '/var/lib/systemd/*' ! -path '/root/before'; "
                                "find / -xdev -name '*pwned*'").split()
        expect(not changed, "files of the machine were changed: %s" % " ".join(changed))
        machine.shell("fieldscribe verify")
        machine.record(2)
        seconds = next_stick(machine, 2)
        return "%d sticks: %d left alone, %d refused with a fault, %d copied to and intact; then a good one after %.0f s" % (
            len(ZOO), became[""], became[FAILED], became[DONE], seconds)


def show(machine, one, path):
    """Plugs a stick in, and pulls it out when the machine is idle again; returns the message in the log, or "" without one."""
    before = digest(path)
    heard, process = len(lines(machine)), machine.shell(PROCESS)
    began = machine.note("stick")
    machine.stick_in(path, **one.options)
    machine.shell(SETTLED % 600, timeout=300)
    new = lines(machine)[heard:]
    said = [word for word in (FAILED, DONE) if any(word in line for line in new)]
    what = said[0] if said else ""
    evidence = "stick %s: %s" % (one.name, " | ".join(new))
    if what == DONE:
        machine.wait_lamp(lambda lamp: lamp.done(began), 30, "three steady seconds for " + one.name)
    elif what == FAILED:
        machine.wait_lamp(lambda lamp: lamp.fast_blinks(began), 30, "fast blinks for " + one.name)
    machine.stick_out()
    lamp = machine.lamp()
    expect(one.verdict != NEVER or what != DONE, evidence)
    expect(one.verdict != ALWAYS or what == DONE, evidence or one.name)
    expect(what == DONE or not lamp.done(began), one.name + ": the lamp said that it is safe to unplug")
    expect(machine.shell(PROCESS) == process, one.name + ": the service was restarted")
    if what == FAILED:
        # A press would acknowledge the fault, but also start a recording.
        machine.shell("systemctl restart fieldscribe")
        machine.until_ready()
    if not what:
        expect(digest(path) == before, one.name + ": it was written to without a message")
    for number, (kind, at) in enumerate(one.volumes):
        expect(read_letter(path, kind, at) == LETTER, "%s: the letter was changed" % one.name)
        if what == DONE:
            found = check_folders(read_folder(volume(path, at), kind, path + ".read%d" % number))
            expect(len(found) == 1, "%s: %d recordings instead of 1" % (one.name, len(found)))
    return what


def lines(machine):
    return machine.shell("journalctl -b --no-pager -o cat -u 'fieldscribe-export@*' 2>/dev/null; true").splitlines()


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
