"""Power cuts while recording: at most two seconds of sound are lost, and everything else is intact."""

import os
import random
import re
import sqlite3
import threading
import time

from appliance import STORAGE
from bench import Failed, expect, same_as_heard
from crash import Writes, mend, rescue, take
from machine import Starved
from sound import RATE, samples_of

MOST_LOST = 1.0
BLOCK = 4096
# The limit for the emulated machine's seconds from its kernel's start until the service is ready.
READY_WITHIN = 120
SOUND_CARD = "/proc/asound/Loopback/pcm1c/sub0/status"


class Clock(threading.Thread):
    """Records when each write reached the record, by watching it grow."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.sizes, self.ended = path, [], False

    def run(self):
        while not self.ended:
            size = os.path.getsize(self.path)
            if not self.sizes or size != self.sizes[-1][1]:
                self.sizes.append((time.monotonic(), size))
            time.sleep(0.01)  # wait: samples the size; a late look dates a write too late, which errs on the safe side

    def when(self, place):
        """When the record was seen to reach beyond a place in it: slightly too late, never too early."""
        return next(moment for moment, size in self.sizes if size > place)


class Recorded:
    """One recording, from before its first press until it is transcribed, on a disk whose writes are all recorded."""

    def __init__(self, bench, name, seconds):
        with bench.appliance(name, log_writes=True) as machine:
            clock = Clock(machine.path("writes"))
            clock.start()
            machine.room_sounds()
            begins = os.path.getsize(clock.path)
            machine.press()
            self.number = machine.until_recorded(2)["recording"]
            known = os.path.getsize(clock.path)
            self.captured = self._count(machine)
            machine.until_recorded(seconds)
            again = self._count(machine)
            shown = [(self._texts(machine), os.path.getsize(clock.path))]
            stops = os.path.getsize(clock.path)
            machine.press()
            machine.until_written()
            shown.append((self._texts(machine), os.path.getsize(clock.path)))
            self.length = len(samples_of(machine.audio(self.number))) / 2 / RATE
            # Later checks run without the machine, and have no other evidence.
            machine.leave_evidence(["lamp.log", "journal.log"])
            machine.power_cut()
            self.cut = time.monotonic()
            clock.ended = True
            clock.join()
            # The results mean nothing unless the machine's sound card and our clock agree.
            drift = (again[1] - self.captured[1]) / RATE - (again[0] - self.captured[0])
            if abs(drift) >= 0.5:
                raise Starved("the machine's sound card is %.2f s off our clock" % drift)
            self.clock, self.writes = clock, Writes(clock.path)
            self.folder = machine.work
        # The number of writes before the press; when the archive knew of the recording; at the stop; in all.
        self.begins, self.known, self.stops = (self.writes.before(place) for place in (begins, known, stops))
        self.end = len(self.writes.entries)
        # Texts shown to a person after that many writes: they must persist.
        self.shown = [(texts, self.writes.before(place)) for texts, place in shown]
        self.base = os.path.join(bench.state, "root.img")
        self.audio = "%s/recordings/%06d/audio.wav" % (STORAGE, self.number)

    def _texts(self, machine):
        return [segment["text"] for segment in machine.transcript(self.number)["segments"]]

    @staticmethod
    def _count(machine):
        """(moment, samples that the sound card had captured by then), from the fastest of several queries."""
        best = None
        for _ in range(8):
            asked = time.monotonic()
            said = machine.shell("cat " + SOUND_CARD)
            took = time.monotonic() - asked
            if best is None or took < best[0]:  # wait: picks the fastest answer, and asserts nothing
                best = (took, asked, int(re.search(r"hw_ptr\s*: (\d+)", said)[1]))
        return best[1:]

    def fed(self, at):
        """The seconds of sound captured before a cut after this many writes; slightly too many, never too few."""
        moment = self.cut if at == self.end else self.clock.when(self.writes.entries[at][3])
        return min(max(0.0, self.captured[1] / RATE + (moment - self.captured[0])), self.length)

    def judge(self, disk, at, texts_too=True):
        """Checks a disk that a cut after this many writes left; returns the seconds of lost sound."""
        expect(mend(disk), "the file system cannot be repaired")
        names = [STORAGE + "/archive.sqlite", STORAGE + "/archive.sqlite-wal", self.audio]
        for name in names:
            target = os.path.join(self.folder, name.rsplit("/", 1)[1])
            if os.path.exists(target):
                os.unlink(target)
        archive, _, audio = take(disk, self.folder, names)
        expect(os.path.exists(archive), "the archive is gone")
        with sqlite3.connect(archive) as database:
            whole = database.execute("PRAGMA integrity_check").fetchone()[0]
            rows = database.execute("SELECT count(*) FROM recording WHERE id = %d" % self.number).fetchone()[0]
            texts = [row[0] for row in database.execute(
                "SELECT text FROM segment JOIN pass ON pass.id = segment.pass WHERE recording = %d" % self.number)]
        database.close()
        expect(whole == "ok", "the archive: " + whole)
        expect(rows == 1 or rows == 0 and at < self.known, "the archive does not know of the recording")
        for shown, after in self.shown if texts_too else []:
            expect(at < after or set(shown) <= set(texts), "of %s only %s is left" % (shown, texts))
        return max(0.0, self.fed(at) - same_as_heard(written(read(audio)), "%s on the disk" % self.audio))


def read(path):
    """The content of a file; empty if it does not exist."""
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        return file.read()


def written(audio):
    """A recording's file without the zeros at the end of its last block: ext4 may store a new length before the sound itself, if
    the file already has the block. The next start drops such zeros."""
    last = max(0, len(audio) - 1) // BLOCK * BLOCK
    tail = audio[last:].rstrip(b"\0")
    return audio[:last] + tail + b"\0" * (len(tail) % 2)


def cuts(recorded, states, seed):
    """Returns this many cuts: (entries, keep, tear). They include one after the last write, with all and with no unflushed writes kept."""
    chance, end = random.Random(seed), recorded.end
    fixed = [(end, 1.0, False), (end, 0.0, False), (end, 0.5, True), (recorded.stops, 0.0, False)]
    for _ in range(states - len(fixed)):
        at = chance.randrange(recorded.begins, end + 1)
        fixed.append((at, chance.choice([0.0, 0.0, 0.5, 1.0]), chance.random() < 0.5))
    return fixed[:states]


def replay(recorded, states, seed):
    """Judges this many cuts; returns the largest loss."""
    disk, worst = os.path.join(recorded.folder, "crash.img"), 0.0
    for number, (at, keep, tear) in enumerate(cuts(recorded, states, seed)):
        recorded.writes.rebuild(recorded.base, disk, at, keep, tear, seed=seed * 1000 + number)
        try:
            lost = recorded.judge(disk, at)
            expect(lost <= MOST_LOST, "%.2f s are lost" % lost)
        except (Failed, AssertionError, sqlite3.Error) as error:
            rescue(disk, recorded.folder)
            raise Failed("cut %d (after %d of %d writes, %d %% of the unflushed kept%s, seed %d): %s" % (
                number, at, recorded.end, keep * 100, ", torn" if tear else "", seed, error))
        worst = max(worst, lost)
    return worst


def control(recorded):
    """Negative control: if a disk ignores every flush after two seconds, the same check must find that too much sound is
    lost. Text may be lost, too, if some had been shown by then."""
    disk = os.path.join(recorded.folder, "crash.img")
    recorded.writes.rebuild(recorded.base, disk, recorded.stops, flushed=recorded.known)
    lost = recorded.judge(disk, recorded.stops, texts_too=False)
    expect(lost > MOST_LOST, "without flushes no more than %.2f s are lost: the check detects nothing" % lost)
    return lost


def after_cut(bench, recorded, keep, seed):
    """Switches on again after a cut during a recording: the service gets ready, the recording is closed without too much loss and
    transcribed, and the next press records. Returns (the machine's seconds until ready, seconds lost)."""
    name = os.path.join(os.path.basename(recorded.folder), "again")
    disk = os.path.join(recorded.folder, "again.img")
    recorded.writes.rebuild(recorded.base, disk, recorded.stops, keep, True, seed)
    with bench.appliance(name, cold=True, disk=disk) as machine:
        os.unlink(disk)
        machine.boot()
        ready = machine.until_ready()
        expect(ready < READY_WITHIN, "ready only after %.0f s" % ready)
        machine.until_written()
        machine.shell("fieldscribe verify")
        errors = machine.shell("journalctl -b -k -o cat | grep -E 'EXT4-fs (error|warning)'; true")
        expect(not errors, errors)
        row, kept = machine.row(recorded.number), same_as_heard(machine.audio(recorded.number), "after the start")
        expect(row["stopReason"] == "cut short", "the recording ended by '%s'" % row["stopReason"])
        expect(abs(row["duration"] - kept) < 0.001, "%.3f s are listed, %.3f s were kept" % (row["duration"], kept))
        lost = recorded.fed(recorded.stops) - kept
        expect(lost <= MOST_LOST, "%.2f s are lost after the start" % lost)
        text = machine.text_of(machine.transcript(recorded.number))
        expect("forward" in text.split(), "the speech before the cut was transcribed as '%s'" % text)
        expect(machine.record(2) > recorded.number, "no new recording")
    return ready, lost


def power_cut(states, boots, seconds=9, seed=1, name="power-cut"):
    """Returns a scenario: a recording, cut at this many moments from before its press until its text is there; this many boots from
    such disks; and the negative control."""
    def scenario(bench):
        recorded = Recorded(bench, name, seconds)
        worst = replay(recorded, states, seed)
        seen = control(recorded)
        again = [after_cut(bench, recorded, (0.0, 1.0, 0.5)[number % 3], seed + number) for number in range(boots)]
        return "%d states of %d writes, at most %.2f s lost (%.2f s without flushes: the control); after a cut while " \
            "recording ready again after %s s with %s s lost, closed, transcribed" % (
                states, recorded.end - recorded.begins, worst, seen, ", ".join("%.0f" % ready for ready, _ in again),
                ", ".join("%.2f" % lost for _, lost in again))
    return scenario
