"""Uses the service in its sandbox for some minutes while the kernel traces every refused system call."""

import pathlib
import re
import shlex
import time

from bench import expect
from machine import architecture_of
from stick import insert, make_stick

# The names of Fieldscribe's threads in its sources, and of decode workers ("exe", because they are started as /proc/self/exe).
# `check_processes` fails if a thread of the running service has another name. The trace only has threads with these names, including
# those of the copy to a stick.
SOURCES = pathlib.Path(__file__).resolve().parents[2] / "Sources"
NAMES = sorted({"exe", "fieldscribe"}.union(*(re.findall(r'Thread\(\s*named: "([\w-]+)"', path.read_text(encoding="utf-8"))
                                              for path in SOURCES.rglob("*.swift"))))

# Makes the kernel trace the calls that the sandbox refuses: EPERM (-1), and EAFNOSUPPORT (-97) for sockets that are not local.
# Also traces such sockets if they are not refused. Ignores clock_adjtime, which ProtectClock= refuses on purpose.
WATCH = """mkdir -p /sys/kernel/tracing/instances/sandbox
cd /sys/kernel/tracing/instances/sandbox
echo '(ret == -97 || ret == -1 && id != %(clock_adjtime)d) && (%(ours)s)' >events/raw_syscalls/sys_exit/filter
echo 1 >events/raw_syscalls/sys_exit/enable
echo 'family != 1 && (%(ours)s)' >events/syscalls/sys_enter_socket/filter
echo 1 >events/syscalls/sys_enter_socket/enable
"""
CLOCK_ADJTIME = {"amd64": 305, "arm64": 266}
READ_TRACE = "grep -v '^#' /sys/kernel/tracing/instances/sandbox/trace; true"
# Prints the kernel's messages about programs that broke a rule of AppArmor or SELinux, or were killed for a system call.
READ_DENIALS = "journalctl --sync; journalctl -b -o cat | grep -E 'apparmor=.DENIED|avc: +denied|type=1326|SECCOMP auid'; true"

# Prints the threads, filter, network and sockets of each process of the service, and which sockets are local.
LIST_PROCESSES = """cd /proc
local='NR > 1 { print "local socket:[" $7 "]" }'
echo "outside $(readlink 1/ns/net)"
for process in $(cat "/sys/fs/cgroup$(systemctl show -P ControlGroup fieldscribe)/cgroup.procs"); do
    sed 's/^/thread /' $process/task/*/comm
    grep -E '^(Seccomp|NoNewPrivs):' $process/status
    readlink $process/ns/net | sed 's/^/network /'
    find $process/fd -lname 'socket:*' -printf 'socket %l\\n'
    awk "$local" $process/net/unix
done 2>/dev/null
awk "$local" 1/net/unix
"""

# Runs the negative controls, each of which must be detected: programs that break the rules without a sandbox, in a systemd sandbox and
# under an AppArmor rule, and one that logs spoken words. Those that the trace must find are named fieldscribe.
CONTROL = """mkdir -p /opt/control/denied
cp /bin/bash /opt/control/fieldscribe
cp /usr/sbin/chroot /opt/control/denied/fieldscribe
cp /bin/cat /opt/control/confined
/opt/control/fieldscribe -c 'exec 3<>/dev/tcp/127.0.0.1/9'
sandboxed='systemd-run --quiet --wait --property=SystemCallFilter=@system-service'
$sandboxed --property=SystemCallFilter=~@privileged --property=SystemCallErrorNumber=EPERM \
    /opt/control/denied/fieldscribe / /bin/true
$sandboxed --property=RestrictAddressFamilies=AF_UNIX /opt/control/fieldscribe -c 'exec 3<>/dev/tcp/127.0.0.1/9'
$sandboxed --property=SystemCallFilter=~@privileged /opt/control/denied/fieldscribe / /bin/true
echo 'profile control /opt/control/confined { file, audit deny /etc/hostname r, }' | apparmor_parser --skip-cache --replace
/opt/control/confined /etc/hostname
systemd-run --quiet --wait --unit=fieldscribe-control --description=control echo %s
"""
CONTROLS_SEEN = ("sys_socket", "= -1", "= -97")
CONTROLS_DENIED = ("apparmor=", "type=1326")


