"""The base class of all emulated machines: power and sticks, controlled through the QEMU Machine Protocol (QMP)."""

import contextlib
import json
import os
import socket
import subprocess
import time

# A factor for all timeouts, because these tests share the host with other work.
SLOWDOWN = 3


class TimedOut(Exception):
    """A wait timed out."""


class GuestError(Exception):
    """A command in the machine failed."""


class Emulator:
    """A qemu process whose sockets and logs are in the folder `work`."""

    # qemu's properties of the USB port for sticks.
    PORT = {}

    def __init__(self, work):
        self.work = os.path.abspath(work)
        os.makedirs(self.work, exist_ok=True)
        self.process = None

    def path(self, name):
        return os.path.join(self.work, name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process:
            self.power_cut()

    def power_cut(self):
        """Cuts the power."""
        self.process.kill()
        self.process.wait()
        self.process = None

    def launch(self, arguments, sockets, priority=0):
        """Starts qemu. The arguments must create the sockets, one of which is `qmp`. The kernel kills qemu when this process exits."""
        for name in sockets:
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))
        nice = ["nice", "-n", str(priority)] if priority else []
        with open(self.path("qemu.log"), "a") as log:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL"] + nice + arguments, start_new_session=True,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        # With autogroup scheduling, a nice value counts only within its session, so this also gives qemu's session the priority.
        with contextlib.suppress(OSError), open("/proc/%d/autogroup" % self.process.pid, "w") as file:
            file.write(str(priority))
        channel = self.connect("qmp")
        channel.settimeout(60 * SLOWDOWN)
        self._qmp = channel.makefile("rw")
        json.loads(self._qmp.readline())
        self.command("qmp_capabilities")

    def command(self, name, **arguments):
        """Sends a QMP command and returns its result."""
        self._qmp.write(json.dumps({"execute": name, "arguments": arguments}) + "\n")
        self._qmp.flush()
        while True:
            answer = json.loads(self._qmp.readline())
            if "error" in answer:
                raise GuestError(answer["error"]["desc"])
            if "return" in answer:
                return answer["return"]

    def stick_in(self, image, name="stick", read_only=False, refuses_writes=False):
        disk = {"driver": "file", "filename": os.path.abspath(image)}
        if refuses_writes:
            disk = {"driver": "blkdebug", "image": disk, "inject-error": [{"event": "none", "iotype": "write", "errno": 5}]}
        self.command("blockdev-add", **{"node-name": name + "-disk", "driver": "raw", "read-only": read_only,
                                        "cache": {"no-flush": True}, "file": disk})
        # Sets a serial number, because qemu's default depends on the port, which changes.
        self.command("device_add", driver="usb-storage", id=name, drive=name + "-disk", removable=True,
                     serial="FIELDSCRIBE-" + name.upper(), **self.PORT)

    def stick_out(self, name="stick"):
        """Pulls the stick out, even if it is in use."""
        self.command("device_del", id=name)
        self.wait(lambda: self._is_removed(name), 30, "the stick is removed")

    def _is_removed(self, name):
        try:
            self.command("blockdev-del", **{"node-name": name + "-disk"})
            return True
        except GuestError:
            return False

    def connect(self, name):
        """Connects to a socket that qemu opens."""
        def attempt():
            channel = socket.socket(socket.AF_UNIX)
            try:
                channel.connect(self.path(name))
                return channel
            except OSError:
                channel.close()
                if self.process.poll() is not None:
                    with open(self.path("qemu.log")) as log:
                        raise GuestError("qemu exited: " + log.read()[-2000:])
                return None
        return self.wait(attempt, 20, "qemu's socket " + name)

    @staticmethod
    def wait(condition, timeout, description):
        """Evaluates the condition until it is true, and returns its value."""
        began = time.monotonic()
        while True:
            if result := condition():
                return result
            if time.monotonic() - began > timeout * SLOWDOWN:  # wait: a limit
                raise TimedOut("after %d s: %s" % (time.monotonic() - began, description))
            time.sleep(0.2)  # wait: polls for the condition
