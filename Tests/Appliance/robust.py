"""Faults in the field: a wrong clock, a full disk, and processes that die or hang."""

import time
from datetime import datetime, timezone

from appliance import DEFAULT_WATCHDOG
from bench import expect, check_played
from stick import acknowledge


def clock(bench):
    """Power-on with the clock at 2001, which systemd may replace with another wrong time. Once the clock is set, the recording's date is
    corrected."""
    with bench.appliance("clock", cold=True) as machine:
        machine.boot("-rtc", "base=2001-01-01T00:00:00")
        machine.until_ready()
        recording = machine.record(2)
        before = machine.row(recording)
        expect(before["clock"] == "unverified" and not before["start"].startswith("2030-"), before)
        # Does what systemd-timesyncd does when a server has answered.
        machine.shell("date -s '2030-11-21 12:00:00'; mkdir -p /run/systemd/timesync; "
                      "touch /run/systemd/timesync/synchronized")
        elapsed = machine.note("set") - machine.lamp().first("press")
        after = machine.wait(lambda: it if (it := machine.row(recording))["clock"] == "synchronized" else None, 120,
                             "the corrected date of the recording")
        error = (datetime.fromisoformat(after["start"]) - datetime(2030, 11, 21, 12, tzinfo=timezone.utc)).total_seconds() + elapsed
        expect(abs(error) < 5, "the recording made %.1f s before 12:00 is dated %s" % (elapsed, after["start"]))
        return "%s became %s, an error of %.1f s" % (before["start"], after["start"], error)


def check_stopped_by_disk(machine, recording):
    """Checks a recording that a full disk stopped. Returns its row in the archive and its seconds of sound."""
    row, sound = machine.row(recording), check_played(machine.audio(recording), "the recording")
    expect(row["stopReason"] == "disk", "the stop reason is '%s'" % row["stopReason"])
    expect(abs(sound - row["duration"]) < 0.001 and sound >= 2, "the file has %.3f s of %.3f s" % (sound, row["duration"]))
    return row, sound


def disk_full(bench):
    """The disk fills during a recording, which is closed intact at the reserve, with a fault. Later, the appliance records again."""
    with bench.appliance("disk-full") as machine:
        machine.play_sound()
        machine.press()
        recording = machine.until_recorded(2)["recording"]
        # Leaves first a little more than the reserve of 256,000,000 bytes, then a little less.
        machine.shell("free=$(df --output=avail -k / | tail -n 1); fallocate -l $((free - 252000))K /root/filler; "
                      "dd if=/dev/zero of=/root/more bs=1M count=4 status=none; sync")
        machine.wait_lamp(lambda lamp: lamp.fast_blinks(), 90, "fast blinks: a fault")
        machine.until_status(lambda it: it.get("recording") is None, 60, "closed")
        fault = machine.status()["lastFault"]
        expect(fault["code"] == "full", "the fault is %s" % fault)
        row, sound = check_stopped_by_disk(machine, recording)
        machine.shell("rm /root/filler /root/more; sync; fieldscribe verify")
        acknowledge(machine)
        return "stopped by '%s', fault %s, %.1f s sample-exact; then it recorded again" % (row["stopReason"], fault["code"], sound)


def disk_brimful(bench):
    """Other programs fill the disk during a recording, including reserve and ballast. The sound that was captured until then stays. Once
    there is space again, the archive lists the recording without a restart."""
    with bench.appliance("disk-brimful") as machine:
        machine.play_sound()
        machine.press()
        recording = machine.until_recorded(3)["recording"]
        # Fills the disk in one step. If it filled slowly, the recording would be closed at the reserve.
        machine.shell("free=$(($(stat -f -c '%f * %S' /root))); fallocate -l $((free - 8000000)) /root/filler; "
                      "! cat /dev/zero 2> /dev/null > /root/more")
        machine.wait_lamp(lambda lamp: lamp.fast_blinks(), 90, "fast blinks: a fault")
        # The appliance frees its ballast to close the recording; other programs fill that space, too.
        # wait: fills freed space until the recording is closed, for at least five seconds
        machine.shell("fill() { cat /dev/zero >> /root/more; sleep 1; }; for _ in 1 2 3 4 5; do fill; done; "
                      "while fieldscribe status --json | grep -q '\"recording\":[0-9]'; do fill; done", timeout=120)
        fault = machine.until_status(lambda it: it.get("recording") is None, 60, "closed")["lastFault"]
        expect(fault["code"] == "full", "the fault is %s" % fault)
        before = machine.row(recording)
        expect(before["stopReason"] == "cut short", "the stop reason '%s' was stored on a full disk" % before["stopReason"])
        machine.shell("rm /root/filler /root/more; sync")
        machine.until_status(lambda it: it["backlogSeconds"] == 0 and machine.row(recording)["duration"] > 0, 240, "the recording listed")
        machine.shell("fieldscribe verify")
        row, sound = check_stopped_by_disk(machine, recording)
        acknowledge(machine)
        return "%.1f s sample-exact, '%s' while the disk was full, then '%s'; then it recorded again" % (
            sound, before["stopReason"], row["stopReason"])


