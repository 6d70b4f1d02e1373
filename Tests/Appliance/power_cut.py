"""Power cuts during a recording: at most one second of sound is lost, and everything else is intact."""

import os
import random
import re
import sqlite3
import threading
import time

from appliance import STORAGE
from bench import Failed, expect, check_played
from crash import Writes, copy_files, copy_journal, repair
from machine import Starved
from sound import RATE, samples_of

MAXIMUM_LOSS = 1.0
BLOCK = 4096
# The maximum seconds in the emulated machine from the kernel's start until the service is ready.
MAXIMUM_READY_SECONDS = 120
SOUND_CARD = "/proc/asound/Loopback/pcm1c/sub0/status"


class WriteClock(threading.Thread):
    """Notes when each write was added to the record of writes, by watching the size of the record."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.sizes, self.ended = path, [], False

    def run(self):
        while not self.ended:
            size = os.path.getsize(self.path)
            if not self.sizes or size != self.sizes[-1][1]:
                self.sizes.append((time.monotonic(), size))
            time.sleep(0.01)  # wait: samples the size; a late sample dates a write too late, which errs on the safe side

    def when(self, position):
        """Returns the time at which the record grew beyond a position: slightly too late, never too early."""
        return next(time for time, size in self.sizes if size > position)


class CutRecording:
    """A recording on a disk whose writes are all recorded, from before the first press until the transcript is complete."""

    def __init__(self, bench, name, seconds):
        with bench.appliance(name, log_writes=True) as machine:
            clock = WriteClock(machine.path("writes"))
            clock.start()
            machine.play_sound()
            begins = os.path.getsize(clock.path)
            machine.press()
            self.recording = machine.until_recorded(2)["recording"]
            listed = os.path.getsize(clock.path)
            self.captured = self._count(machine)
            machine.until_recorded(seconds)
            later = self._count(machine)
            shown = [(self._texts(machine), os.path.getsize(clock.path))]
            stops = os.path.getsize(clock.path)
            machine.press()
            machine.until_transcribed()
            shown.append((self._texts(machine), os.path.getsize(clock.path)))
            self.length = len(samples_of(machine.audio(self.recording))) / 2 / RATE
            # Saves the evidence now, because the later checks run without the machine.
            machine.leave_evidence(["lamp.log", "journal.log"])
            machine.power_cut()
            self.cut = time.monotonic()
            clock.ended = True
            clock.join()
            # The results are only valid if the machine's sound card and our clock agree.
            drift = (later[1] - self.captured[1]) / RATE - (later[0] - self.captured[0])
            if abs(drift) >= 0.5:
                raise Starved("the machine's sound card is %.2f s off our clock" % drift)
            self.clock, self.writes = clock, Writes(clock.path)
            self.folder = machine.work
        # The number of writes until the press, until the archive listed the recording, until the second press, and in total.
        self.begins, self.listed, self.stops = (self.writes.before(position) for position in (begins, listed, stops))
        self.end = len(self.writes.entries)
        # The texts that were shown to the user after a number of writes. A later cut must not lose them.
        self.shown = [(texts, self.writes.before(position)) for texts, position in shown]
        self.base = os.path.join(bench.state, "root.img")
        self.audio = "%s/recordings/%06d/audio.wav" % (STORAGE, self.recording)

    def _texts(self, machine):
        return [segment["text"] for segment in machine.transcript(self.recording)["segments"]]

    @staticmethod
    def _count(machine):
        """Returns (time, samples that the sound card had captured by then), from the fastest of several queries."""
        best = None
        for _ in range(8):
            asked = time.monotonic()
            output = machine.shell("cat " + SOUND_CARD)
            elapsed = time.monotonic() - asked
            if best is None or elapsed < best[0]:  # wait: selects the fastest answer and asserts nothing
                best = (elapsed, asked, int(re.search(r"hw_ptr\s*: (\d+)", output)[1]))
        return best[1:]

    def captured_before(self, count):
        """Returns the seconds of sound captured before a cut after `count` writes: slightly too many, never too few."""
        moment = self.cut if count == self.end else self.clock.when(self.writes.entries[count][3])
        return min(max(0.0, self.captured[1] / RATE + (moment - self.captured[0])), self.length)

    def check(self, disk, count, checks_texts=True):
        """Checks the disk after a cut that follows `count` writes, and returns the seconds of lost sound."""
        expect(repair(disk), "the file system cannot be repaired")
        names = [STORAGE + "/archive.sqlite", STORAGE + "/archive.sqlite-wal", self.audio]
        for name in names:
            target = os.path.join(self.folder, name.rsplit("/", 1)[1])
            if os.path.exists(target):
                os.unlink(target)
        archive, _, audio = copy_files(disk, self.folder, names)
        expect(os.path.exists(archive), "the archive is missing")
        with sqlite3.connect(archive) as database:
            result = database.execute("PRAGMA integrity_check").fetchone()[0]
            rows = database.execute("SELECT count(*) FROM recording WHERE id = %d" % self.recording).fetchone()[0]
            texts = [row[0] for row in database.execute(
                "SELECT text FROM segment JOIN pass ON pass.id = segment.pass WHERE recording = %d" % self.recording)]
        database.close()
        expect(result == "ok", "integrity_check of the archive: " + result)
        expect(rows == 1 or rows == 0 and count < self.listed, "the archive does not list the recording")
        for shown, after in self.shown if checks_texts else []:
            expect(count < after or set(shown) <= set(texts), "of the texts %s, only %s remain" % (shown, texts))
        return max(0.0, self.captured_before(count) - check_played(without_padding(read(audio)), "%s on the disk" % self.audio))


def read(path):
    """Returns the content of a file; empty if it does not exist."""
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        return file.read()


def without_padding(audio):
    """Returns a recording's file without the zeros at the end of its last block. ext4 may store a new length before the sound if the
    file already has that block. The next start removes such zeros."""
    last = max(0, len(audio) - 1) // BLOCK * BLOCK
    tail = audio[last:].rstrip(b"\0")
    return audio[:last] + tail + b"\0" * (len(tail) % 2)


def cuts(recorded, states, seed):
    """Returns cuts as (number of writes, keep, tear). They include cuts after the last write, with all and with none of the unflushed writes
    kept."""
    generator, end = random.Random(seed), recorded.end
    chosen = [(end, 1.0, False), (end, 0.0, False), (end, 0.5, True), (recorded.stops, 0.0, False)]
    for _ in range(states - len(chosen)):
        at = generator.randrange(recorded.begins, end + 1)
        chosen.append((at, generator.choice([0.0, 0.0, 0.5, 1.0]), generator.random() < 0.5))
    return chosen[:states]


def replay(recorded, states, seed):
    """Checks the disk after each cut and returns the largest loss in seconds."""
    disk, maximum_loss = os.path.join(recorded.folder, "crash.img"), 0.0
    for number, (at, keep, tear) in enumerate(cuts(recorded, states, seed)):
        recorded.writes.rebuild(recorded.base, disk, at, keep, tear, seed=seed * 1000 + number)
        try:
            lost = recorded.check(disk, at)
            expect(lost <= MAXIMUM_LOSS, "%.2f s are lost" % lost)
        except (Failed, AssertionError, sqlite3.Error) as error:
            copy_journal(disk, recorded.folder)
            raise Failed("cut %d (after %d of %d writes, %d %% of the unflushed kept%s, seed %d): %s" % (
                number, at, recorded.end, keep * 100, ", torn" if tear else "", seed, error))
        maximum_loss = max(maximum_loss, lost)
    return maximum_loss


def control(recorded):
    """Runs the negative control: if the disk ignores every flush after the first two seconds, the check must find that too much sound is
    lost. Does not check the texts, which may also be lost."""
    disk = os.path.join(recorded.folder, "crash.img")
    recorded.writes.rebuild(recorded.base, disk, recorded.stops, flushed=recorded.listed)
    lost = recorded.check(disk, recorded.stops, checks_texts=False)
    expect(lost > MAXIMUM_LOSS, "even without flushes, only %.2f s are lost, so the check detects nothing" % lost)
    return lost


def after_cut(bench, recorded, keep, seed):
    """Boots after a cut during a recording: the service becomes ready, the recording is closed with an acceptable loss and transcribed, and
    the next press records. Returns (the machine's seconds until ready, the lost seconds)."""
    name = os.path.join(os.path.basename(recorded.folder), "again")
    disk = os.path.join(recorded.folder, "again.img")
    recorded.writes.rebuild(recorded.base, disk, recorded.stops, keep, True, seed)
    with bench.appliance(name, cold=True, disk=disk) as machine:
        os.unlink(disk)
        machine.boot()
        ready = machine.until_ready()
        expect(ready < MAXIMUM_READY_SECONDS, "the service was ready only after %.0f s" % ready)
        machine.until_transcribed()
        machine.shell("fieldscribe verify")
        errors = machine.shell("journalctl -b -k -o cat | grep -E 'EXT4-fs (error|warning)'; true")
        expect(not errors, errors)
        row = machine.row(recorded.recording)
        sound = check_played(machine.audio(recorded.recording), "the recording after the start")
        expect(row["stopReason"] == "cut short", "the stop reason is '%s'" % row["stopReason"])
        expect(abs(row["duration"] - sound) < 0.001, "%.3f s are listed, but the file has %.3f s" % (row["duration"], sound))
        lost = recorded.captured_before(recorded.stops) - sound
        expect(lost <= MAXIMUM_LOSS, "%.2f s are lost after the next start" % lost)
        text = machine.text_of(machine.transcript(recorded.recording))
        expect("forward" in text.split(), "the speech before the cut was transcribed as '%s'" % text)
        expect(machine.record(2) > recorded.recording, "there is no new recording")
    return ready, lost


def power_cut(states, boots, seconds=9, seed=1, name="power-cut"):
    """Returns a scenario: a recording with `states` simulated cuts between the first press and the complete transcript, `boots` boots
    from such disks, and the negative control."""
    def scenario(bench):
        recorded = CutRecording(bench, name, seconds)
        maximum_loss = replay(recorded, states, seed)
        control_loss = control(recorded)
        again = [after_cut(bench, recorded, (0.0, 1.0, 0.5)[number % 3], seed + number) for number in range(boots)]
        return "%d cuts in %d writes, at most %.2f s lost (negative control without flushes: %.2f s); after a cut during " \
            "a recording, ready again after %s s with %s s lost, closed and transcribed" % (
                states, recorded.end - recorded.begins, maximum_loss, control_loss, ", ".join("%.0f" % ready for ready, _ in again),
                ", ".join("%.2f" % lost for _, lost in again))
    return scenario
