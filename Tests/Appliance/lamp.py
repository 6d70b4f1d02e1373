"""The lamp's history, from the kernel's trace of the GPIO lines."""

import re

EVENT = re.compile(r" (\d+\.\d+): gpio_value: \d+ set ([01])")
NOTE = re.compile(r" (\d+\.\d+): tracing_mark_write: (\w+)")


class LampHistory:
    """The changes of the lamp's level as (seconds, lit), and the notes that the test added."""

    def __init__(self, trace):
        self.changes, self.notes = [], []
        for line in trace.splitlines():
            if event := EVENT.search(line):
                lit = event[2] == "1"
                if not self.changes and not lit:
                    continue
                if not self.changes or self.changes[-1][1] != lit:
                    self.changes.append((float(event[1]), lit))
            elif note := NOTE.search(line):
                self.notes.append((float(note[1]), note[2]))

    def first(self, note):
        """Returns the time of the first note with this name."""
        return min(time for time, name in self.notes if name == note)

    def last(self, note):
        """Returns the time of the last note with this name."""
        return max(time for time, name in self.notes if name == note)

    def all(self, note):
        """Returns the times of all notes with this name."""
        return [time for time, name in self.notes if name == note]

    def phases(self, since=0.0):
        """Returns (begin, length, lit) for each completed phase that began at or after `since`."""
        return [(time, end - time, lit) for (time, lit), (end, _) in zip(self.changes, self.changes[1:])
                if time >= since]

    def lit_after(self, since):
        """Returns the time at which the lamp first went on after a given time, or None if it did not."""
        return next((time for time, lit in self.changes if lit and time >= since), None)

    def lit_for(self, moment):
        """Returns how many seconds the lamp had been on at `moment`; 0 if it was off."""
        earlier = [(time, lit) for time, lit in self.changes if time <= moment]
        return moment - earlier[-1][0] if earlier and earlier[-1][1] else 0.0

    def changes_in(self, since, until):
        """Returns how many times the lamp changed between two times."""
        return sum(since <= time < until for time, _ in self.changes)

    def double_blinks(self, since=0.0):
        """Returns the times of two short blinks followed by a pause, which mean that a copy is being made."""
        return self.matching(since, [(0.05, 0.24), (0.08, 0.33), (0.05, 0.24), (0.4, 1.2)])

    def fast_blinks(self, since=0.0):
        """Returns the times of fast blinks, five per second, which mean a fault."""
        return self.matching(since, [(0.05, 0.19)] * 6)

    def safe_signals(self, since=0.0):
        """Returns the times at which the lamp is on for three seconds, which mean that the stick is safe to unplug."""
        return self.matching(since, [(2.5, 3.5)])

    def matching(self, since, lengths):
        """Returns the times at which a lit phase begins a sequence of phases with the given (minimum, maximum) lengths."""
        phases = self.phases(since)
        found = []
        for index in range(len(phases) - len(lengths) + 1):
            window = phases[index:index + len(lengths)]
            if window[0][2] and all(low <= length <= high for (_, length, _), (low, high) in zip(window, lengths)):
                found.append(window[0][0])
        return found

    def __str__(self):
        lines = [(time, "on" if lit else "off") for time, lit in self.changes]
        return "\n".join("%.3f %s" % line for line in sorted(lines + self.notes)) + "\n"
