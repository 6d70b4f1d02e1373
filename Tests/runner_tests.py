"""Tests the runner and the checks: python3 -B Tests/runner_tests.py"""

import contextlib
import fcntl
import io
import os
import subprocess
import tempfile
import time
import unittest

import parts
import runner

XUNIT = """<testsuites><testsuite name="TestResults" tests="3">
<testcase classname="PanelTests.Gesture" name="press()" time="0.1"/>
<testcase classname="PanelTests.Gesture" name="hold()" time="0.1"><failure message="Expectation failed: 1 == 2"/></testcase>
<testcase classname="PanelTests.Gesture" name="later()" time="0"><skipped/></testcase>
</testsuite></testsuites>"""
TARGETS = [
    {"name": "Core", "path": "Sources/Core"},
    {"name": "Panel", "path": "Sources/Panel", "target_dependencies": ["Core"]},
    {"name": "PanelTests", "path": "Tests/PanelTests", "target_dependencies": ["Panel"]},
    {"name": "OfficeTests", "path": "Tests/OfficeTests", "target_dependencies": ["Core"]},
]


class RunnerTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.folder = folder.name
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        os.makedirs(parts.LOGS)

    def run_parts(self, *waiting):
        """Runs parts as `deploy/test` does. Returns the exit status and the output."""
        done, began, output = [], time.monotonic(), io.StringIO()
        folder = os.path.join(self.folder, "temporary")
        os.mkdir(folder)
        with contextlib.redirect_stdout(output):
            runner.run_all(list(waiting), folder, [], done, began)
            status = runner.report([part.name for part in waiting], done, [], time.monotonic() - began)
        return status, output.getvalue()

    def part(self, name, script, needs=(), kind="check"):
        return parts.Part(name, parts.shell(script), list(needs), 1, {}, kind)

    def suite(self, script, report=XUNIT):
        with open("report", "w") as file:
            file.write(report)
        return self.part("PanelTests", "cp report %s; %s" % (parts.report("PanelTests"), script), kind="suite")

    def test_parts_do_not_read_the_environment_of_an_earlier_run(self):
        with open(parts.ENVIRONMENT, "w") as file:
            file.write("ORIGIN=old\n")
        build = self.part("build", '[ -z "${ORIGIN:-}" ]', kind="step")
        data = self.part("test-data", "echo ORIGIN=${ORIGIN:-}new >%s" % parts.ENVIRONMENT, kind="step")
        status, _ = self.run_parts(build, data, self.part("later", '[ "$ORIGIN" = new ]', needs=["test-data"]))
        self.assertEqual(status, 0)

    def test_prints_the_failures_and_the_totals_last(self):
        status, output = self.run_parts(self.suite("exit 1"))
        self.assertEqual(status, 1)
        self.assertEqual(output.splitlines()[-3:], [
            "FAIL  PanelTests: PanelTests.Gesture.hold(): Expectation failed: 1 == 2",
            "      .build/test-logs/PanelTests.log",
            "1 passed, 1 failed"])

    def test_a_suite_that_crashes_or_runs_no_test_fails(self):
        crash_status, crash_output = self.run_parts(self.part("PanelTests", "echo Fatal error: index; kill -ILL $$", kind="suite"))
        self.assertEqual(crash_status, 1)
        self.assertIn("FAIL  PanelTests: no report, status -4: Fatal error: index", crash_output)
        os.rmdir("temporary")
        _, empty_output = self.run_parts(self.suite("true", "<testsuites/>"))
        self.assertIn("no test ran", empty_output)
        self.assertIn("0 passed, 1 failed", empty_output)

    def test_names_the_unfinished_tests_of_a_killed_suite(self):
        log = ['◇ Test run started.', '◇ Test "holds" started.', '◇ Test "taps" started.',
               '◇ Test case passing 1 argument kind → folder to "taps" started.',
               '✔ Test "taps" with 2 test cases passed after 0.1 seconds.', '◇ Test name() started.', '✘ Test name() failed after 1 seconds.']
        with open("log", "w") as file:
            file.write("\n".join(log) + "\n")
        _, output = self.run_parts(self.part("PanelTests", "cat log; kill -KILL $$", kind="suite"))
        self.assertIn('FAIL  PanelTests: no report, status -9: not finished: "holds"\n      ◇ Test run', output)

    def test_a_suite_with_a_data_race_fails_even_if_its_tests_pass(self):
        report = XUNIT.replace('<failure message="Expectation failed: 1 == 2"/>', "")
        status, output = self.run_parts(self.suite("echo 'SUMMARY: ThreadSanitizer: data race in f'; exit 66", report))
        self.assertEqual(status, 1)
        self.assertIn("FAIL  PanelTests: data race: SUMMARY: ThreadSanitizer: data race in f", output)

    def test_a_suite_that_exits_with_an_error_fails_even_if_its_tests_pass(self):
        report = XUNIT.replace('<failure message="Expectation failed: 1 == 2"/>', "")
        status, output = self.run_parts(self.suite("echo Fatal error; exit 66", report))
        self.assertEqual(status, 1)
        self.assertIn("FAIL  PanelTests: status 66: Fatal error", output)

    def test_a_part_that_needs_a_failed_step_is_skipped_and_counts_as_failed(self):
        status, output = self.run_parts(self.part("build", "echo 'f.swift:1: error: no'; exit 1", kind="step"),
                                        self.part("kill", "true", ["build"]))
        self.assertEqual(status, 1)
        self.assertIn("skipped: kill: it needs build", output)
        self.assertIn("FAIL  kill: did not run", output)
        self.assertIn("f.swift:1: error: no", output)

    def test_a_part_that_leaves_files_fails_and_the_files_are_removed(self):
        status, output = self.run_parts(self.part("kill", 'touch "$TMPDIR/left"'))
        self.assertEqual(status, 1)
        self.assertIn("FAIL  kill: left in its temporary folder: left", output)
        self.assertEqual(os.listdir("temporary"), [])

    def test_only_orphans_that_do_not_exit_by_themselves_are_reported(self):
        helper = subprocess.Popen(["sh", "-c", "read line; sleep 0.2"], stdin=subprocess.DEVNULL)  # wait: outlives the first check
        self.assertEqual(runner.kill_orphans(), [])
        helper.returncode = 0
        with subprocess.Popen(["sh", "-c", "echo started; read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as helper:
            helper.stdout.readline()
            self.assertEqual(runner.kill_orphans(0), ["sh -c echo started; read line"])
            helper.returncode = -9

    def test_a_part_starts_after_the_part_that_it_needs(self):
        _, output = self.run_parts(self.part("second", "cat order", ["first"]), self.part("first", "echo 1 >order"))
        self.assertIn("2 passed, 0 failed", output)

    def test_a_change_selects_the_suites_of_dependent_modules(self):
        os.mkdir("Tests")
        for name in ("PanelTests", "OfficeTests", "DeployTests"):
            os.mkdir("Tests/" + name)
        checks = list(parts.CHECKS)
        self.assertEqual(parts.select_affected(["Sources/Panel/Lamp.swift"], TARGETS), ["PanelTests"] + checks)
        self.assertEqual(parts.select_affected(["Sources/Core/Clock.swift"], TARGETS), ["OfficeTests", "PanelTests"] + checks)
        self.assertEqual(parts.select_affected(["Sources/PanelOther.swift"], TARGETS), checks)
        self.assertEqual(parts.select_affected(["deploy/stick"], TARGETS), ["DeployTests"] + checks)
        self.assertEqual(parts.select_affected(["Package.swift"], TARGETS), ["OfficeTests", "DeployTests", "PanelTests"] + checks)

    def test_a_second_run_in_the_same_folder_is_refused(self):
        os.mkdir("Tests")
        errors = io.StringIO()
        with open(parts.LOGS + "/lock", "w") as lock, contextlib.redirect_stderr(errors):
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertEqual(runner.main(["imports"]), 2)
        self.assertIn("another run is using it", errors.getvalue())

    def test_an_unknown_part_is_an_error_with_its_name(self):
        os.mkdir("Tests")
        with self.assertRaisesRegex(ValueError, "Nonsense: no such part"):
            parts.select(["Nonsense"])


class WordsTests(unittest.TestCase):
    """Runs Tests/check-words on a temporary file."""

    def check(self, text):
        """Checks a file with this text. Returns the printed lines, without the file's name, and the exit status."""
        with tempfile.NamedTemporaryFile("w", suffix=".swift") as file:
            file.write(text)
            file.flush()
            script = os.path.join(os.path.dirname(os.path.abspath(parts.__file__)), "check-words")
            done = subprocess.run(["python3", "-B", script, file.name], capture_output=True, text=True)
            return [line.removeprefix(file.name + ":") for line in done.stdout.splitlines()], done.returncode

    def test_prints_line_word_and_replacement(self):
        printed, status = self.check("// Fine.\n// This is told of, and made Anew.\n")
        self.assertEqual(printed, ['2: "is told of" is retired; write reported; warns, learns of',
                                   '2: "Anew" is retired; write again, from scratch', "2 retired words"])
        self.assertEqual(status, 1)

    def test_splits_identifiers_into_words(self):
        printed, _ = self.check("let struckRanges = isTwiceTheSame\nlet mostWaiting = UPKEEP_RUNS\n")
        self.assertEqual([line.split('"')[1] for line in printed[:-1]],
                         ["struck", "is Twice The Same", "most Waiting", "UPKEEP"])

    def test_accepts_other_words_and_exceptions(self):
        self.assertEqual(self.check('// A household redacts; renew it.\ncase redacted = "struck"\n'), (["0 retired words"], 0))


class NamedTestsTests(unittest.TestCase):
    """Runs Tests/check-docs on a page that names tests."""

    def test_each_named_test_must_exist(self):
        script = os.path.join(os.path.dirname(os.path.abspath(parts.__file__)), "check-docs")
        with tempfile.NamedTemporaryFile("w", suffix=".md") as page:
            page.write("| `PanelTests.ButtonGestureTests/toggle`, `/never`; `/proc` |\n`PanelTests.NoTests/quick`, `PanelTests`\n")
            page.flush()
            done = subprocess.run(["python3", "-B", script, page.name], capture_output=True, text=True)
        name = os.path.basename(page.name)
        self.assertEqual(done.stdout.splitlines(), [name + ":1: PanelTests.ButtonGestureTests/never: no such test",
                                                    name + ":2: PanelTests.NoTests/quick: no such test"])
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
