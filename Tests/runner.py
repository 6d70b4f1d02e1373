"""Runs parts of the tests side by side, and prints a table and what failed. `deploy/test` calls it.

Every part has a folder of its own for temporary files, which goes with it, and a log in .build/test-logs. What a part leaves in
that folder, or running, is a failure: the part does not clean up after itself.
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
# Lines of a log that are shown even if all is well.
FIGURES = re.compile(r"^(➜|ok  |again |skipped:)|skipped: ")
# A part that takes longer hangs.
LIMIT = 3600
PR_SET_CHILD_SUBREAPER = 36


class Run:
    """One part that is running or has ended."""

    def __init__(self, part, folder, began):
        self.part, self.began, self.log = part, began, "%s/%s.log" % (parts.LOGS, part.name)
        # Paths in tests have limits: 108 bytes of a socket, 198 of a line of settings.
        self.folder = tempfile.mkdtemp(prefix="", dir=folder)
        # PostgreSQL's user enters it, too.
        os.chmod(self.folder, 0o1777)
        # espeak-ng opens PulseAudio, whose library else leaves a folder in TMPDIR.
        environment = dict(os.environ, TMPDIR=self.folder, PULSE_RUNTIME_PATH=folder + "/pulse", **part.variables)
        # Others must not see that of an earlier run, whose PATH may be another.
        if "test-data" in part.needs:
            with open(parts.ENVIRONMENT) as lines:
                environment.update(line.rstrip("\n").split("=", 1) for line in lines)
        if part.kind == "suite" and os.path.exists(parts.report(part.name)):
            os.unlink(parts.report(part.name))
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(part.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                                            start_new_session=True)
        self.passed, self.failures, self.left = 0, [], []

    def end(self, status, usage, now):
        """Judges what the part left. `status` is that of `os.wait4`."""
        self.seconds, self.cpu = now - self.began, usage.ru_utime + usage.ru_stime
        self.stop()
        with open(self.log, errors="replace") as log:
            self.lines = log.read().splitlines()
        code = os.waitstatus_to_exitcode(status)
        if self.part.kind == "suite":
            self.read_report(code)
        elif code != 0:
            said = [line for line in self.lines if re.match(r"(➜ )?(FAIL|MISS)|.*\berror: ", line)]
            self.fail("status %d" % code, said[:15] or self.lines[-15:] or ["it printed nothing"])
        elif self.part.kind == "check":
            self.passed = 1
        # SwiftPM leaves folders of its own.
        if self.part.kind != "step":
            self.left = sorted(os.path.relpath(os.path.join(place, name), self.folder)
                               for place, folders, files in os.walk(self.folder) for name in folders + files)
        shutil.rmtree(self.folder, ignore_errors=True)

    def fail(self, name, lines):
        self.failures.append((self.part.name, name, "\n".join(lines)))

    def read_report(self, code):
        """Counts the tests of a suite, by its xUnit report."""
        try:
            cases = xml.parse(parts.report(self.part.name)).getroot().iter("testcase")
        except (OSError, xml.ParseError):
            self.fail("no report, status %d" % code, self.lines[-15:])
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

    def stop(self):
        """Ends all that the part started and that is still in its process group."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def main(words):
    if words[:1] in (["--help"], ["-h"]):
        print(USAGE)
        return 0
    if words == ["--list"]:
        print("\n".join(parts.names()))
        return 0
    if words == ["--times"]:
        return print_last_times()
    try:
        wanted = parts.chosen(words)
    except ValueError as error:
        print("deploy/test: %s" % error, file=sys.stderr)
        return 2
    os.makedirs(parts.LOGS, exist_ok=True)
    lock = open(parts.LOGS + "/lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("deploy/test: .build: another run uses it; wait for that one, or clone the repository again", file=sys.stderr)
        return 2
    # What a part leaves running becomes our child, so that it is seen and ended.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    before = set(os.listdir(tempfile.gettempdir()))
    folder = tempfile.mkdtemp(prefix="test.")
    os.chmod(folder, 0o755)
    running, done, began = [], [], time.monotonic()
    # wait: a guard for each part
    signal.signal(signal.SIGALRM, lambda *_: [run.stop() for run in running if time.monotonic() - began - run.began > LIMIT])
    signal.setitimer(signal.ITIMER_REAL, 60, 60)
    try:
        run_all(parts.parts(wanted), folder, running, done, began)
    except KeyboardInterrupt:
        print("interrupted; what ran is ended and its temporary files are removed", flush=True)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for run in running:
            run.stop()
            run.process.wait()
        orphans = end_orphans()
        shutil.rmtree(folder, ignore_errors=True)
    # Another run, or another program, may have left these.
    if new := sorted(set(os.listdir(tempfile.gettempdir())) - before):
        print("new in %s: %s" % (tempfile.gettempdir(), " ".join(new)[:600]))
    return report(wanted, done, orphans, time.monotonic() - began)


def interrupted(number, _):
    raise KeyboardInterrupt


def run_all(waiting, folder, running, done, began):
    """Starts each part once its needs are met and cores are free; the list `done` gets them as they end."""
    free = (os.cpu_count() or 2) + 1
    print("runs %s" % " ".join(part.name for part in waiting), flush=True)
    failed = set()
    while waiting or running:
        busy = sum(run.part.cores for run in running)
        ended = {run.part.name for run in done}
        for part in list(waiting):
            known = {other.name for other in waiting} | {run.part.name for run in running} | ended
            needs = [need for need in part.needs if need in known]
            if failed & set(needs):
                waiting.remove(part)
                failed.add(part.name)
                print("skipped: %s: it needs %s" % (part.name, " ".join(failed & set(needs))), flush=True)
            elif not ended.issuperset(needs):
                continue
            elif busy + part.cores <= free:
                waiting.remove(part)
                running.append(Run(part, folder, time.monotonic() - began))
                busy += part.cores
            elif part.cores > 1 and all(run.part.cores <= 1 for run in running):
                # A build is next: suites that start now would keep it waiting.
                break
        if not running:
            continue
        run, status, usage = wait_for_any(running)
        running.remove(run)
        run.end(status, usage, time.monotonic() - began)
        done.append(run)
        if run.failures and run.part.kind == "step":
            failed.add(run.part.name)
        tests = " %d tests," % (run.passed + len(run.failures)) if run.part.kind == "suite" else ""
        print("%-6s%s:%s %.0f s" % ("FAIL" if run.failures else "ok", run.part.name, tests, run.seconds), flush=True)
        for line in run.lines:
            if FIGURES.search(line):
                print("      " + line[:300], flush=True)


def wait_for_any(running):
    """The next part that ends, with its status and what it used."""
    while True:
        identity, status, usage = os.wait4(-1, 0)
        for run in running:
            if run.process.pid == identity:
                run.process.returncode = os.waitstatus_to_exitcode(status)
                return run, status, usage


def end_orphans(seconds=60):
    """Ends our remaining children, and those whom they leave to us. Returns their names.

    A helper of a part that has ended, such as the sanitizer's llvm-symbolizer, ends by itself once its pipe is closed: it has time for
    that.
    """
    deadline = time.monotonic() + seconds  # wait: a guard
    names = []
    while children := our_children():
        for child in children:
            with contextlib.suppress(OSError):
                # wait: for its end
                if os.waitpid(child, os.WNOHANG) == (0, 0) and time.monotonic() > deadline:
                    with open("/proc/%d/cmdline" % child) as words:
                        names.append(words.read().replace("\0", " ").strip() or "process %d" % child)
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
        time.sleep(0.05)  # wait: polls for the end of others' children
    return names


def our_children():
    """The process numbers of our children."""
    with open("/proc/self/task/%d/children" % os.getpid()) as file:
        return [int(word) for word in file.read().split()]


def report(wanted, done, orphans, seconds):
    """Prints the table, what failed, and the closing line; keeps the table for --times. Returns the exit status."""
    rows = [{"part": run.part.name, "result": "FAIL" if run.failures else "ok", "passed": run.passed, "began": run.began,
             "seconds": run.seconds, "cpu": run.cpu} for run in sorted(done, key=lambda run: run.began)]
    rows.append({"part": "all", "result": "", "passed": sum(run.passed for run in done), "began": 0, "seconds": seconds,
                 "cpu": sum(run.cpu for run in done)})
    with open(TIMES, "w") as file:
        json.dump(rows, file, indent=1)
    print_table(rows)
    failures = [(run.log, failure) for run in done for failure in run.failures]
    failures += [(run.log, (run.part.name, "left in its temporary folder", " ".join(run.left)[:300])) for run in done if run.left]
    failures += [(parts.LOGS, ("deploy/test", "a part left this running", name[:300])) for name in orphans]
    missing = set(wanted) - {run.part.name for run in done}
    failures += [(parts.LOGS, (name, "did not run", "")) for name in sorted(missing)]
    for log, (part, name, message) in failures:
        print("FAIL  %s: %s: %s" % (part, name, "\n      ".join(line[:400] for line in message.splitlines()[:15])))
        print("      " + log)
    print("%d passed, %d failed" % (rows[-1]["passed"], len(failures)))
    return 1 if failures else 0


def print_table(rows):
    print("%-26s %-6s %6s %8s %8s %8s" % ("part", "result", "passed", "began, s", "took, s", "CPU, s"))
    for row in rows:
        print("%-26s %-6s %6d %8.0f %8.0f %8.0f" % tuple(row[key] for key in ("part", "result", "passed", "began", "seconds", "cpu")))


def print_last_times():
    try:
        with open(TIMES) as file:
            print_table(json.load(file))
    except OSError:
        print("deploy/test: --times: no run yet; run deploy/test", file=sys.stderr)
        return 2
    return 0


USAGE = """\
Installs what is missing, builds with warnings as errors, and runs tests side by side.

  deploy/test                    what every change needs
  deploy/test all                everything but `image`
  deploy/test fast               what needs no model, browser, server or machine
  deploy/test changed [COMMIT]   the suites that the difference from COMMIT (else origin/main) can break
  deploy/test NAME...            these parts, such as PanelTests or kill
  deploy/test --list             the names
  deploy/test --times            the table of the last run"""

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
