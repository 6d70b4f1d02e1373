"""What `deploy/test` can run: each part's command, what it waits for, and which parts a change needs."""

import collections
import json
import os
import subprocess
import tempfile

# name; argv; parts that must have succeeded; cores that it keeps busy; variables; kind:
#   step   prepares, and is not counted as a test
#   check  passes or fails as a whole
#   suite  a test target, whose xUnit report counts
Part = collections.namedtuple("Part", "name command needs cores variables kind")

STRICT = ["-Xswiftc", "-warnings-as-errors", "--explicit-target-dependency-import-check", "error"]
# A release build compiles each module at once, without debug information: two thirds of a debug build's time. Package.swift says
# what FIELDSCRIBE_QUICK optimizes.
QUICK = ["-c", "release", "-Xswiftc", "-gnone", "-Xswiftc", "-enable-testing"]
TREE = ".build/quick"
BUNDLE = "fieldscribePackageTests.xctest"
CHECKS = {
    "format": "swift format lint --strict --recursive Sources Tests Package.swift",
    "imports": "! grep -rnE '^ *((public|package|internal|@preconcurrency) )*import Foundation$' Sources --exclude-dir=Speech",
    "docs": "Tests/check-docs",
    "waits": "Tests/check-waits",
    "modules": "Tests/module-graph --check",
    "runner": "python3 -B Tests/runner_tests.py",
    "words": "Tests/check-words",
}
# Long suites start first, so that none of them runs alone at the end. `fast` leaves out those that need a model, a browser,
# a server or a minute.
LONG_SUITES = ["EndToEndTests", "RecognizingTests", "SpeechTests", "OfficeTests", "PageTests", "CopyingTests", "DeployTests",
               "MoonshineRecognizerTests", "DiarizingTests"]
# Suites that wait more than they compute share a core.
WAITING_SUITES = ["EndToEndTests", "RecognizingTests", "SpeechTests", "OfficeTests", "PageTests"]
# One of them runs as several processes, since a process blocks as many tests as there are cores. A part EndToEndTests.run has these
# types; EndToEndTests has the rest.
SHARDS = {
    "EndToEndTests.run": ["RunTests", "StalledDiskTests", "KilledParentTests", "StickSettingsRunTests", "OverrunTests",
                          "WrongClockTests", "LoggingTests", "OpeningRunTests"],
    "EndToEndTests.archive": ["OwnerTests", "ExportTests", "SealedExportTests", "ImportTests", "AddTests", "RecoverTests", "DayOfUseTests"],
}
# Injected faults, in short; Tests/Chaos/run has the long forms.
FAULTS = {
    "kill": "--kills 30", "disk": "--steps 8", "corrupt": "--seeds 42",
    "syscalls": "--stride 7", "owners": "--orders 20", "seal": "--cuts 30", "reseal": "--cuts 8", "redact": "--cuts 30",
    "soak": "--hours 2",
}
MACHINES = {
    "arm64-sentence": ("Tests/Arm64/test sentence", ["arm64-build", "test-data"], 1),
    "power-on": ('trap \'rm -rf "$TMPDIR/package"\' EXIT; '
                 'deploy/deb --architecture arm64 --executable .build/arm64-quick/release/fieldscribe --output "$TMPDIR/package"; '
                 'Tests/Appliance/run --arm64 --deb "$TMPDIR"/package/*.deb power-on-stick',
                 ["arm64-build", "machine-image"], 1),
    "arm64-suites": ("Tests/Arm64/test suites", ["arm64-tools", "arm64-build"], 2),
    "arm64-package": ("Tests/Arm64/test package", ["arm64-suites"], 1),
    "appliance": ("Tests/Appliance/run", ["packages", "power-on"], 2),
    "image": ("Tests/Appliance/run --image firmware start", ["arm64-tools"], 2),
    "fuzz": ("Tests/Fuzz/run 4", ["packages"], 1),
    "examples": ("Tests/Examples/run", ["packages"], 2),
    "api": ("Tests/check-api", ["packages"], 2),
}
SANITIZED = ["tsan-RecordingTests", "tsan-ApplianceTests", "tsan-PlatformTests", "tsan-RecognizingTests", "tsan-SpeechTests"]
# What only `all` runs, and what runs only by name.
ONLY_ALL = ["syscalls", "owners", "seal", "reseal", "redact", "soak", "fuzz", *SANITIZED[1:],
            "arm64-sentence", "arm64-suites", "arm64-package", "appliance", "examples", "api"]
