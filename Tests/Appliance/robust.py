"""What happens to a machine in a cupboard: a wrong clock, a full disk, processes that die or hang."""

import json
import re
import time

from appliance import IMPATIENCE, STORAGE
from bench import expect


def clock(bench):
    """Recorded while the clock says 2001; once it is set, the recording is dated anew."""
    with bench.appliance("clock") as machine:
        machine.shell("date -s '2001-01-01 00:00:00'; systemctl restart fieldscribe")
        machine.until_ready()
        number = machine.record(2)
        before = one(machine, number)
        expect(before["clock"] == "unverified" and before["start"].startswith("2001-"), before)
        # What systemd-timesyncd does, once it has heard from its servers.
        machine.shell("date -s '2026-11-21 12:00:00'; mkdir -p /run/systemd/timesync; "
                      "touch /run/systemd/timesync/synchronized")
        after = machine.wait(lambda: it if (it := one(machine, number))["clock"] == "synchronized" else None, 120,
                             "the recording dated anew")
        expect(re.match(r"2026-11-21T1[12]:", after["start"]), after)
        return "%s became %s" % (before["start"], after["start"])


def one(machine, number):
    return next(it for it in json.loads(machine.shell("fieldscribe list --json")) if it["id"] == number)


def disk_full(bench):
    """The disk fills while recording: it ends before the reserve is gone, whole, with a fault; and records again."""
    with bench.appliance("disk-full") as machine:
        machine.room_sounds()
        machine.press()
        number = machine.until_recorded(2)["recording"]
        # A little more than the reserve of 256,000,000 bytes is left, then a little less.
        machine.shell("free=$(df --output=avail -k / | tail -n 1); fallocate -l $((free - 252000))K /root/filler; "
                      "dd if=/dev/zero of=/root/more bs=1M count=4 status=none; sync")
        machine.wait_lamp(lambda lamp: lamp.fast_blinks(), 90, "fast blinks: a fault")
        machine.until_status(lambda it: it["recording"] is None if "recording" in it else True, 60, "closed")
        fault = machine.status()["lastFault"]
        reason = one(machine, number)["stopReason"]
        expect(reason == "disk" and fault["code"] == "full", "ended by '%s', fault %s" % (reason, fault))
        machine.shell("rm /root/filler /root/more; sync; fieldscribe verify")
        machine.record(2)
        return "ended by '%s', fault %s, whole; then it recorded again" % (reason, fault["code"])


def worker_killed(bench):
    """The decode worker is killed in mid-sentence: the recording goes on, and the text comes all the same."""
    with bench.appliance("worker-killed") as machine:
        machine.room_sounds()
        machine.press()
        number = machine.until_recorded(6)["recording"]
        machine.shell("pkill -KILL -f 'exe decode-worker'")
        machine.until_recorded(9)
        machine.press()
        machine.until_written()
        transcript = machine.transcript(number)
        text = machine.text_of(transcript)
        expect("forward" in text.split(), "it wrote '%s'" % text)
        expect(transcript["gaps"] == [], "gaps: %s" % transcript["gaps"])
        return "text '%s', no gap" % text


def service_killed(bench):
    """The service is killed while recording: it is back, closes or continues the recording, and records again."""
    with bench.appliance("service-killed") as machine:
        machine.room_sounds()
        machine.press()
        number = machine.until_recorded(3)["recording"]
        machine.note("killed")
        machine.shell("systemctl kill --signal=KILL --kill-whom=main fieldscribe")
        machine.until("systemctl is-active --quiet fieldscribe && fieldscribe status", 90)
        lamp = machine.lamp()
        killed = lamp.last("killed")
        ready = machine.until_ready() - killed
        if machine.status()["state"] == "recording":
            machine.press()
        machine.until_written()
        machine.shell("fieldscribe verify")
        length = one(machine, number)["duration"]
        expect(length >= 2, "%.1f s left of the recording" % length)
        again = machine.record(2)
        expect(again > number, "no new recording")
        return "ready again after %.1f s, %.1f s of the recording kept, and recorded again" % (ready, length)


def service_hangs(bench):
    """The service is stopped as a hang would: the watchdog ends it, and it is back."""
    with bench.appliance("service-hangs") as machine:
        machine.shell(IMPATIENCE, timeout=240)
        machine.until_ready()
        machine.note("hung")
        machine.shell("systemctl kill --signal=STOP --kill-whom=main fieldscribe")
        machine.until("test $(systemctl show -P NRestarts fieldscribe) -ge 1 && "
                      "systemctl is-active --quiet fieldscribe && fieldscribe status", 150)
        back = machine.until_ready() - machine.lamp().last("hung")
        # Within 15 s on a board; this machine is emulated.
        expect(back < 30, "back only after %.0f s" % back)
        machine.record(2)
        return "back %.0f s after it hung, and recorded" % back


def line_taken(bench):
    """Another program has the button's line: log, status and doctor tell who; it records all the same, and once the line
    is free the button is heard."""
    with bench.appliance("line-taken") as machine:
        machine.shell("systemctl stop fieldscribe; systemd-run --quiet --unit=thief gpiomon --consumer thief GPIO17")
        machine.until("gpioinfo GPIO17 | grep thief")
        machine.shell("systemctl start fieldscribe", timeout=240)
        told = "gpio:GPIO17: used by thief; stop that, or name another line"
        machine.until("journalctl -b -o cat -u fieldscribe | grep -F '%s'" % told)
        expect(machine.status()["lastFault"]["code"] == "panel", "the status tells of %s" % machine.status()["lastFault"])
        doctor = machine.shell("fieldscribe doctor", timeout=400, check=False)
        expect(all(part in doctor for part in told.split("; ")), doctor)
        machine.room_sounds()
        machine.shell("fieldscribe start")
        machine.until_recorded(2)
        machine.shell("fieldscribe stop")
        # The fault waits for a press, so that the state is not idle again.
        machine.until_status(lambda it: it["state"] == "faulted" and it["backlogSeconds"] == 0, 720, "all written down")
        machine.shell("systemctl stop thief")
        began = time.monotonic()
        machine.until("gpioinfo GPIO17 | grep fieldscribe", 120)
        seconds = time.monotonic() - began
        machine.record(2)
        return "'%s' by log and doctor; recorded without it; %.0f s after it was free, the button was heard" % (
            told, seconds)
