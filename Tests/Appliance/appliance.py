"""A machine with Fieldscribe, used as a person would use it: with button, lamp, microphone and sticks."""

import json
import os
import subprocess
import time

from crash import copy_journal
from lamp import LampHistory
from machine import SLOWDOWN, GuestError, Machine, Starved, TimedOut, EmulationFailed
from sound import room, write_wave

STORAGE = "/var/lib/fieldscribe"

# The played sound: two minutes in a quiet room in which somebody speaks after 4 and after 40 seconds.
SPEECH_AT = (4, 40)
ROOM = room(120, SPEECH_AT)

CONFIGURATION = """[capture]
device = alsa:hw:Loopback,1,0
[recognizer]
second-pass = no
workers = 1
"""

# Extends the watchdog's timeout, because an emulated machine may stall for longer than the default.
LONG_WATCHDOG = """mkdir -p /etc/systemd/system/fieldscribe.service.d
printf '[Service]\\nWatchdogSec=60\\n' >/etc/systemd/system/fieldscribe.service.d/emulated.conf"""
DEFAULT_WATCHDOG = """rm -r /etc/systemd/system/fieldscribe.service.d
systemctl daemon-reload && systemctl restart fieldscribe"""

# test-press SECONDS: presses and releases the button in one process, with a real-time priority so that nothing delays the release.
# Prints the actual duration in microseconds.
PRESS = """cat >/usr/local/sbin/test-press <<'END'
[ -p /run/test/never ] || mkfifo /run/test/never
exec 3<>/run/test/never 4>/sys/kernel/tracing/trace_marker 5>/run/test/button/pull
echo press >&4
began=$EPOCHREALTIME
echo pull-down >&5
read -r -t "$1" -u 3
echo pull-up >&5
ended=$EPOCHREALTIME
echo release >&4
echo $((${ended/./} - ${began/./}))
END
"""
# A press that lasts this many seconds is a hold, which has another meaning.
HOLD_SECONDS = 1.0

# The evidence of a failure, and the commands that collect it.
EVIDENCE = {
    "lamp.log": "cat /run/test/trace",
    "journal.log": "journalctl --no-pager -o short-monotonic",
    "units.log": "systemctl --no-pager --failed; systemctl status --no-pager -n 0 'fieldscribe*'; lsblk; mount; "
                 "timeout 5 fieldscribe status",
}