ONLY_BY_NAME = ["image"]


def suites():
    """The test targets, long ones first."""
    found = sorted(name for name in os.listdir("Tests") if name.endswith("Tests"))
    return [name for name in LONG_SUITES if name in found] + [name for name in found if name not in LONG_SUITES]


def names():
    """All names, in the order in which they start."""
    everything = ["power-on", "arm64-sentence", *SHARDS, *suites(), *FAULTS, *SANITIZED, *MACHINES, *CHECKS]
    return list(dict.fromkeys(everything))


def chosen(words):
    """The parts that the words of the command line ask for."""
    if not words:
        return [name for name in names() if name not in ONLY_ALL + ONLY_BY_NAME]
    if words == ["all"]:
        return [name for name in names() if name not in ONLY_BY_NAME]
    if words == ["fast"]:
        return [name for name in [*suites(), *CHECKS] if name not in LONG_SUITES]
    if words[0] == "changed" and len(words) <= 2:
        return changed(*words[1:])
    unknown = [name for name in words if name not in names()]
    if unknown:
        raise ValueError("%s: no such part; deploy/test --list names them" % unknown[0])
    return with_shards(words)


def with_shards(words):
    """The named parts in their order, with the shards of the named suites."""
    return [name for name in names() if name in words or name in SHARDS and name.split(".")[0] in words]


def changed(commit="origin/main"):
    """The checks, and the suites of the modules that differ from a commit, with all that depends on them by Package.swift."""
    files = subprocess.run(["git", "diff", "--name-only", "--merge-base", commit, "--"], capture_output=True, text=True)
    if files.returncode != 0:
        raise ValueError("changed: git knows no commit %s; name one" % commit)
    new = subprocess.run(["git", "ls-files", "--others", "--exclude-standard"], check=True, capture_output=True, text=True)
    return affected((files.stdout + new.stdout).splitlines(), targets())


def targets():
    """The targets of Package.swift in this folder, as `swift package describe` prints them."""
    # SwiftPM leaves locks in TMPDIR.
    with tempfile.TemporaryDirectory() as folder:
        package = subprocess.run(["swift", "package", "describe", "--type", "json"], check=True, capture_output=True, text=True,
                                 env={**os.environ, "TMPDIR": folder})
    return json.loads(package.stdout)["targets"]


def affected(files, targets):
    """The checks and suites that changed files can break. `targets` are those of Package.swift."""
    if "Package.swift" in files:
        return with_shards([*suites(), *CHECKS])
    reached = {target["name"] for target in targets for file in files if file.startswith(target["path"] + "/")}
    # Files outside of every target: scripts and units, which DeployTests reads.
    if any(file.startswith(("deploy/", "udev/")) or file.endswith(".md") for file in files):
        reached.add("DeployTests")
    grown = True
    while grown:
        more = {target["name"] for target in targets if reached & set(target.get("target_dependencies", []))}
        grown = not more <= reached
        reached |= more
    return with_shards([*reached, *CHECKS])


