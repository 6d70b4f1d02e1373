"""The plug is pulled while recording: at most two seconds of sound are lost, and all else is whole."""

import os
import random
import re
import shutil
import sqlite3
import threading
import time

from appliance import ROOM, STORAGE
from bench import Failed, expect
from crash import Writes, mend, take
from machine import Starved
from sound import RATE, equal_samples, place_in, samples_of

MOST_LOST = 2.0
SOUND_CARD = "/proc/asound/Loopback/pcm1c/sub0/status"


class Clock(threading.Thread):
    """Tells when each write reached the record, by watching it grow."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.sizes, self.ended = path, [], False

    def run(self):
        while not self.ended:
            size = os.path.getsize(self.path)
            if not self.sizes or size != self.sizes[-1][1]:
                self.sizes.append((time.monotonic(), size))
            time.sleep(0.01)

    def when(self, place):
        """The moment until which the record had not reached beyond a place in it."""
        earlier = [moment for moment, size in self.sizes if size <= place]
        return earlier[-1] if earlier else self.sizes[0][0]


class Recorded:
    """What a machine was doing when its plug was pulled."""

    def __init__(self, bench, name, seconds, barriers=True):
        with bench.appliance(name, log_writes=True) as machine:
            clock = Clock(machine.path("writes"))
            clock.start()
            if not barriers:
                machine.shell("mount -o remount,barrier=0 /")
            machine.room_sounds()
            machine.press()
            self.number = machine.until_recorded(2)["recording"]
            self.begins = len(Writes(machine.path("writes")).entries)
            self.captured = self._count(machine)
            machine.until_recorded(seconds)
            again = self._count(machine)
            machine.power_cut()
            self.cut = time.monotonic()
            clock.ended = True
            clock.join()
            # The sound card of the machine and our clock agree, or what follows means nothing.
            drift = (again[1] - self.captured[1]) / RATE - (again[0] - self.captured[0])
            if abs(drift) >= 0.5:
                raise Starved("the machine's sound card is %.2f s off our clock" % drift)
            self.clock, self.writes = clock, Writes(machine.path("writes"))
            self.folder = machine.work
        self.base = os.path.join(bench.state, "root.img")
        self.audio = "%s/recordings/%06d/audio.wav" % (STORAGE, self.number)

    @staticmethod
    def _count(machine):
        """(moment, samples the sound card had taken by then): of several questions, the one answered fastest."""
        best = None
        for _ in range(8):
            asked = time.monotonic()
            said = machine.shell("cat " + SOUND_CARD)
            took = time.monotonic() - asked
            if best is None or took < best[0]:
                best = (took, asked, int(re.search(r"hw_ptr\s*: (\d+)", said)[1]))
        return best[1:]

    def fed(self, moment):
        """Seconds of sound that the sound card had taken at a moment; rather too many than too few."""
        return self.captured[1] / RATE + (moment - self.captured[0])

    def judge(self, disk, moment):
        """Checks a disk that a cut at a moment left; returns the seconds of sound that are lost."""
        expect(mend(disk), "the file system does not hold")
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
        database.close()
        expect(whole == "ok", "the archive: " + whole)
        expect(rows == 1, "the archive does not know of the recording")
        expect(os.path.exists(audio), "the audio file is gone")
        with open(audio, "rb") as file:
            data = file.read()
        playable, recorded = samples_of(data), data[data.index(b"data") + 8:]
        place = place_in(ROOM, recorded)
        expect(place is not None, "the recording does not begin with what was heard")
        same = equal_samples(ROOM, recorded, place, 0)
        expect(same >= len(playable) // 2, "sample %d of %d that the header tells of is not what was heard" % (
            same, len(playable) // 2))
        return max(0.0, self.fed(moment) - same / RATE)


def cuts(recorded, states, seed):
    """So many cuts: (entries, keep, tear), among them the last one with all and with nothing unflushed kept."""
    chance, end = random.Random(seed), len(recorded.writes.entries)
    fixed = [(end, 1.0, False), (end, 0.0, False), (end, 0.5, True)]
    for _ in range(states - len(fixed)):
        at = chance.randrange(recorded.begins, end + 1)
        fixed.append((at, chance.choice([0.0, 0.0, 0.5, 1.0]), chance.random() < 0.5))
    return fixed[:states]


def replay(recorded, states, seed):
    """Judges so many cuts; returns the most that was lost."""
    disk, worst = os.path.join(recorded.folder, "crash.img"), 0.0
    end = len(recorded.writes.entries)
    for number, (at, keep, tear) in enumerate(cuts(recorded, states, seed)):
        recorded.writes.rebuild(recorded.base, disk, at, keep, tear, seed=seed * 1000 + number)
        moment = recorded.cut if at == end else recorded.clock.when(recorded.writes.entries[at][3])
        what = "cut %d (after %d of %d writes, %d %% of the unflushed kept%s, seed %d)" % (
            number, at, end, keep * 100, ", torn" if tear else "", seed)
        try:
            lost = recorded.judge(disk, moment)
        except (Failed, AssertionError, sqlite3.Error) as error:
            raise Failed("%s: %s" % (what, error))
        expect(lost <= MOST_LOST, "%s: %.2f s are lost" % (what, lost))
        worst = max(worst, lost)
    return worst


def after_cut(bench, recorded, at, keep, seed):
    """Power on again after a cut: ready, the recording closed or continued, written down, and the next press records."""
    name = os.path.join(os.path.basename(recorded.folder), "again")
    disk = os.path.join(recorded.folder, "again.img")
    recorded.writes.rebuild(recorded.base, disk, at, keep, True, seed)
    with bench.appliance(name, cold=True, disk=disk) as machine:
        os.unlink(disk)
        machine.boot()
        ready = machine.until_ready()
        status = machine.status()
        if status["state"] == "recording":
            machine.press()
        machine.until_written()
        machine.shell("fieldscribe verify")
        text = machine.text_of(machine.transcript(recorded.number))
        machine.record(2)
        listed = machine.shell("fieldscribe list --json")
    shutil.rmtree(machine.work, ignore_errors=True)
    expect(listed, "nothing is listed")
    return ready, text


def power_cut(states, boots, seconds=9, seed=1, name="power-cut"):
    """A scenario: a cut while recording, replayed so many times, with so many of the disks booted again."""
    def scenario(bench):
        recorded = Recorded(bench, name, seconds)
        worst = replay(recorded, states, seed)
        end, figures = len(recorded.writes.entries), []
        for number in range(boots):
            ready, text = after_cut(bench, recorded, end, (0.0, 1.0, 0.5)[number % 3], seed + number)
            expect("forward" in text.split(), "what was said before the cut was written down as '%s'" % text)
            figures.append("%.0f" % ready)
        return "%d states of %d writes, at most %.2f s lost; ready again after %s s, written down" % (
            states, end - recorded.begins, worst, ", ".join(figures))
    return scenario


def power_cut_control(bench):
    """Negative control: where flushes do not reach the disk, the same judgement finds what is lost."""
    recorded = Recorded(bench, "power-cut-control", 12, barriers=False)
    try:
        worst = replay(recorded, 20, seed=1)
    except Failed as found:
        return "found, as it should: %s" % found
    raise Failed("20 states without flushes, and no more than %.2f s lost: the judgement sees nothing" % worst)
