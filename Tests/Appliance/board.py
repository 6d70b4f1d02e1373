"""A Raspberry Pi 3B, emulated by qemu, with the card image. Kernel parameters add a shell on the serial line for the tests. qemu does
not emulate the firmware, so this module reads the files that the firmware would load from the card."""

import base64
import hashlib
import json
import os
import re
import select
import subprocess
import time

from emulator import SLOWDOWN, Emulator, GuestError, TimedOut

SECTOR = 512
MIB = 1 << 20
SHELL_PARAMETERS = "systemd.debug_shell systemd.default_debug_tty=ttyS1"
# Starting a watchdog resets qemu's board immediately. Four emulated processors on two real ones are slower than two. An emulated
# board may stall for longer than the timeout of the service's watchdog.
EMULATION_PARAMETERS = "systemd.watchdog_sec=0 maxcpus=2 systemd.set_credential_binary=systemd.unit-dropin.fieldscribe.service~emulated:" + (
    base64.b64encode(b"[Service]\nWatchdogSec=60\n").decode())
DEVICE_TREE = "bcm2837-rpi-3-b.dtb"


def run_tool(*arguments, data=None):
    """Runs a program on the host and returns its output."""
    environment = dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin", MTOOLS_SKIP_CHECK="1", LC_ALL="C")
    done = subprocess.run(arguments, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    if done.returncode:
        raise GuestError("%s: %s" % (" ".join(arguments), (done.stdout + done.stderr).decode(errors="replace")[-2000:]))
    return done.stdout


class Card:
    """A card whose content is in a file."""

    def __init__(self, path):
        self.path = path

    def partitions(self):
        """Returns (start, size, type) of each partition; start and size are in bytes."""
        table = json.loads(run_tool("sfdisk", "--json", self.path))["partitiontable"]
        return [(part["start"] * SECTOR, part["size"] * SECTOR, part["type"]) for part in table["partitions"]]

    def firmware(self, *arguments, data=None):
        """Runs an mtools program on the first partition, for example `firmware("mtype", "::config.txt")`."""
        image = "%s@@%d" % (self.path, self.partitions()[0][0])
        return run_tool(arguments[0], "-i", image, *arguments[1:], data=data)

    def content(self, name):
        return self.firmware("mtype", "::" + name)

    def put(self, name, data):
        self.firmware("mcopy", "-o", "-", "::" + name, data=data)

    def names(self, folder=""):
        """Returns the names in a folder on the first partition."""
        entries = self.firmware("mdir", "-b", "::" + folder).decode().split()
        return {os.path.basename(name.rstrip("/")) for name in entries}

    def configuration(self):
        """Returns the lines of config.txt and of the files that it includes. Later lines override earlier ones."""
        lines = []
        for line in self.content("config.txt").decode().splitlines():
            lines += self.content(line.split()[1]).decode().splitlines() if line.startswith("include ") else [line]
        return [line.strip() for line in lines if line.strip() and not line.startswith("#")]

    def boot_names(self):
        """Returns the names that the firmware would use: (the prefix, the kernel, the initial ramdisk). The firmware ignores a
        prefix unless both the kernel and the device tree exist with it."""
        values = dict(line.split("=", 1) for line in self.configuration() if "=" in line)
        prefix = values.get("os_prefix", "")
        folder = self.names("/" + prefix.rstrip("/")) if prefix and prefix.rstrip("/") in self.names() else set()
        if not {values["kernel"], DEVICE_TREE} <= folder:
            prefix = ""
        ramdisk = [line.split()[1] for line in self.configuration() if line.startswith("initramfs ")]
        return prefix, values["kernel"], ramdisk[-1]

    def copy_partition(self, number, path):
        """Copies a partition to a file and returns the file's path."""
        start, size, _ = self.partitions()[number - 1]
        run_tool("dd", "if=" + self.path, "of=" + path, "bs=1M", "iflag=skip_bytes,count_bytes", "skip=%d" % start, "count=%d" % size,
             "conv=sparse")
        return path

    def hash_of_system(self, number=2):
        """Returns the SHA-256 of a system's partition."""
        start, size, _ = self.partitions()[number - 1]
        with open(self.path, "rb") as file:
            digest = hashlib.sha256()
            file.seek(start)
            while size > 0:
                block = file.read(min(size, MIB))
                digest.update(block)
                size -= len(block)
            return digest.hexdigest()


class Board(Emulator):
    """A board with a card, and a folder for its sockets and logs."""

    def __init__(self, folder, card):
        super().__init__(folder)
        self.card = card

    def load(self):
        """Copies the files that the firmware would load from the card."""
        prefix, kernel, ramdisk = self.card.boot_names()
        for name, source in (("vmlinuz", kernel), ("initrd.img", ramdisk), (DEVICE_TREE, DEVICE_TREE), ("cmdline.txt", "cmdline.txt")):
            with open(self.path(name), "wb") as file:
                file.write(self.card.content(prefix + source))

    def power_on(self, parameters=SHELL_PARAMETERS, load=True):
        """Switches the board on. If `load` is false, uses the files that were loaded earlier, for a card that can no longer be read."""
        if load:
            self.load()
        with open(self.path("cmdline.txt")) as file:
            line = "%s %s %s" % (file.read().strip(), EMULATION_PARAMETERS, parameters)
        arguments = ["qemu-system-aarch64", "-M", "raspi3b", "-accel", "tcg,thread=multi,tb-size=512", "-display", "none", "-no-reboot",
                 "-kernel", self.path("vmlinuz"), "-initrd", self.path("initrd.img"), "-dtb", self.path(DEVICE_TREE),
                 "-append", line, "-drive", "file=%s,if=sd,format=raw" % self.card.path,
                 "-serial", "null",
                 "-chardev", "socket,id=serial,server=on,wait=off,logfile=%s,logappend=on,path=%s" % (
                     self.path("serial.log"), self.path("serial")),
                 "-serial", "chardev:serial", "-monitor", "none", "-qmp", "unix:%s,server=on,wait=off" % self.path("qmp")]
        self.began = time.monotonic()
        self.launch(arguments, ["qmp", "serial"], priority=-10)
        self._serial, self._buffer, self._scripts = self.connect("serial"), b"", 0

    def wait_for_restart(self, timeout):
        """Waits until the board restarts, which stops the emulator."""
        self.wait(lambda: self.process.poll() is not None, timeout, "the board does not restart")
        self.process = None

    # The shell on the serial line

    def wait_for_shell(self, timeout=120):
        """Waits until the shell answers, and returns the seconds since power-on."""
        end = time.monotonic() + timeout * SLOWDOWN
        while time.monotonic() < end:  # wait: a limit
            self._serial.sendall(b"\nstty -echo; exec env TERM=dumb PS1= PS2= sh\necho SHELL-$((1+1))\n")
            if self._read_until(re.compile(rb"SHELL-2\r?\n"), 3):
                # Reads past the answers to earlier commands. Repeats the command, because input may be lost while the shell starts.
                for number in range(20 * SLOWDOWN):
                    self._serial.sendall(b"\necho ALL-%d-$((1+1))\n" % number)
                    if self._read_until(re.compile(rb"ALL-%d-2\r?\n" % number), 5):
                        break
                else:
                    raise TimedOut("the shell on the serial line stopped answering")
                return time.monotonic() - self.began
        raise TimedOut("no shell on the serial line after %d s" % (timeout * SLOWDOWN))

    def shell(self, script, timeout=60, check=True):
        self._scripts += 1
        # After a restart of the shell, the line echoes its input, so a mark also precedes the answer.
        begin, end = "BEGIN-%d" % self._scripts, "END-%d" % self._scripts
        self._serial.sendall(("{ echo; echo %s-'ANSWER'; %s\n} 2>&1; s=$?; echo; echo %s-'STATUS'-$s-\n" % (
            begin, script.strip(), end)).encode())
        found = self._read_until(
            re.compile((begin + r"-ANSWER\r?\n(.*)" + end + r"-STATUS-(\d+)-\r?\n").encode(), re.DOTALL), timeout * SLOWDOWN)
        if not found:
            raise TimedOut("no answer from the board after %d s: %s" % (timeout * SLOWDOWN, script))
        output, status = found[1].decode(errors="replace").replace("\r", "").strip(), int(found[2])
        if check and status:
            raise GuestError("status %d of: %s\n%s" % (status, script, output[-3000:]))
        return output

    def leave_shell(self):
        """Exits the shell and waits for the next one."""
        self._serial.sendall(b"exit\n")
        time.sleep(3)  # wait: avoids sending commands that no shell reads; lost commands are sent again
        self.wait_for_shell()

    def until(self, script, timeout=120):
        """Runs a script repeatedly until it succeeds, and returns its output."""
        end = time.monotonic() + timeout * SLOWDOWN
        while True:
            try:
                return self.shell(script)
            except GuestError as error:
                if time.monotonic() > end:  # wait: a limit
                    raise TimedOut("after %d s: %s" % (timeout * SLOWDOWN, error))
                time.sleep(0.5)  # wait: polls for success

    def _read_until(self, pattern, seconds):
        end = time.monotonic() + seconds
        while True:
            if found := pattern.search(self._buffer):
                before, self._buffer = self._buffer[:found.start()], self._buffer[found.end():]
                return before, *found.groups()
            remaining = end - time.monotonic()
            if remaining <= 0:  # wait: a limit
                return None
            if select.select([self._serial], [], [], remaining)[0]:
                data = self._serial.recv(1 << 16)
                if not data:
                    raise GuestError("the board stopped; see " + self.path("serial.log"))
                self._buffer += data