def worker_killed(bench):
    """Both decode workers, which share a model, are killed during a sentence: the recording continues, and the transcript is
    complete."""
    with bench.appliance("worker-killed") as machine:
        machine.shell("sed -i 's/^workers = 1$/workers = 2/' /etc/fieldscribe/fieldscribe.conf; "
                      "systemctl restart fieldscribe")
        machine.until_ready()
        machine.play_sound()
        machine.press()
        recording = machine.until_recorded(6)["recording"]
        # One worker is forked from the other, but both are children of the service and in its sandbox.
        workers = ("pgrep --parent $(systemctl show --property MainPID --value fieldscribe) "
                   "--full 'exe decode-worker.* --copies 1'")
        machine.until("[ $(%s | wc -l) -eq 2 ]" % workers, 60)
        seconds = machine.status()["recordedSeconds"]
        machine.shell("kill -KILL $(%s)" % workers)
        machine.until_recorded(seconds + 3)
        machine.press()
        machine.until_transcribed()
        transcript = machine.transcript(recording)
        text = machine.text_of(transcript)
        expect("forward" in text.split(), "transcribed '%s'" % text)
        expect(transcript["gaps"] == [], "gaps: %s" % transcript["gaps"])
        return "transcript '%s', no gap" % text


def service_killed(bench):
    """The service is killed while recording: it restarts, closes or continues the recording, and records again."""
    with bench.appliance("service-killed") as machine:
        machine.play_sound()
        machine.press()
        recording = machine.until_recorded(3)["recording"]
        machine.note("killed")
        machine.shell("systemctl kill --signal=KILL --kill-whom=main fieldscribe")
        machine.until("systemctl is-active --quiet fieldscribe && fieldscribe status", 90)
        lamp = machine.lamp()
        killed = lamp.last("killed")
        ready = machine.until_ready() - killed
        if machine.status()["state"] == "recording":
            machine.press()
        machine.until_transcribed()
        machine.shell("fieldscribe verify")
        length = machine.row(recording)["duration"]
        expect(length >= 2, "the recording has only %.1f s" % length)
        next_recording = machine.record(2)
        expect(next_recording > recording, "there is no new recording")
        return "ready again after %.1f s; the recording has %.1f s; then it recorded again" % (ready, length)


def service_hangs(bench):
    """A signal stops the service as if it hung: the watchdog kills it, and it restarts."""
    with bench.appliance("service-hangs") as machine:
        machine.shell(DEFAULT_WATCHDOG, timeout=240)
        machine.until_ready()
        machine.note("hung")
        machine.shell("systemctl kill --signal=STOP --kill-whom=main fieldscribe")
        machine.until("test $(systemctl show -P NRestarts fieldscribe) -ge 1 && "
                      "systemctl is-active --quiet fieldscribe && fieldscribe status", 150)
        delay = machine.until_ready() - machine.lamp().last("hung")
        expect(delay < 15, "the service was ready again only after %.0f s" % delay)
        expect("Watchdog timeout" in machine.journal(), "the watchdog did not kill the service")
        machine.record(2)
        return "ready again %.0f s after it hung; then it recorded" % delay


def line_taken(bench):
    """Another program uses the button's line: log and doctor name that program, and the status has a fault. The appliance still records,
    and once the line is free, the button works."""
    with bench.appliance("line-taken") as machine:
        machine.shell("systemctl stop fieldscribe; systemd-run --quiet --unit=thief gpiomon --consumer thief GPIO17")
        machine.until("gpioinfo GPIO17 | grep thief")
        machine.shell("systemctl start fieldscribe", timeout=240)
        message = "gpio:GPIO17: used by thief; stop that program, or choose another line"
        machine.until("journalctl -b -o cat -u fieldscribe | grep -F '%s'" % message)
        expect(machine.status()["lastFault"]["code"] == "panel", "the status reports %s" % machine.status()["lastFault"])
        doctor = machine.shell("fieldscribe doctor", timeout=400, check=False)
        expect(all(text in doctor for text in message.split("; ")), doctor)
        machine.play_sound()
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
        return "log and doctor report '%s'; recorded without the button, which worked %.0f s after its line was free" % (
            message, seconds)