def write_into(disk, path, source):
    """Copies a file into an ext4 image that no running machine uses."""
    subprocess.run(["/sbin/debugfs", "-w", "-R", "write %s %s" % (source, path), disk], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Appliance(Machine):

    @classmethod
    def prepare(cls, image, package, work, state):
        """Boots a machine, installs the package, and saves the machine's state."""
        with cls(image, work) as machine:
            sound, settings = machine.path("room.wav"), machine.path("fieldscribe.conf")
            write_wave(sound, ROOM)
            with open(settings, "w") as file:
                file.write(CONFIGURATION)
            subprocess.run(["cp", "--sparse=always", image + "/root.img", machine.disk], check=True)
            for path, source in (("/root/room.wav", sound), ("/root/fieldscribe.conf", settings),
                                 ("/root/fieldscribe.deb", os.path.abspath(package))):
                write_into(machine.disk, path, source)
            machine.boot()
            machine.shell("install -D -m 644 /root/fieldscribe.conf /etc/fieldscribe/fieldscribe.conf")
            machine.shell(LONG_WATCHDOG)
            machine.shell("DEBIAN_FRONTEND=noninteractive dpkg --force-confold --install /root/fieldscribe.deb",
                          timeout=400)
            machine.until_ready()
            machine.shell(PRESS)
            # Fills the page cache for all scenarios.
            machine.shell("cat /usr/share/pocketsphinx/model/en-us/*/* /usr/bin/fieldscribe >/dev/null 2>&1; true")
            machine.shell("fieldscribe status; aplay --version; sync")
            machine.save(state)

    # The panel

    def press(self, seconds=0.1):
        """Presses and releases the button, even on a busy machine."""
        lasted = int(self.shell("chrt --fifo 40 bash /usr/local/sbin/test-press %.2f" % seconds)) / 1e6
        if seconds < HOLD_SECONDS * 0.9 <= lasted:
            raise Starved("a press of %.1f s lasted %.1f s" % (seconds, lasted))

    @staticmethod
    def marker():
        """Returns the file through which the tests add notes to the lamp's history."""
        return "/sys/kernel/tracing/trace_marker"

    def note(self, word):
        """Adds a note to the lamp's history and returns its time."""
        self.shell("echo %s >%s" % (word, self.marker()))
        return self.lamp().last(word)

    def lamp(self):
        return LampHistory(self.shell(EVIDENCE["lamp.log"]))

    def is_steady(self):
        """Returns whether the lamp has been on for more than two seconds."""
        now = self.note("asked")
        return self.lamp().lit_for(now) > 2

    def wait_lamp(self, shows, timeout, description):
        """Waits until `shows`, a function of the lamp's history, returns a true value, and returns that value."""
        return self.wait(lambda: shows(self.lamp()), timeout, "the lamp: " + description)

    # The microphone

    def play_sound(self):
        """Plays the sound into the microphone from the beginning."""
        self.shell("pkill -x aplay; while pgrep -x aplay >/dev/null; do sleep 0.1; done; "  # wait: polls until the sound card is free
                   "nice -n -10 setsid aplay -q -D hw:Loopback,0,0 "
                   "--buffer-time=2000000 /root/room.wav </dev/null >/dev/null 2>&1 &\n"
                   # wait: polls until it plays, for at most two minutes
                   "for i in $(seq 1200); do grep -q RUNNING /proc/asound/Loopback/pcm0p/sub0/status && exit 0; sleep 0.1; done; exit 1")

    # The service

    def until_ready(self, timeout=240):
        """Waits until the service is ready, and returns the machine's uptime at that moment in seconds."""
        self.until("systemctl is-active --quiet fieldscribe", timeout)
        ready = self.shell("systemctl show -P ActiveEnterTimestampMonotonic fieldscribe")
        return int(ready) / 1e6

    def status(self):
        status = json.loads(self.shell("fieldscribe status --json"))
        if (fault := status.get("lastFault")) and "nothing has reached the disk for" in fault["message"]:
            raise Starved("although its disk is a file on the host, " + fault["message"])
        return status

    def until_status(self, holds, timeout, description):
        def attempt():
            status = self.status()
            return status if holds(status) else None
        return self.wait(attempt, timeout, "the status: " + description)

    def transcript(self, recording):
        # Ignores stderr, which reports during a recording that the transcript is incomplete.
        return json.loads(self.shell("fieldscribe show %d --format json 2>/dev/null" % recording))

    def row(self, recording):
        """Returns the recording's row in `fieldscribe list`."""
        return next(it for it in json.loads(self.shell("fieldscribe list --json")) if it["id"] == recording)

    @staticmethod
    def text_of(transcript):
        return " ".join(segment["text"] for segment in transcript["segments"])

    def audio(self, recording):
        return self.read("%s/recordings/%06d/audio.wav" % (STORAGE, recording))

    def journal(self, unit="fieldscribe"):
        return self.shell("journalctl -b --no-pager -o short-monotonic -u '%s'" % unit)

    def record(self, seconds):
        """Records at least the given seconds, waits for the transcript, and returns the recording's ID."""
        self.play_sound()
        self.press()
        recording = self.until_recorded(seconds)["recording"]
        self.press()
        self.until_transcribed()
        return recording

    def until_recorded(self, seconds):
        return self.until_status(lambda it: it["state"] == "recording" and it["recordedSeconds"] >= seconds,
                                 90 + 3 * seconds, "%d s recorded" % seconds)

    def until_transcribed(self, timeout=240):
        """Waits until everything is transcribed."""
        self.until_status(lambda it: it["state"] == "idle" and it["backlogSeconds"] == 0, timeout, "all transcribed")

    # Evidence

    def __exit__(self, *error):
        try:
            if error[0] and self.process:
                self.leave_evidence()
        finally:
            super().__exit__(*error)
        if error[0] and os.path.exists(self.disk):
            # Copies the journal from the disk, which works even if the machine does not answer.
            copy_journal(self.disk, self.work)
            os.unlink(self.disk)

    def leave_evidence(self, names=tuple(EVIDENCE)):
        """Saves the evidence of a failure next to the console log."""
        end = time.monotonic() + 30
        for name in names:
            try:
                output = self.shell(EVIDENCE[name], timeout=max(0.1, end - time.monotonic()) / SLOWDOWN, check=False)
            except (GuestError, TimedOut, EmulationFailed, OSError) as error:
                output = "unavailable: %s\n" % error
            with open(self.path(name), "w") as file:
                file.write(str(LampHistory(output)) if name == "lamp.log" else output)
