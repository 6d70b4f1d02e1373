"""Faults in the field: a wrong clock, a full disk, processes that die or hang."""

import time
from datetime import datetime, timezone

from appliance import DEFAULT_WATCHDOG
from bench import expect, same_as_heard
from stick import acknowledge


def clock(bench):
    """Power on with the clock at 2001, which systemd may replace by another wrong time. Setting it corrects the recording's date."""
    with bench.appliance("clock", cold=True) as machine:
        machine.boot("-rtc", "base=2001-01-01T00:00:00")
        machine.until_ready()
        number = machine.record(2)
        before = machine.row(number)
        expect(before["clock"] == "unverified" and not before["start"].startswith("2030-"), before)
        # As systemd-timesyncd does after an answer from its servers.
        machine.shell("date -s '2030-11-21 12:00:00'; mkdir -p /run/systemd/timesync; "
                      "touch /run/systemd/timesync/synchronized")
        elapsed = machine.note("set") - machine.lamp().first("press")
        after = machine.wait(lambda: it if (it := machine.row(number))["clock"] == "synchronized" else None, 120,
                             "the corrected date of the recording")
        off = (datetime.fromisoformat(after["start"]) - datetime(2030, 11, 21, 12, tzinfo=timezone.utc)).total_seconds() + elapsed
        expect(abs(off) < 5, "the recording of %.1f s before 12:00 is dated %s" % (elapsed, after["start"]))
        return "%s became %s, %.1f s off" % (before["start"], after["start"], off)


def ended_by_disk(machine, number):
    """Checks a recording that a full disk ended; returns its row in the archive and its seconds of sound."""
    row, sound = machine.row(number), same_as_heard(machine.audio(number), "the recording")
    expect(row["stopReason"] == "disk", "the stop reason is '%s'" % row["stopReason"])
    expect(abs(sound - row["duration"]) < 0.001 and sound >= 2, "%.3f s of %.3f s are left" % (sound, row["duration"]))
    return row, sound


def disk_full(bench):
    """The disk fills while recording: the recording ends intact above the reserve, with a fault; later the appliance records again."""
    with bench.appliance("disk-full") as machine:
        machine.room_sounds()
        machine.press()
        number = machine.until_recorded(2)["recording"]
        # A little more than the reserve of 256,000,000 bytes is left, then a little less.
        machine.shell("free=$(df --output=avail -k / | tail -n 1); fallocate -l $((free - 252000))K /root/filler; "
                      "dd if=/dev/zero of=/root/more bs=1M count=4 status=none; sync")
        machine.wait_lamp(lambda lamp: lamp.fast_blinks(), 90, "fast blinks: a fault")
        machine.until_status(lambda it: it.get("recording") is None, 60, "closed")
        fault = machine.status()["lastFault"]
        expect(fault["code"] == "full", "the fault is %s" % fault)
        row, sound = ended_by_disk(machine, number)
        machine.shell("rm /root/filler /root/more; sync; fieldscribe verify")
        acknowledge(machine)
        return "ended by '%s', fault %s, %.1f s sample-exact; then it recorded again" % (row["stopReason"], fault["code"], sound)


def disk_brimful(bench):
    """Other programs fill the disk to its last block while recording, including reserve and ballast: the sound captured until then
    stays, and once there is space again, the archive lists it without a restart."""
    with bench.appliance("disk-brimful") as machine:
        machine.room_sounds()
        machine.press()
        number = machine.until_recorded(3)["recording"]
        # In one step: on a disk that fills slowly, the recording ends at the reserve.
        machine.shell("free=$(($(stat -f -c '%f * %S' /root))); fallocate -l $((free - 8000000)) /root/filler; "
                      "! cat /dev/zero 2> /dev/null > /root/more")
        machine.wait_lamp(lambda lamp: lamp.fast_blinks(), 90, "fast blinks: a fault")
        # The appliance frees its ballast to close the recording; other programs take that space, too.
        # wait: fills what is freed until the recording is closed, and for five seconds or more
        machine.shell("fill() { cat /dev/zero >> /root/more; sleep 1; }; for _ in 1 2 3 4 5; do fill; done; "
                      "while fieldscribe status --json | grep -q '\"recording\":[0-9]'; do fill; done", timeout=120)
        fault = machine.until_status(lambda it: it.get("recording") is None, 60, "closed")["lastFault"]
        expect(fault["code"] == "full", "the fault is %s" % fault)
        before = machine.row(number)
        expect(before["stopReason"] == "cut short", "there was room for the stop reason '%s'" % before["stopReason"])
        machine.shell("rm /root/filler /root/more; sync")
        machine.until_status(lambda it: it["backlogSeconds"] == 0 and machine.row(number)["duration"] > 0, 240, "entered")
        machine.shell("fieldscribe verify")
        row, sound = ended_by_disk(machine, number)
        acknowledge(machine)
        return "%.1f s sample-exact, '%s' while there was no room, then '%s'; then it recorded again" % (
            sound, before["stopReason"], row["stopReason"])


