#!/usr/bin/env python3
"""Runs scenarios in the virtual machine:

    run.py --image DIR --package FILE --state DIR --work DIR [--model DIR] [--all] [--within SECONDS] [NAME...]
"""

import argparse
import os
import shutil
import signal
import sys
import time
import traceback

from appliance import Appliance
from bench import Bench
from bounce import bounces
from drive import drive, drive_interrupted
from hostile import hostile
from machine import EmulationFailed, architecture_of
from microphone import microphone_absent, microphone_unplugged
from power_cut import power_cut
from power_on import power_on, power_on_moonshine, power_on_stick
from robust import clock, disk_brimful, disk_full, line_taken, service_hangs, service_killed, worker_killed
from sandbox import sandbox
from sealed import sealed_recorder, sealed_stick, stick_unknown
from stick import stick, stick_dirty, stick_full, stick_pulled, stick_read_only
from upgrade import upgrade

SCENARIOS = {
    "power-on": power_on,
    "power-on-moonshine": power_on_moonshine,
    "power-on-stick": power_on_stick,
    "stick-vfat": stick("vfat"),
    "stick-exfat": stick("exfat"),
    "stick-ntfs": stick("ntfs"),
    "stick-ext4-whole": stick("ext4", partitioned=False),
    "stick-vfat-whole": stick("vfat", partitioned=False),
    "stick-read-only": stick_read_only,
    "stick-pulled": stick_pulled,
    "stick-dirty": stick_dirty,
    "stick-full": stick_full,
    "sticks-hostile": hostile,
    "sealed-stick": sealed_stick,
    "stick-unknown": stick_unknown,
    "sealed-recorder": sealed_recorder,
    "drive": drive,
    "drive-interrupted": drive_interrupted,
    "power-cut": power_cut(states=12, boots=1),
    "power-cuts": power_cut(states=300, boots=3, seconds=30, seed=2, name="power-cuts"),
    "microphone-unplugged": microphone_unplugged,
    "microphone-absent": microphone_absent,
    "clock": clock,
    "disk-full": disk_full,
    "disk-brimful": disk_brimful,
    "worker-killed": worker_killed,
    "service-killed": service_killed,
    "service-hangs": service_hangs,
    "button-bounces": bounces,
    "line-taken": line_taken,
    "upgrade": upgrade,
    "sandbox": sandbox(minutes=5),
    "sandbox-hour": sandbox(minutes=60, name="sandbox-hour"),
}
# Scenarios that run only if they are named, because they take long.
LONG = ["sandbox-hour"]
# Scenarios that need Moonshine's packages, which come from PyPI.
WITH_MODEL = ["power-on-moonshine"]
# Scenarios that run if no name is given.
SHORT = {"amd64": ["power-on", "power-on-moonshine", "stick-vfat", "power-cut", "microphone-unplugged", "microphone-absent"],
         "arm64": ["power-on", "power-on-moonshine", "stick-vfat", "power-cut"]}


class TimeLimitReached(Exception):
    """The time limit for all scenarios has passed."""


def main():
    parser = argparse.ArgumentParser(description="Runs scenarios of the appliance in a virtual machine.")
    for name in ("image", "package", "state", "work"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--model", metavar="DIR", help="a folder with Moonshine's packages")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--within", type=int, metavar="SECONDS", help="the time limit for all scenarios; those that are not finished by then fail")
    parser.add_argument("scenarios", nargs="*", metavar="NAME", help="one of: " + " ".join(SCENARIOS))
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.scenarios if name not in SCENARIOS]:
        parser.error("no such scenario: " + " ".join(unknown))
    # If this process is terminated, it still saves the evidence and stops the machine.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if arguments.within is not None:
        signal.signal(signal.SIGALRM, raise_time_limit)
        signal.alarm(max(1, arguments.within))

    began = time.monotonic()
    bench = Bench(arguments.image, arguments.package, arguments.state, arguments.work, arguments.model)
    if not os.path.exists(os.path.join(arguments.state, "root.img")) and not attempt(bench, "prepare", prepare):
        sys.exit(1)
    everything = [name for name in SCENARIOS if name not in LONG]
    names = arguments.scenarios or (everything if arguments.all else SHORT[architecture_of(arguments.image)])
    failed = 0
    for name in names:
        # wait: the caller's own limit for all scenarios
        if arguments.within is not None and time.monotonic() - began > arguments.within:
            failed += 1
            print("FAIL  %s: not tried: the time limit for all scenarios has passed" % name, flush=True)
        elif name in WITH_MODEL and not arguments.model:
            # A skipped scenario counts as failed if it was named.
            failed += name in arguments.scenarios
            print("skipped: %s: Moonshine's packages could not be built" % name, flush=True)
        elif not attempt(bench, name, SCENARIOS[name]):
            failed += 1
    print("%.0f s in total" % (time.monotonic() - began))
    sys.exit(1 if failed else 0)


def raise_time_limit(*_):
    raise TimeLimitReached("the time limit for all scenarios has passed")


def prepare(bench):
    """Saves the state from which scenarios continue."""
    fresh = bench.state + ".new"
    Appliance.prepare(bench.image, bench.package, bench.folder("prepare"), fresh)
    os.rename(fresh, bench.state)
    return "package installed in the running machine"


def attempt(bench, name, scenario, times=2):
    """Runs a scenario, and repeats it with a message if the emulation failed. Prints the result, keeps the evidence of a failure, and
    returns whether the scenario passed."""
    start = time.monotonic()
    for number in range(1, times + 1):
        folder = bench.folder(name)
        try:
            figures = scenario(bench)
            shutil.rmtree(folder)
            print("ok    %s: %s; %.0f s" % (name, figures, time.monotonic() - start), flush=True)
            return True
        except Exception as error:
            with open(os.path.join(folder, "error.log"), "w") as file:
                traceback.print_exc(file=file)
            if isinstance(error, EmulationFailed) and number < times:
                kept = bench.folder("%s.attempt-%d" % (name, number))
                os.rename(folder, kept)
                print("again %s: %s; see %s" % (name, error, kept), flush=True)
                continue
            print("FAIL  %s: %s; %.0f s; see %s" % (name, error, time.monotonic() - start, folder), flush=True)
            return False


if __name__ == "__main__":
    main()
