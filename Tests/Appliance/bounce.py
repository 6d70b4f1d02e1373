"""A button whose contacts bounce: a press counts once, and contacts that never settle are not a press."""

import json

from bench import expect
from machine import Starved

# A level counts for the panel once it has lasted this long. A storm does not count if the machine itself stalls that long.
LASTS = 0.020

# `bounce COUNT` toggles the contact that many times, as fast as the machine can, and prints the number of levels, the times of
# the first and the last one, and the longest time for which the contact was pressed. Each block that dd writes is a level:
# gpio-sim reads it up to the first zero byte. The kernel traces when each was written.
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
    """Storms of a quarter of a second, then presses that bounce at both ends: exactly the real presses count."""
    with bench.appliance("button-bounces") as machine:
        machine.shell(SETUP)
        # A pause of the machine may turn a storm into a press; a recording without sound would then be a fault.
        machine.room_sounds()
        rate, made = storm(machine, 2000)[1], recordings(machine)
        levels, seconds, pauses, longest = 0, 0.0, 0, 0.0
        while seconds < 3:
            count, a_second, pressed = storm(machine, 2 * int(min(rate, 60000) / 8))
            if pressed >= LASTS / 2:
                # This may have counted as a press. If so, ends its recording.
                pauses += 1
                if pauses == 60:
                    raise Starved("it paused in 60 storms, in the last one for %.0f ms" % (pressed * 1000))
                if machine.status()["state"] == "recording":
                    machine.press()
                    machine.until_written()
                made = recordings(machine)
                continue
            expect(machine.status()["state"] == "idle" and recordings(machine) == made,
                   "a storm was taken for a press; the longest level lasted %.1f ms" % (pressed * 1000))
            levels, seconds, longest = levels + count, seconds + count / a_second, max(longest, pressed)

        machine.room_sounds()
        for number in range(1, 13):
            was = machine.status()["state"] == "recording"
            # wait: the debouncer asks for 20 ms; a slow machine only makes the press longer
            machine.shell("sh /run/test/bounce 31 quiet; sleep 0.05; sh /run/test/bounce 30 quiet")
            machine.until_status(lambda it: (it["state"] == "recording") != was, 60, "press %d heard" % number)
            if not was:
                machine.until_recorded(1)
        machine.until_written()
        made = recordings(machine) - made
        expect(made == 6, "12 presses made %d recordings instead of 6" % made)
        return "%d levels in storms of %.1f s, %.0f a second, none longer than %.1f ms: no press; 12 presses that bounced " \
            "60 times each, each heard once" % (levels, seconds, levels / seconds, longest * 1000)


def recordings(machine):
    return len(json.loads(machine.shell("fieldscribe list --json")))


def storm(machine, count):
    """Toggles the contact that many times, and leaves it released; returns (levels, levels a second, longest press)."""
    said = machine.shell("sh /run/test/bounce %d" % count).split()
    made, first, last, longest = int(said[0]), float(said[1]), float(said[2]), float(said[3])
    expect(made == count, "%d of %d levels were traced" % (made, count))
    # wait: the debouncer asks for 20 ms of rest; a slow machine only makes the rest longer
    machine.shell("sleep 0.1")
    return made, made / (last - first), longest
