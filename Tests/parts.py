"""The parts that `deploy/test` can run, with their commands and needs, and functions that select parts."""

import collections
import json
import os
import subprocess
import tempfile

# `needs` are the parts that must run first, `cores` is the number of cores that the part uses, and `kind` is one of these:
#   step   prepares other parts and is not counted as a test
#   check  passes or fails as a whole
#   suite  runs a test target; each test in its xUnit report counts
Part = collections.namedtuple("Part", "name command needs cores variables kind")

STRICT = ["-Xswiftc", "-warnings-as-errors", "--explicit-target-dependency-import-check", "error"]
# A release build compiles each module as a whole, so without debug information it takes two thirds of a debug build's time.
# Package.swift says which modules are optimized if FIELDSCRIBE_QUICK is set.
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
# Long suites start first, so that none of them runs alone at the end. `fast` skips them, because each needs a model, a browser,
# a server or more than a minute.
LONG_SUITES = ["EndToEndTests", "RecognizingTests", "SpeechTests", "OfficeTests", "PageTests", "CopyingTests", "DeployTests",
               "MoonshineRecognizerTests", "DiarizingTests"]
# These suites count as half a core, because they mostly wait.
WAITING_SUITES = ["EndToEndTests", "RecognizingTests", "SpeechTests", "OfficeTests", "PageTests"]
# EndToEndTests runs as several processes, because one process runs only one blocking test per core at a time. Each of these parts
# runs the tests in its types; the part EndToEndTests runs all others.
SHARDS = {
    "EndToEndTests.run": ["RunTests", "StalledDiskTests", "KilledParentTests", "StickSettingsRunTests", "OverrunTests",
                          "WrongClockTests", "LoggingTests", "OpeningRunTests"],
    "EndToEndTests.archive": ["OwnerTests", "ExportTests", "SealedExportTests", "ImportTests", "AddTests", "RecoverTests", "DayOfUseTests"],
}
# The experiments of Tests/Chaos, in short forms; Tests/Chaos/run has the long forms.
FAULTS = {
    "kill": "--kills 30", "disk": "--steps 8", "corrupt": "--seeds 42",
    "syscalls": "--stride 7", "owners": "--orders 20", "seal": "--cuts 30", "reseal": "--cuts 8", "redact": "--cuts 30",
    "soak": "--hours 2",
}
SCRIPTS = {
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
# The parts that run only with `all` or by name, and those that run only by name.
ONLY_ALL = ["syscalls", "owners", "seal", "reseal", "redact", "soak", "fuzz", *SANITIZED[1:],
            "arm64-sentence", "arm64-suites", "arm64-package", "appliance", "examples", "api"]
ONLY_BY_NAME = ["image"]


def suites():
    """Returns the names of the test targets, long ones first."""
    found = sorted(name for name in os.listdir("Tests") if name.endswith("Tests"))
    return [name for name in LONG_SUITES if name in found] + [name for name in found if name not in LONG_SUITES]


def names():
    """Returns the names of all parts, in the order in which they start."""
    everything = ["power-on", "arm64-sentence", *SHARDS, *suites(), *FAULTS, *SANITIZED, *SCRIPTS, *CHECKS]
    return list(dict.fromkeys(everything))


def select(arguments):
    """Returns the names of the parts that the arguments select."""
    if not arguments:
        return [name for name in names() if name not in ONLY_ALL + ONLY_BY_NAME]
    if arguments == ["all"]:
        return [name for name in names() if name not in ONLY_BY_NAME]
    if arguments == ["fast"]:
        return [name for name in [*suites(), *CHECKS] if name not in LONG_SUITES]
    if arguments[0] == "changed" and len(arguments) <= 2:
        return select_changed(*arguments[1:])
    unknown = [name for name in arguments if name not in names()]
    if unknown:
        raise ValueError("%s: no such part; deploy/test --list prints all names" % unknown[0])
    return with_shards(arguments)


def with_shards(selected):
    """Returns the selected names and the shards of the selected suites, in starting order."""
    return [name for name in names() if name in selected or name in SHARDS and name.split(".")[0] in selected]


def select_changed(commit="origin/main"):
    """Returns the names of the checks, and of the suites that the changes since a commit can break."""
    files = subprocess.run(["git", "diff", "--name-only", "--merge-base", commit, "--"], capture_output=True, text=True)
    if files.returncode != 0:
        raise ValueError("changed: no such commit: %s; see git log" % commit)
    new = subprocess.run(["git", "ls-files", "--others", "--exclude-standard"], check=True, capture_output=True, text=True)
    return select_affected((files.stdout + new.stdout).splitlines(), targets())


def targets():
    """Returns the targets of the package in the current folder, as `swift package describe` prints them."""
    # SwiftPM leaves lock files in TMPDIR.
    with tempfile.TemporaryDirectory() as folder:
        package = subprocess.run(["swift", "package", "describe", "--type", "json"], check=True, capture_output=True, text=True,
                                 env={**os.environ, "TMPDIR": folder})
    return json.loads(package.stdout)["targets"]


def select_affected(files, targets):
    """Returns the names of the checks, and of the suites that changes to these files can break. `targets` comes from `targets()`."""
    if "Package.swift" in files:
        return with_shards([*suites(), *CHECKS])
    modules = {target["name"] for target in targets for file in files if file.startswith(target["path"] + "/")}
    # DeployTests reads scripts, units and documents, which belong to no target.
    if any(file.startswith(("deploy/", "udev/")) or file.endswith(".md") for file in files):
        modules.add("DeployTests")
    has_grown = True
    while has_grown:
        dependents = {target["name"] for target in targets if modules & set(target.get("target_dependencies", []))}
        has_grown = not dependents <= modules
        modules |= dependents
    return with_shards([*modules, *CHECKS])


def parts(selection):
    """Returns the parts with these names and the steps that they need, in starting order."""
    sanitized = [name for name in selection if name.startswith("tsan-")]
    # The builds for arm64 and for the sanitizer count as one core, because they often wait for a single module or for the linker.
    steps = {
        "packages": Part("packages", shell('. deploy/lib/dependencies.sh && install_dependencies "$@"', *selection), [], 0, {}, "step"),
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
    selected = [make_part(name) for name in selection]
    needed, waiting = [], ["packages"] + [need for part in selected for need in part.needs]
    while waiting:
        name = waiting.pop(0)
        if name in steps and name not in needed:
            needed.append(name)
            waiting += steps[name].needs
    return [steps[name] for name in steps if name in needed] + selected


LOGS = ".build/test-logs"
# A file with the paths of downloaded test data, in lines of the form NAME=VALUE.
ENVIRONMENT = LOGS + "/environment"


def shell(script, *arguments):
    return ["bash", "-euo", "pipefail", "-c", script, "deploy/test", *arguments]


def make_part(name):
    if name in CHECKS:
        return Part(name, shell(CHECKS[name]), [], 1, {}, "check")
    if name in FAULTS:
        return Part(name, [TREE + "/release/chaos", name, *FAULTS[name].split()], ["build", "packages"], 1, {}, "check")
    if name in SCRIPTS:
        command, needs, cores = SCRIPTS[name]
        return Part(name, shell(command), needs, cores, {}, "check")
    if name in SANITIZED:
        options = "history_size=7 suppressions=%s/Tests/lib/thread-sanitizer.suppressions" % os.getcwd()
        # DiskLimitTests limits the size of all files that its process writes, including the sanitizer's.
        return suite(name, ".build/tsan/release/" + BUNDLE, ["tsan-build", "test-data"], {"TSAN_OPTIONS": options},
                     "--skip", "DiskLimitTests")
    others = [type_name for shard, types in SHARDS.items() if shard.startswith(name + ".") for type_name in types]
    skip = ["--skip", pattern(name, others)] if others else []
    return suite(name, TREE + "/release/" + BUNDLE, ["build", "test-data"], {}, *skip)


def pattern(name, types):
    """Returns a regular expression for the tests of these types."""
    return r"^%s\.(%s)/" % (name.split(".")[0], "|".join(types))


def suite(name, bundle, needs, variables, *options):
    tests = pattern(name, SHARDS[name]) if name in SHARDS else r"^%s\." % name.removeprefix("tsan-")
    # The path is absolute, because test scripts call the programs beside the bundle from other folders.
    command = [os.path.abspath(bundle), "--testing-library", "swift-testing", "--filter", tests, *options,
               "--xunit-output", report(name)]
    return Part(name, command, needs, 0.5 if name.split(".")[0] in WAITING_SUITES else 1, variables, "suite")


def report(name):
    """Returns the path of a suite's xUnit report."""
    return "%s/%s.xml" % (LOGS, name)
