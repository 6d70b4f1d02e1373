"""Used behind its sandbox for as long as one likes, while the kernel tells of every call that it refuses."""

import re
import time

from bench import expect
from stick import insert, make_stick

# What threads of ours are called; `watched` fails where the running service has another.
NAMES = ("capture", "client", "control", "copy", "decode", "events", "fieldscribe", "link", "listening", "microphone",
         "panel", "poweroff", "worker-start", "writer")

# The kernel's own record of calls that were refused by the sandbox (EPERM), and of sockets that are not local ones. One
# refusal is meant: 305, clock_adjtime, to which a sandbox that protects the clock answers in the place of the kernel.
WATCH = """mkdir -p /sys/kernel/tracing/instances/sandbox
cd /sys/kernel/tracing/instances/sandbox
echo 'ret == -1 && id != 305 && (%(ours)s)' >events/raw_syscalls/sys_exit/filter
echo 1 >events/raw_syscalls/sys_exit/enable
echo 'family != 1 && (%(ours)s)' >events/syscalls/sys_enter_socket/filter
echo 1 >events/syscalls/sys_enter_socket/enable
""" % {"ours": " || ".join('comm == "%s"' % name for name in NAMES)}
SEEN = "grep -v '^#' /sys/kernel/tracing/instances/sandbox/trace; true"

# Programs by our name that do what ours must not, one without a sandbox and one in it: what is watched for is seen.
CONTROL = """mkdir -p /opt/control/denied; cp /bin/bash /opt/control/fieldscribe; cp /usr/sbin/chroot /opt/control/denied/fieldscribe
/opt/control/fieldscribe -c 'exec 3<>/dev/tcp/127.0.0.1/9' || true
systemd-run --quiet --wait --property=SystemCallFilter=@system-service --property=SystemCallFilter=~@privileged \
    --property=SystemCallErrorNumber=EPERM /opt/control/denied/fieldscribe / /bin/true || true
"""


def sandbox(minutes, name="sandbox"):
    """A scenario: so many minutes of use; no denied call, no socket but local ones, no word of it in the log."""
    def scenario(bench):
        with bench.appliance(name) as machine:
            threads = set(machine.shell("cat /proc/$(systemctl show -P MainPID fieldscribe)/task/*/comm").split())
            expect(threads <= set(NAMES), "threads that are not watched: %s" % " ".join(threads - set(NAMES)))
            machine.shell(WATCH)
            make_stick(machine.path("stick.img"), "vfat")
            began, recordings, sticks, words = time.monotonic(), 0, 0, set()
            while not sticks or time.monotonic() - began < minutes * 60:
                words |= set(use(machine))
                recordings += 1
                if recordings % 4 == 2:
                    insert(machine, machine.path("stick.img"), timeout=300)
                    machine.stick_out()
                    sticks += 1
            used = (time.monotonic() - began) / 60
            seen = machine.shell(SEEN)
            expect(not seen, "refused by the sandbox, or no local socket:\n" + seen)
            sockets = machine.shell("cd /proc/$(systemctl show -P MainPID fieldscribe)/net; "
                                    "cat tcp tcp6 udp udp6 raw raw6 packet 2>/dev/null | grep -c '^ *[0-9a-f]*: '; true").strip()
            expect(sockets == "0", "%s sockets of the network" % sockets)
            said = machine.shell("journalctl -b -o cat -u fieldscribe -u 'fieldscribe-export@*'")
            expect(len(words) >= 3, "only these words were written down: %s" % " ".join(words))
            spoken = [word for word in words if len(word) > 4 and re.search(r"\b%s\b" % re.escape(word), said)]
            expect(not spoken, "words of the transcript in the journal: %s" % " ".join(spoken))
            denied = machine.shell("journalctl -b -k -o cat | grep -iE 'apparmor=.DENIED|avc:|audit: .*(seccomp|denied)'; true")
            expect(not denied, denied)
            restarts = machine.shell("systemctl show -P NRestarts fieldscribe").strip()
            expect(restarts == "0", "the service started anew %s times" % restarts)
            machine.shell("fieldscribe verify")
            machine.shell(CONTROL, timeout=300)
            seen = machine.shell(SEEN)
            for what in ("sys_socket", "= -1"):
                expect(what in seen, "the control was not seen: %s in\n%s" % (what, seen))
            return "%.0f minutes, %d recordings, %d times a stick: no call refused, no socket but local ones, none of %d " \
                "words in the journal; the control was seen" % (used, recordings, sticks, len(words))
    return scenario


def use(machine):
    """One recording with a mark, and what a person asks for; returns the words that were written down."""
    machine.room_sounds()
    machine.press()
    number = machine.until_recorded(5)["recording"]
    machine.press(seconds=1.4)
    machine.until_recorded(8)
    machine.press()
    machine.until_written()
    machine.shell("fieldscribe list; fieldscribe search forward; fieldscribe show %d; timeout 2 fieldscribe watch --json; "
                  "fieldscribe status" % number, check=False)
    return machine.text_of(machine.transcript(number)).split()