def sandbox(minutes, name="sandbox"):
    """Returns a scenario that uses the service for some minutes. No system call of Fieldscribe may be refused, all sockets must be local, no
    rule may be broken, and no phrase may be logged. Each process must have a filter and no new privileges, and be outside the
    machine's network namespace."""
    def scenario(bench):
        with bench.appliance(name) as machine:
            machine.shell(WATCH % {"clock_adjtime": CLOCK_ADJTIME[architecture_of(bench.image)],
                                   "ours": " || ".join('comm == "%s"' % name for name in NAMES)})
            make_stick(machine.path("stick.img"), "vfat")
            began, recordings, sticks, spoken = time.monotonic(), 0, 0, set()
            # wait: the duration of use that the caller chooses
            while not sticks or time.monotonic() - began < minutes * 60:
                spoken |= use(machine)
                recordings += 1
                if recordings % 4 == 2:
                    insert(machine, machine.path("stick.img"), timeout=300)
                    machine.stick_out()
                    sticks += 1
            used = (time.monotonic() - began) / 60
            trace = machine.shell(READ_TRACE)
            expect(not trace, "refused by the sandbox, or not a local socket:\n" + trace)
            denials = machine.shell(READ_DENIALS)
            expect(not denials, denials)
            phrases = [text for text in spoken if " " in text]
            expect(phrases, "no phrase of several words was transcribed: %s" % spoken)
            expect(not (found := find_spoken_text(machine, spoken)), "spoken text in the journal: %s" % found)
            restarts = machine.shell("systemctl show -P NRestarts fieldscribe").strip()
            expect(restarts == "0", "the service was restarted %s times" % restarts)
            machine.shell("fieldscribe verify")
            control(machine, phrases[0])
            return "%.0f minutes, %d recordings, %d copies to a stick: no call refused, no rule broken, only local " \
                "sockets, none of %d phrases in the journal; all %d controls were detected" % (
                    used, recordings, sticks, len(phrases), len(CONTROLS_SEEN + CONTROLS_DENIED) + 1)
    return scenario


def control(machine, phrase):
    """Runs the negative controls and fails unless each is detected."""
    machine.shell(CONTROL % shlex.quote(phrase) + "true", timeout=300)
    for script, controls in ((READ_TRACE, CONTROLS_SEEN), (READ_DENIALS, CONTROLS_DENIED)):
        output = machine.shell(script)
        for text in controls:
            expect(text in output, "a negative control was not detected: %s in\n%s" % (text, output))
    found = find_spoken_text(machine, {phrase})
    expect(found == sorted([phrase, *long_words(phrase)]),
           "a negative control was not detected: of '%s' only this was found in the journal: %s" % (phrase, found))


def use(machine):
    """Makes a recording with a bookmark, runs common commands, and returns the texts of the segments in lower case."""
    machine.play_sound()
    machine.press()
    recording = machine.until_recorded(5)["recording"]
    machine.press(seconds=1.4)
    machine.until_recorded(8)
    check_processes(machine)
    machine.press()
    machine.until_transcribed()
    check_processes(machine)
    machine.shell("fieldscribe list; fieldscribe search forward; fieldscribe show %d; timeout 2 fieldscribe watch --json; "
                  "fieldscribe status" % recording, check=False)
    return {segment["text"].lower() for segment in machine.transcript(recording)["segments"]}


def check_processes(machine):
    """Fails unless each process of the service, including decode workers, is sandboxed and traced."""
    values = {}
    for line in machine.shell(LIST_PROCESSES).splitlines():
        key, value = line.split(maxsplit=1)
        values.setdefault(key, set()).add(value)
    expect({"fieldscribe", "exe"} <= values["thread"], "the service or a worker is missing: %s" % values["thread"])
    expect(values["thread"] <= set(NAMES), "threads that are not traced: %s" % (values["thread"] - set(NAMES)))
    expect(values["Seccomp:"] == {"2"}, "a process has no system call filter")
    expect(values["NoNewPrivs:"] == {"1"}, "a process could gain privileges")
    expect(not values["network"] & values["outside"], "a process is in the machine's network namespace")
    expect(values["socket"] <= values["local"], "sockets that are not local: %s" % (values["socket"] - values["local"]))


def find_spoken_text(machine, spoken):
    """Returns the spoken text in the journal: phrases of at least two words in the whole journal, and long words in our units' messages."""
    everything, ours = (" ".join(machine.shell("journalctl --sync; journalctl -b -o cat" + unit_filter).lower().split())
                        for unit_filter in ("", " -u 'fieldscribe*'"))
    words = {word for text in spoken for word in long_words(text) if re.search(r"\b%s\b" % re.escape(word), ours)}
    return sorted(words.union(text for text in spoken if " " in text and text in everything))


def long_words(text):
    return {word for word in text.split() if len(word) > 4}