def parts(wanted):
    """The wanted parts with the steps that they need, in the order in which they start."""
    sanitized = [name for name in wanted if name.startswith("tsan-")]
    # The later builds count as one core: much of the time, one module or the linker is all that they wait for.
    steps = {
        "packages": Part("packages", shell('. deploy/lib/dependencies.sh && install_dependencies "$@"', *wanted), [], 0, {}, "step"),
        "test-data": Part("test-data", shell('. deploy/lib/dependencies.sh && fetch_test_data "$@"', ENVIRONMENT, LOGS),
                          ["packages"], 0, {}, "step"),
        "build": Part("build", ["swift", "build", "--build-tests", *QUICK, "--scratch-path", TREE, *STRICT], [], 2,
                      {"FIELDSCRIBE_QUICK": "1"}, "step"),
        "arm64-tools": Part("arm64-tools", ["Tests/Arm64/build", "--fetch"], ["packages"], 1, {}, "step"),
        "machine-image": Part("machine-image", ["Tests/Appliance/run", "--arm64", "--make-image"], ["arm64-tools"], 1, {}, "step"),
        "arm64-build": Part("arm64-build", ["Tests/Arm64/build", "--quick"], ["arm64-tools"], 1, {}, "step"),
        "tsan-build": Part("tsan-build", ["swift", "build", "--build-tests", *QUICK, "--sanitize=thread", "--scratch-path", ".build/tsan",
                                          *STRICT], ["packages"], 1,
                           {"FIELDSCRIBE_QUICK": "1" if "tsan-RecognizingTests" in sanitized else "none",
                            "FIELDSCRIBE_TARGETS": " ".join(name.removeprefix("tsan-") for name in sanitized)}, "step"),
    }
    made = [made_part(name) for name in wanted]
    needed, waiting = [], ["packages"] + [need for part in made for need in part.needs]
    while waiting:
        name = waiting.pop(0)
        if name in steps and name not in needed:
            needed.append(name)
            waiting += steps[name].needs
    return [steps[name] for name in steps if name in needed] + made


LOGS = ".build/test-logs"
# Where the tests find what was fetched for them; NAME=VALUE lines.
ENVIRONMENT = LOGS + "/environment"


def shell(script, *words):
    return ["bash", "-euo", "pipefail", "-c", script, "deploy/test", *words]


def made_part(name):
    if name in CHECKS:
        return Part(name, shell(CHECKS[name]), [], 1, {}, "check")
    if name in FAULTS:
        return Part(name, [TREE + "/release/chaos", name, *FAULTS[name].split()], ["build", "packages"], 1, {}, "check")
    if name in MACHINES:
        command, needs, cores = MACHINES[name]
        return Part(name, shell(command), needs, cores, {}, "check")
    if name in SANITIZED:
        options = "history_size=7 suppressions=%s/Tests/lib/thread-sanitizer.suppressions" % os.getcwd()
        # DiskLimitTests forks children under limits, into which the sanitizer's own memory does not fit.
        return suite(name, ".build/tsan/release/" + BUNDLE, ["tsan-build", "test-data"], {"TSAN_OPTIONS": options},
                     "--skip", "DiskLimitTests")
    others = [one for shard, types in SHARDS.items() if shard.startswith(name + ".") for one in types]
    skip = ["--skip", types_of(name, others)] if others else []
    return suite(name, TREE + "/release/" + BUNDLE, ["build", "test-data"], {}, *skip)


def types_of(name, types):
    """A pattern of the tests of these types."""
    return r"^%s\.(%s)/" % (name.split(".")[0], "|".join(types))


def suite(name, bundle, needs, variables, *more):
    tests = types_of(name, SHARDS[name]) if name in SHARDS else r"^%s\." % name.removeprefix("tsan-")
    # Scripts of the tests call the programs beside the bundle from other folders.
    command = [os.path.abspath(bundle), "--testing-library", "swift-testing", "--filter", tests, *more,
               "--xunit-output", report(name)]
    return Part(name, command, needs, 0.5 if name.split(".")[0] in WAITING_SUITES else 1, variables, "suite")


def report(name):
    """Where a suite leaves its xUnit report."""
    return "%s/%s.xml" % (LOGS, name)
