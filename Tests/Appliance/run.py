#!/usr/bin/env python3
"""Runs scenarios in the virtual machine: run.py --image DIR --package FILE --state DIR --work DIR [NAME...]"""

import argparse
import os
import sys
import time
import traceback

from appliance import Appliance
from bench import Bench
from bounce import bounces
from hostile import hostile
from machine import Unfit, architecture_of
from microphone import microphone_absent, microphone_unplugged
from power_cut import power_cut, power_cut_control
from power_on import power_on
from robust import clock, disk_full, line_taken, service_hangs, service_killed, worker_killed
from sandbox import sandbox
from stick import other_stick, stick_full, stick_pulled, stick_read_only, stick_vfat
from upgrade import upgrade

SCENARIOS = {
    "power-on": power_on,
    "stick-vfat": stick_vfat,
    "stick-exfat": other_stick("exfat", partitioned=True),
    "stick-ntfs": other_stick("ntfs", partitioned=True),
    "stick-ext4-whole": other_stick("ext4", partitioned=False),
    "stick-vfat-whole": other_stick("vfat", partitioned=False),
    "stick-read-only": stick_read_only,
    "stick-pulled": stick_pulled,
    "stick-full": stick_full,
    "sticks-hostile": hostile,
    "power-cut": power_cut(states=12, boots=1),
    "power-cuts": power_cut(states=300, boots=3, seconds=30, seed=2, name="power-cuts"),
    "power-cut-control": power_cut_control,
    "microphone-unplugged": microphone_unplugged,
    "microphone-absent": microphone_absent,
    "clock": clock,
    "disk-full": disk_full,
    "worker-killed": worker_killed,
    "service-killed": service_killed,
    "service-hangs": service_hangs,
    "button-bounces": bounces,
    "line-taken": line_taken,
    "upgrade": upgrade,
    "sandbox": sandbox(minutes=5),
    "sandbox-hour": sandbox(minutes=60, name="sandbox-hour"),
}
# What takes as long as it says is asked for by name.
LONG = ["sandbox-hour"]
# What each change is tested with.
SHORT = {"amd64": ["power-on", "stick-vfat", "power-cut", "microphone-unplugged"],
         "arm64": ["power-on", "stick-vfat", "power-cut"]}


def main():
    parser = argparse.ArgumentParser(description="Scenarios of the appliance in a virtual machine.")
    for name in ("image", "package", "state", "work"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("scenarios", nargs="*", metavar="NAME", help="of: " + " ".join(SCENARIOS))
    words = parser.parse_args()
    if unknown := [name for name in words.scenarios if name not in SCENARIOS]:
        parser.error("no such scenario: " + " ".join(unknown))

    began = time.monotonic()
    bench = Bench(words.image, words.package, words.state, words.work)
    if not os.path.exists(os.path.join(words.state, "root.img")):
        fresh = words.state + ".new"
        seconds = attempt("prepared", lambda: Appliance.prepare(words.image, words.package, bench.folder("prepare"), fresh))
        os.rename(fresh, words.state)
        print("ok    prepared: package installed in the running machine, %.0f s" % seconds, flush=True)
    failed = 0
    everything = [name for name in SCENARIOS if name not in LONG]
    for name in words.scenarios or (everything if words.all else SHORT[architecture_of(words.image)]):
        start = time.monotonic()
        folder = bench.folder(name)
        try:
            figures = attempt(name, lambda: SCENARIOS[name](bench))
            print("ok    %s: %s; %.0f s" % (name, figures, time.monotonic() - start), flush=True)
        except Exception as error:
            failed += 1
            print("FAIL  %s: %s; %.0f s; see %s" % (name, error, time.monotonic() - start, folder), flush=True)
            with open(os.path.join(folder, "error.log"), "w") as file:
                traceback.print_exc(file=file)
    print("%.0f s in all" % (time.monotonic() - began))
    sys.exit(1 if failed else 0)


def attempt(name, scenario, times=4):
    """Runs it; once more where the machine was not fit for it, of which there is no hiding."""
    for left in reversed(range(times)):
        try:
            return scenario()
        except Unfit as error:
            if not left:
                raise
            print("again %s: %s" % (name, error), flush=True)


if __name__ == "__main__":
    main()
