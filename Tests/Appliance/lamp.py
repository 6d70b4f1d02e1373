"""The lamp's history, from the kernel's trace of the GPIO lines."""

import re

EVENT = re.compile(r" (\d+\.\d+): gpio_value: \d+ set ([01])")
NOTE = re.compile(r" (\d+\.\d+): tracing_mark_write: (\w+)")


class LampHistory:
    """Changes of the lamp's level as (seconds, lit), and the test's notes."""

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
        """When the test noted something for the first time."""
        return min(time for time, name in self.notes if name == note)

    def last(self, note):
        """When the test noted something for the last time."""
        return max(time for time, name in self.notes if name == note)

    def all(self, note):
        """Each time that the test noted something."""
        return [time for time, name in self.notes if name == note]

    def phases(self, since=0.0):
        """(begin, length, lit) of each level that began after `since` and has ended."""
        return [(time, end - time, lit) for (time, lit), (end, _) in zip(self.changes, self.changes[1:])
                if time >= since]

    def lit_after(self, since):
        """When the lamp first went on after a moment; None if it did not."""
        return next((time for time, lit in self.changes if lit and time >= since), None)

    def lit_for(self, moment):
        """How long the lamp had been on at a moment; 0 if it was off."""
        before = [(time, lit) for time, lit in self.changes if time <= moment]
        return moment - before[-1][0] if before and before[-1][1] else 0.0

    def changes_in(self, since, until):
        """How often the lamp changed between two moments."""
        return sum(since <= time < until for time, _ in self.changes)

    def double_blinks(self, since=0.0):
        """Moments of two short blinks with a pause after them: exporting."""
        return self.matching(since, [(0.05, 0.24), (0.08, 0.33), (0.05, 0.24), (0.4, 1.2)])

    def fast_blinks(self, since=0.0):
        """Moments of five blinks a second: a fault."""
        return self.matching(since, [(0.05, 0.19)] * 6)

    def done(self, since=0.0):
        """Moments of three steady seconds: safe to unplug."""
        return self.matching(since, [(2.5, 3.5)])

    def matching(self, since, lengths):
        """Moments at which phases of these (shortest, longest) lengths begin, the first of them lit."""
        phases = self.phases(since)
        found = []
        for index in range(len(phases) - len(lengths) + 1):
            some = phases[index:index + len(lengths)]
            if some[0][2] and all(low <= length <= high for (_, length, _), (low, high) in zip(some, lengths)):
                found.append(some[0][0])
        return found

    def __str__(self):
        lines = [(time, "on" if lit else "off") for time, lit in self.changes]
        return "\n".join("%.3f %s" % line for line in sorted(lines + self.notes)) + "\n"
