"""Runs parts of the tests in parallel, and prints a table and the failures. `deploy/test` calls this.

Every part has a log in .build/test-logs and its own folder for temporary files, which is removed afterwards. A part must clean up
after itself: the run fails if a part leaves a file in that folder or a detached process.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

import parts

TIMES = parts.LOGS + "/times.json"
# Log lines that are shown even if the part passes.
NOTABLE_LINES = re.compile(r"^(➜|ok  |again |skipped:)|skipped: ")
# A part that takes longer is killed, because it is probably stuck.
MAXIMUM_SECONDS = 3600
PR_SET_CHILD_SUBREAPER = 36


class Run:
    """A part that is running or has finished."""

    def __init__(self, part, folder, began):
        self.part, self.began, self.log = part, began, "%s/%s.log" % (parts.LOGS, part.name)
        # The path must be short: tests put it into socket addresses (108 bytes) and lines of configuration files (198 bytes).
        self.folder = tempfile.mkdtemp(prefix="", dir=folder)
        # PostgreSQL's user also needs access.
        os.chmod(self.folder, 0o1777)
        # espeak-ng opens PulseAudio, whose library would otherwise leave a folder in TMPDIR.
        environment = dict(os.environ, TMPDIR=self.folder, PULSE_RUNTIME_PATH=folder + "/pulse", **part.variables)
        # Other parts must not read this file: until "test-data" has run, it is from an earlier run, perhaps with another PATH.
        if "test-data" in part.needs:
            with open(parts.ENVIRONMENT) as lines:
                environment.update(line.rstrip("\n").split("=", 1) for line in lines)
        if part.kind == "suite" and os.path.exists(parts.report(part.name)):
            os.unlink(parts.report(part.name))
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(part.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                                            start_new_session=True)
        self.passed, self.failures, self.leftovers = 0, [], []

    def finish(self, status, usage, now):
        """Collects the results of the part, which has exited. `status` and `usage` come from `os.wait4`."""
        self.seconds, self.cpu = now - self.began, usage.ru_utime + usage.ru_stime
        self.kill()
        with open(self.log, errors="replace") as log:
            self.lines = log.read().splitlines()
        code = os.waitstatus_to_exitcode(status)
        if self.part.kind == "suite":
            self.read_report(code)
        elif code != 0:
            errors = [line for line in self.lines if re.match(r"(➜ )?(FAIL|MISS)|.*\berror: ", line)]
            self.fail("status %d" % code, errors[:15] or self.lines[-15:] or ["it printed nothing"])
        elif self.part.kind == "check":
            self.passed = 1
        # Steps may leave files, because SwiftPM leaves folders behind.
        if self.part.kind != "step":
            self.leftovers = sorted(os.path.relpath(os.path.join(parent, name), self.folder)
                                    for parent, folders, files in os.walk(self.folder) for name in folders + files)
        shutil.rmtree(self.folder, ignore_errors=True)

    def fail(self, name, lines):
        self.failures.append((self.part.name, name, "\n".join(lines)))

    def read_report(self, code):
        """Counts the tests in the xUnit report of a suite."""
        try:
            cases = xml.parse(parts.report(self.part.name)).getroot().iter("testcase")
        except (OSError, xml.ParseError):
            unfinished = unfinished_tests(self.lines)
            self.fail("no report, status %d" % code, unfinished[:8] + self.lines[-15 + len(unfinished[:8]):])
            return
        ran = 0
        for case in cases:
            if case.find("skipped") is not None:
                continue
            ran += 1
            if (failure := case.find("failure")) is None:
                self.passed += 1
            else:
                name = "%s.%s" % (case.get("classname"), case.get("name"))
                self.fail(name, (failure.get("message") or failure.text or "failed").splitlines())
        if races := [line for line in self.lines if line.startswith("SUMMARY: ThreadSanitizer")]:
            self.fail("data race", races)
        if ran == 0:
            self.fail("status %d" % code, ["no test ran"])
        elif code != 0 and not self.failures:
            self.fail("status %d" % code, self.lines[-15:])

    def kill(self):
        """Kills every process that is still in the part's process group."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def main(arguments):
    if arguments[:1] in (["--help"], ["-h"]):
        print(USAGE)
        return 0
    if arguments == ["--list"]:
        print("\n".join(parts.names()))
        return 0
    if arguments == ["--times"]:
        return print_last_times()
    try:
        selection = parts.select(arguments)
    except ValueError as error:
        print("deploy/test: %s" % error, file=sys.stderr)
        return 2
    os.makedirs(parts.LOGS, exist_ok=True)
    lock = open(parts.LOGS + "/lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("deploy/test: .build: another run is using it; wait for that run, or clone the repository again", file=sys.stderr)
        return 2
    # A process that a part leaves running becomes our child, so that `kill_orphans` finds it.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signal_number, raise_interrupt)
    names_before = set(os.listdir(tempfile.gettempdir()))
    folder = tempfile.mkdtemp(prefix="test.")
    os.chmod(folder, 0o755)
    running, done, began = [], [], time.monotonic()

    def kill_stuck_parts(*_):
        for run in running:
            if time.monotonic() - began - run.began > MAXIMUM_SECONDS:  # wait: a timeout for each part
                run.kill()

    signal.signal(signal.SIGALRM, kill_stuck_parts)
    signal.setitimer(signal.ITIMER_REAL, 60, 60)
    try:
        run_all(parts.parts(selection), folder, running, done, began)
    except KeyboardInterrupt:
        print("interrupted: running parts were killed and their temporary files removed", flush=True)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for run in running:
            run.kill()
            run.process.wait()
        orphans = kill_orphans()
        shutil.rmtree(folder, ignore_errors=True)
    # New files here are not a failure, because other programs also use this folder.
    if new := sorted(set(os.listdir(tempfile.gettempdir())) - names_before):
        print("new in %s: %s" % (tempfile.gettempdir(), " ".join(new)[:600]))
    return report(selection, done, orphans, time.monotonic() - began)


def unfinished_tests(lines):
    """Returns a line for each test that started but did not end, according to the log of a suite."""
    ended = {name for line in lines for name in re.findall(r'^[✔✘] Test (.+?) (?:with \d+ test cases? )?(?:passed|failed) after', line)}
    started = [name for line in lines for name in re.findall(r"^◇ Test (.+) started\.$", line)]
    return ["not finished: %s" % name for name in started if name not in ended and not re.match("run$|case ", name)]


def raise_interrupt(*_):
    raise KeyboardInterrupt


def run_all(waiting, folder, running, done, began):
    """Starts each part once the parts that it needs have finished and enough cores are free. Appends finished parts to `done`.

    Skips a part if a step that it needs has failed or was skipped.
    """
    maximum_cores = (os.cpu_count() or 2) + 1
    print("parts: %s" % " ".join(part.name for part in waiting), flush=True)
    failed = set()
    while waiting or running:
        busy = sum(run.part.cores for run in running)
        finished = {run.part.name for run in done}
        for part in list(waiting):
            known = {other.name for other in waiting} | {run.part.name for run in running} | finished
            needs = [need for need in part.needs if need in known]
            if failed & set(needs):
                waiting.remove(part)
                failed.add(part.name)
                print("skipped: %s: it needs %s" % (part.name, " ".join(failed & set(needs))), flush=True)
            elif not finished.issuperset(needs):
                continue
            elif busy + part.cores <= maximum_cores:
                waiting.remove(part)
                running.append(Run(part, folder, time.monotonic() - began))
                busy += part.cores
            elif part.cores > 1 and all(run.part.cores <= 1 for run in running):
                # This part, such as a build, needs several cores. Suites that start now would delay it.
                break
        if not running:
            continue
        run, status, usage = wait_for_any(running)
        running.remove(run)
        run.finish(status, usage, time.monotonic() - began)
        done.append(run)
        if run.failures and run.part.kind == "step":
            failed.add(run.part.name)
        tests = " %d tests," % (run.passed + len(run.failures)) if run.part.kind == "suite" else ""
        print("%-6s%s:%s %.0f s" % ("FAIL" if run.failures else "ok", run.part.name, tests, run.seconds), flush=True)
        for line in run.lines:
            if NOTABLE_LINES.search(line):
                print("      " + line[:300], flush=True)


def wait_for_any(running):
    """Waits until a part exits. Returns the part, its status and its resource usage."""
    while True:
        process, status, usage = os.wait4(-1, 0)
        for run in running:
            if run.process.pid == process:
                run.process.returncode = os.waitstatus_to_exitcode(status)
                return run, status, usage


def kill_orphans(seconds=60):
    """Kills our remaining children and their orphans, which become our children. Returns the command lines of those that it kills.

    Waits at most `seconds` first: a helper such as the sanitizer's llvm-symbolizer exits by itself when its pipe is closed.
    """
    deadline = time.monotonic() + seconds  # wait: a timeout
    killed = []
    while children := our_children():
        for child in children:
            with contextlib.suppress(OSError):
                # wait: gives the process time to exit
                if os.waitpid(child, os.WNOHANG) == (0, 0) and time.monotonic() > deadline:
                    with open("/proc/%d/cmdline" % child) as file:
                        killed.append(file.read().replace("\0", " ").strip() or "process %d" % child)
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
        time.sleep(0.05)  # wait: polls until orphans exit
    return killed


def our_children():
    """Returns the process IDs of our children."""
    with open("/proc/self/task/%d/children" % os.getpid()) as file:
        return [int(word) for word in file.read().split()]


def report(selection, done, orphans, seconds):
    """Prints the table, the failures and the totals, and saves the table for --times. Returns the exit status."""
    rows = [{"part": run.part.name, "result": "FAIL" if run.failures else "ok", "passed": run.passed, "began": run.began,
             "seconds": run.seconds, "cpu": run.cpu} for run in sorted(done, key=lambda run: run.began)]
    rows.append({"part": "all", "result": "", "passed": sum(run.passed for run in done), "began": 0, "seconds": seconds,
                 "cpu": sum(run.cpu for run in done)})
    with open(TIMES, "w") as file:
        json.dump(rows, file, indent=1)
    print_table(rows)
    failures = [(run.log, failure) for run in done for failure in run.failures]
    failures += [(run.log, (run.part.name, "left in its temporary folder", " ".join(run.leftovers)[:300]))
                 for run in done if run.leftovers]
    failures += [(parts.LOGS, ("deploy/test", "a part left this process running", name[:300])) for name in orphans]
    missing = set(selection) - {run.part.name for run in done}
    failures += [(parts.LOGS, (name, "did not run", "")) for name in sorted(missing)]
    for log, (part, name, message) in failures:
        print("FAIL  %s: %s: %s" % (part, name, "\n      ".join(line[:400] for line in message.splitlines()[:15])))
        print("      " + log)
    print("%d passed, %d failed" % (rows[-1]["passed"], len(failures)))
    return 1 if failures else 0


def print_table(rows):
    print("%-26s %-6s %6s %8s %8s %8s" % ("part", "result", "passed", "start, s", "time, s", "CPU, s"))
    for row in rows:
        print("%-26s %-6s %6d %8.0f %8.0f %8.0f" % tuple(row[key] for key in ("part", "result", "passed", "began", "seconds", "cpu")))


def print_last_times():
    try:
        with open(TIMES) as file:
            print_table(json.load(file))
    except OSError:
        print("deploy/test: --times: no tests have run yet; run deploy/test", file=sys.stderr)
        return 2
    return 0


USAGE = """\
Installs what is missing, builds with warnings as errors, and runs tests in parallel.

  deploy/test                    the parts that must pass for every change
  deploy/test all                everything except `image`
  deploy/test fast               the parts that need no model, browser, server or virtual machine
  deploy/test changed [COMMIT]   the checks and the suites that changes since COMMIT (default origin/main) can break
  deploy/test NAME...            these parts, such as PanelTests or kill
  deploy/test --list             print the names of all parts
  deploy/test --times            print the table of the last run"""

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
