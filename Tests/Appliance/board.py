"""A Raspberry Pi 3B as qemu emulates it, with the image's card in it; and a shell on its serial line, which the kernel's command
line asks for in this test alone. The firmware's own stage is not emulated: what it would load is taken from the card for it."""

import hashlib
import json
import os
import re
import select
import socket
import subprocess
import time

from machine import GuestError, TimedOut

SECTOR = 512
MIB = 1 << 20
SHELL = "systemd.debug_shell systemd.default_debug_tty=ttyS1"
# qemu's board is reset at once by what the driver does to start the watchdog; and four processors on two are slower than two.
EMULATED = "module_blacklist=bcm2835_wdt maxcpus=2"
PATIENCE = 3


def tool(*words, data=None):
    """A program of this machine; returns what it says."""
    environment = dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin", MTOOLS_SKIP_CHECK="1", LC_ALL="C")
    done = subprocess.run(words, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    if done.returncode:
        raise GuestError("%s: %s" % (" ".join(words), (done.stdout + done.stderr).decode(errors="replace")[-2000:]))
    return done.stdout


class Card:
    """The card's content, in a file."""

    def __init__(self, path):
        self.path = path

    def partitions(self):
        """(start, bytes, type) of each, in bytes."""
        table = json.loads(tool("sfdisk", "--json", self.path))["partitiontable"]
        return [(part["start"] * SECTOR, part["size"] * SECTOR, part["type"]) for part in table["partitions"]]

    def firmware(self, *words, data=None):
        """An mtools program on the first partition: `firmware("mtype", "::config.txt")`."""
        where = "%s@@%d" % (self.path, self.partitions()[0][0])
        return tool(words[0], "-i", where, *words[1:], data=data)

    def text(self, name):
        return self.firmware("mtype", "::" + name)

    def put(self, name, data):
        self.firmware("mcopy", "-o", "-", "::" + name, data=data)

    def part(self, number, path):
        """A copy of a partition in a file of its own."""
        start, size, _ = self.partitions()[number - 1]
        tool("dd", "if=" + self.path, "of=" + path, "bs=1M", "iflag=skip_bytes,count_bytes", "skip=%d" % start, "count=%d" % size,
             "conv=sparse")
        return path

    def hash_of_system(self):
        start, size, _ = self.partitions()[1]
        with open(self.path, "rb") as file:
            digest = hashlib.sha256()
            file.seek(start)
            while size > 0:
                block = file.read(min(size, MIB))
                digest.update(block)
                size -= len(block)
            return digest.hexdigest()


class Board:
    """The board with that card, in a folder where its sockets and logs lie."""

    def __init__(self, folder, card):
        self.folder, self.card, self.process = folder, card, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process:
            self.power_cut()

    def path(self, name):
        return os.path.join(self.folder, name)

    def load(self):
        """What the firmware would read from the card."""
        for name in ("vmlinuz", "initrd.img", "bcm2837-rpi-3-b.dtb", "cmdline.txt"):
            with open(self.path(name), "wb") as file:
                file.write(self.card.text(name))

    def power_on(self, more=SHELL):
        self.load()
        with open(self.path("cmdline.txt")) as file:
            line = "%s %s %s" % (file.read().strip(), EMULATED, more)
        for name in ("qmp", "serial"):
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))
        words = ["qemu-system-aarch64", "-M", "raspi3b", "-accel", "tcg,thread=multi,tb-size=512", "-display", "none", "-no-reboot",
                 "-kernel", self.path("vmlinuz"), "-initrd", self.path("initrd.img"), "-dtb", self.path("bcm2837-rpi-3-b.dtb"),
                 "-append", line, "-drive", "file=%s,if=sd,format=raw" % self.card.path,
                 "-serial", "null",
                 "-chardev", "socket,id=serial,server=on,wait=off,logfile=%s,logappend=on,path=%s" % (
                     self.path("serial.log"), self.path("serial")),
                 "-serial", "chardev:serial", "-monitor", "none", "-qmp", "unix:%s,server=on,wait=off" % self.path("qmp")]
        self.began = time.monotonic()
        with open(self.path("qemu.log"), "a") as log:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL"] + words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._serial, self._buffer, self._asked = self._connect("serial"), b"", 0
        channel = self._connect("qmp")
        channel.settimeout(60)
        self._qmp = channel.makefile("rw")
        self._qmp.readline()
        self.command("qmp_capabilities")

    def power_cut(self):
        self.process.kill()
        self.process.wait()
        self.process = None

    def _connect(self, name):
        for _ in range(200):
            channel = socket.socket(socket.AF_UNIX)
            try:
                channel.connect(self.path(name))
                return channel
            except OSError:
                channel.close()
                if self.process.poll() is not None:
                    with open(self.path("qemu.log")) as log:
                        raise GuestError("qemu ended: " + log.read()[-2000:])
                time.sleep(0.1)
        raise TimedOut("qemu's socket " + name)

    def command(self, name, **arguments):
        self._qmp.write(json.dumps({"execute": name, "arguments": arguments}) + "\n")
        self._qmp.flush()
        while True:
            answer = json.loads(self._qmp.readline())
            if "error" in answer:
                raise GuestError(answer["error"]["desc"])
            if "return" in answer:
                return answer["return"]

    def stick_in(self, path, name="stick"):
        self.command("blockdev-add", **{"node-name": name + "-disk", "driver": "raw", "file": {"driver": "file", "filename": path}})
        self.command("device_add", driver="usb-storage", id=name, drive=name + "-disk", removable=True)

    def stick_out(self, name="stick"):
        self.command("device_del", id=name)
        for _ in range(300):
            try:
                return self.command("blockdev-del", **{"node-name": name + "-disk"})
            except GuestError:
                time.sleep(0.1)
        raise TimedOut("the stick cannot be pulled out")

    # The shell on the serial line.

    def wait_for_shell(self, timeout=120):
        """Seconds from power on until it answers."""
        end = time.monotonic() + timeout * PATIENCE
        while time.monotonic() < end:
            self._serial.sendall(b"\nstty -echo; exec env TERM=dumb PS1= PS2= sh\necho SHELL-$((1+1))\n")
            if self._read_until(re.compile(rb"SHELL-2\r?\n"), 3):
                # Answers to what was asked before the shell was there.
                while self._read_until(re.compile(rb"SHELL-2\r?\n"), 1):
                    pass
                self._buffer = b""
                return time.monotonic() - self.began
        raise TimedOut("no shell on the serial line after %d s" % (timeout * PATIENCE))

    def shell(self, script, timeout=60, check=True):
        self._asked += 1
        mark = "END-%d" % self._asked
        self._serial.sendall(("{ %s\n} 2>&1; s=$?; echo; echo %s-'STATUS'-$s-\n" % (script.strip(), mark)).encode())
        found = self._read_until(re.compile((mark + r"-STATUS-(\d+)-\r?\n").encode()), timeout * PATIENCE)
        if not found:
            raise TimedOut("no answer from the board after %d s: %s" % (timeout * PATIENCE, script))
        said, status = found[0].decode(errors="replace").replace("\r", "").strip(), int(found[1])
        if check and status:
            raise GuestError("status %d of: %s\n%s" % (status, script, said[-3000:]))
        return said

    def until(self, script, timeout=120):
        """Again and again until it succeeds; returns what it says."""
        end = time.monotonic() + timeout * PATIENCE
        while True:
            try:
                return self.shell(script)
            except GuestError as error:
                if time.monotonic() > end:
                    raise TimedOut("after %d s: %s" % (timeout * PATIENCE, error))
                time.sleep(0.5)

    def _read_until(self, pattern, seconds):
        end = time.monotonic() + seconds
        while True:
            if found := pattern.search(self._buffer):
                before, self._buffer = self._buffer[:found.start()], self._buffer[found.end():]
                return before, *found.groups()
            rest = end - time.monotonic()
            if rest <= 0:
                return None
            if select.select([self._serial], [], [], rest)[0]:
                data = self._serial.recv(1 << 16)
                if not data:
                    raise GuestError("the board is gone; see " + self.path("serial.log"))
                self._buffer += data
