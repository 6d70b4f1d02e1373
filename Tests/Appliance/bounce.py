"""A button whose contacts bounce: each press counts once, and bouncing alone is not a press."""

import json

from bench import expect
from machine import Starved

# A level must last for this many seconds to count. If the machine stalls for half as long during a burst, the burst proves nothing.
DEBOUNCE_SECONDS = 0.020

# `bounce COUNT` toggles the contact COUNT times, as fast as the machine can. It prints the number of levels, the times of the first
# and the last level, and the longest time for which the contact was pressed. Each block that dd writes is a level, which
# gpio-sim reads up to the first zero byte. The kernel traces the time of each write.
SETUP = r"""mkdir -p /sys/kernel/tracing/instances/bounces
cd /sys/kernel/tracing/instances/bounces
echo mono >trace_clock
echo 8192 >buffer_size_kb
echo 'comm == "dd" && count == 10' >events/syscalls/sys_enter_write/filter
echo 1 >events/syscalls/sys_enter_write/enable
cd /run/test
printf 'pull-down\npull-up\000\000\000' >levels
for i in $(seq 16); do cat levels levels >more; mv more levels; done
cat >bounce <<'END'
trace=/sys/kernel/tracing/instances/bounces/trace
echo >$trace
chrt --fifo 40 dd if=/run/test/levels of=/run/test/button/pull bs=10 count=$1 conv=notrunc status=none
[ -z "$2" ] || exit 0
awk '/sys_write/ { now = $4 + 0; if (!n++) first = now; else if (n % 2 == 0 && now - last > longest) longest = now - last
    last = now } END { printf "%d %.6f %.6f %.6f\n", n, first, last, longest }' $trace
END
"""


def bounces(bench):
    """Makes bursts of a quarter of a second, then presses that bounce at both ends. Only the presses may count."""
    with bench.appliance("button-bounces") as machine:
        machine.shell(SETUP)
        # Plays sound, because a burst may count as a press if the machine stalls, and a recording without sound would be a fault.
        machine.play_sound()
        rate, recordings_before = burst(machine, 2000)[1], count_recordings(machine)
        levels, seconds, stalls, longest = 0, 0.0, 0, 0.0
        while seconds < 3:
            count, burst_rate, pressed = burst(machine, 2 * int(min(rate, 60000) / 8))
            if pressed >= DEBOUNCE_SECONDS / 2:
                # The burst may have counted as a press. If so, this stops the recording.
                stalls += 1
                if stalls == 60:
                    raise Starved("it stalled in 60 bursts, in the last one for %.0f ms" % (pressed * 1000))
                if machine.status()["state"] == "recording":
                    machine.press()
                    machine.until_transcribed()
                recordings_before = count_recordings(machine)
                continue
            expect(machine.status()["state"] == "idle" and count_recordings(machine) == recordings_before,
                   "a burst counted as a press; the longest level lasted %.1f ms" % (pressed * 1000))
            levels, seconds, longest = levels + count, seconds + count / burst_rate, max(longest, pressed)

        machine.play_sound()
        for number in range(1, 13):
            was_recording = machine.status()["state"] == "recording"
            # wait: the debouncer needs 20 ms; a slow machine only makes the press longer
            machine.shell("sh /run/test/bounce 31 quiet; sleep 0.05; sh /run/test/bounce 30 quiet")
            machine.until_status(lambda it: (it["state"] == "recording") != was_recording, 60, "press %d counted" % number)
            if not was_recording:
                machine.until_recorded(1)
        machine.until_transcribed()
        new_recordings = count_recordings(machine) - recordings_before
        expect(new_recordings == 6, "12 presses made %d recordings instead of 6" % new_recordings)
        return "%d levels in %.1f s of bursts, %.0f per second, none longer than %.1f ms: no press; 12 presses that bounced " \
            "60 times each counted once each" % (levels, seconds, levels / seconds, longest * 1000)


def count_recordings(machine):
    return len(json.loads(machine.shell("fieldscribe list --json")))


def burst(machine, count):
    """Toggles the contact `count` times and leaves it released. Returns (levels, levels per second, longest press)."""
    output = machine.shell("sh /run/test/bounce %d" % count).split()
    traced, first, last, longest = int(output[0]), float(output[1]), float(output[2]), float(output[3])
    expect(traced == count, "%d of %d levels were traced" % (traced, count))
    # wait: the debouncer needs 20 ms without edges; a slow machine only waits longer
    machine.shell("sleep 0.1")
    return traced, traced / (last - first), longest