def worker_killed(bench):
    """Both decode workers, which share a model, are killed in mid-sentence: the recording continues, and the text is still
    complete."""
    with bench.appliance("worker-killed") as machine:
        machine.shell("sed -i 's/^workers = 1$/workers = 2/' /etc/fieldscribe/fieldscribe.conf; "
                      "systemctl restart fieldscribe")
        machine.until_ready()
        machine.room_sounds()
        machine.press()
        number = machine.until_recorded(6)["recording"]
        # One is a copy of the other, and both are the service's own children, in its sandbox.
        workers = ("pgrep --parent $(systemctl show --property MainPID --value fieldscribe) "
                   "--full 'exe decode-worker.* --copies 1'")
        machine.until("[ $(%s | wc -l) -eq 2 ]" % workers, 60)
        heard = machine.status()["recordedSeconds"]
        machine.shell("kill -KILL $(%s)" % workers)
        machine.until_recorded(heard + 3)
        machine.press()
        machine.until_written()
        transcript = machine.transcript(number)
        text = machine.text_of(transcript)
        expect("forward" in text.split(), "transcribed '%s'" % text)
        expect(transcript["gaps"] == [], "gaps: %s" % transcript["gaps"])
        return "text '%s', no gap" % text


def service_killed(bench):
    """The service is killed while recording: it restarts, closes or continues the recording, and records again."""
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
        length = machine.row(number)["duration"]
        expect(length >= 2, "%.1f s left of the recording" % length)
        again = machine.record(2)
        expect(again > number, "no new recording")
        return "ready again after %.1f s, %.1f s of the recording kept, and recorded again" % (ready, length)


def service_hangs(bench):
    """A signal stops the service, as if it hung: the watchdog ends it, and it restarts."""
    with bench.appliance("service-hangs") as machine:
        machine.shell(DEFAULT_WATCHDOG, timeout=240)
        machine.until_ready()
        machine.note("hung")
        machine.shell("systemctl kill --signal=STOP --kill-whom=main fieldscribe")
        machine.until("test $(systemctl show -P NRestarts fieldscribe) -ge 1 && "
                      "systemctl is-active --quiet fieldscribe && fieldscribe status", 150)
        back = machine.until_ready() - machine.lamp().last("hung")
        expect(back < 15, "back only after %.0f s" % back)
        expect("Watchdog timeout" in machine.journal(), "it was not the watchdog that ended it")
        machine.record(2)
        return "back %.0f s after it hung, and recorded" % back


def line_taken(bench):
    """Another program uses the button's line: log, status and doctor name it. The appliance still records, and once the line
    is free the button works."""
    with bench.appliance("line-taken") as machine:
        machine.shell("systemctl stop fieldscribe; systemd-run --quiet --unit=thief gpiomon --consumer thief GPIO17")
        machine.until("gpioinfo GPIO17 | grep thief")
        machine.shell("systemctl start fieldscribe", timeout=240)
        told = "gpio:GPIO17: used by thief; stop it, or name another line"
        machine.until("journalctl -b -o cat -u fieldscribe | grep -F '%s'" % told)
        expect(machine.status()["lastFault"]["code"] == "panel", "the status reports %s" % machine.status()["lastFault"])
        doctor = machine.shell("fieldscribe doctor", timeout=400, check=False)
        expect(all(part in doctor for part in told.split("; ")), doctor)
        machine.room_sounds()
        machine.shell("fieldscribe start")
        machine.until_recorded(2)
        machine.shell("fieldscribe stop")
        # The fault stays until a press, so the state does not become idle.
        machine.until_status(lambda it: it["state"] == "faulted" and it["backlogSeconds"] == 0, 720, "all transcribed")
        machine.shell("systemctl stop thief")
        began = time.monotonic()
        machine.until("gpioinfo GPIO17 | grep fieldscribe", 120)
        seconds = time.monotonic() - began
        machine.record(2)
        return "log and doctor say '%s'; recorded without the button, which worked %.0f s after its line was free" % (
            told, seconds)
