"""A virtual machine: power, sticks and a shell inside, through qemu's sockets."""

import base64
import os
import re
import socket
import subprocess
import time

from emulator import SLOWDOWN, Emulator, GuestError, TimedOut


class EmulationFailed(Exception):
    """The emulated machine itself failed, so nothing is known about the appliance."""


class Starved(EmulationFailed):
    """The machine got too little processor time for the test's timing."""


def copy_disk(source, target):
    """Copies a sparse disk image."""
    subprocess.run(["cp", "--sparse=always", "--reflink=auto", source, target], check=True)


def architecture_of(image):
    """Returns the Debian architecture of the disk in a folder."""
    with open(os.path.join(image, "architecture")) as file:
        return file.read().strip()


class Machine(Emulator):
    """A machine with its own disk. The folder `work` contains its console log and sockets."""

    PORT = {"bus": "xhci.0"}

    # Units that a machine does not need if it runs only for minutes. They take a third of the boot time.
    MASKED = """modprobe@drm.service modprobe@fuse.service modprobe@dm_mod.service modprobe@efi_pstore.service
        modprobe@loop.service sys-kernel-debug.mount sys-kernel-tracing.mount dev-hugepages.mount dev-mqueue.mount
        systemd-update-utmp.service systemd-user-sessions.service systemd-logind.service getty.target
        sys-fs-fuse-connections.mount""".split()

    KERNEL = ("root=/dev/vda rw loglevel=5 panic=-1 nokaslr mitigations=off net.ifnames=0 "
              "module_blacklist=kvm,psmouse,pcspkr,iTCO_wdt,lpc_ich random.trust_cpu=on systemd.show_status=0 "
              "rcupdate.rcu_expedited=1 ")
    # For each architecture, the command that emulates the board, and additional kernel parameters.
    BOARDS = {
        "amd64": (["qemu-system-x86_64", "-M", "q35,sata=off,smbus=off", "-cpu", "max,svm=off,la57=off"],
                  "console=ttyS0 no_timer_check tsc=reliable 8250.nr_uarts=1 "),
        # The Raspberry Pi 4's processor.
        "arm64": (["qemu-system-aarch64", "-M", "virt,gic-version=3", "-cpu", "cortex-a72"], "console=ttyAMA0 "),
    }

    def __init__(self, image, work, log_writes=False):
        """If `log_writes`, qemu records every write and flush of the disk in the file `writes`, for the module `crash`."""
        super().__init__(work)
        self.image, self.log_writes = os.path.abspath(image), log_writes
        self.board, self.console = self.BOARDS[architecture_of(image)]
        self.disk = self.path("root.img")
        self._buffer, self._scripts = b"", 0

    # Power

    def boot(self, *arguments, timeout=120):
        """Switches the machine on, with additional arguments for qemu, and returns the seconds until it answers."""
        began = time.monotonic()
        self._start(list(arguments))
        while not self._line(timeout - (time.monotonic() - began)).startswith("READY"):
            pass
        return time.monotonic() - began

    def resume(self, state):
        """Continues from the saved state of a machine."""
        copy_disk(os.path.join(state, "root.img"), self.disk)
        self._start(["-incoming", "exec:cat " + os.path.abspath(os.path.join(state, "ram"))])
        while self.command("query-status")["status"] == "inmigrate":
            time.sleep(0.05)  # wait: polls until the machine runs
        self.command("cont")
        self.shell("date -s @%.3f" % time.time())

    def save(self, state):
        """Saves the memory and the disk of the running machine in a folder, and switches the machine off. No stick may be plugged in."""
        os.makedirs(state, exist_ok=True)
        self.shell("sync")
        self.command("stop")
        self.command("migrate", uri="exec:cat > " + os.path.abspath(os.path.join(state, "ram")))
        while (status := self.command("query-migrate").get("status")) != "completed":
            if status == "failed":
                raise GuestError("the machine's state cannot be saved")
            time.sleep(0.1)  # wait: polls until the memory is saved
        self.power_cut()
        copy_disk(self.disk, os.path.join(state, "root.img"))

    def _start(self, more_arguments):
        arguments = [*self.board, "-accel", "tcg,thread=multi,tb-size=512", "-smp", "2", "-m", "512", "-nodefaults",
                 "-no-user-config", "-display", "none", "-no-reboot",
                 "-kernel", self.image + "/vmlinuz", "-initrd", self.image + "/initrd.img",
                 "-append", self.KERNEL + self.console + " ".join("systemd.mask=" + unit for unit in self.MASKED),
                 "-chardev", "file,id=console,append=on,path=" + self.path("console.log"),
                 "-serial", "chardev:console",
                 "-qmp", "unix:%s,server=on,wait=off" % self.path("qmp"),
                 "-device", "virtio-serial-pci",
                 "-chardev", "socket,id=agent,server=on,wait=off,path=" + self.path("agent"),
                 "-device", "virtserialport,chardev=agent,name=agent",
                 "-device", "virtio-rng-pci", "-device", "qemu-xhci,id=xhci",
                 "-device", "virtio-blk-pci,drive=disk"]
        # Flushes need not reach the host's disk, which may be busy for seconds, because only the virtual machine loses power. The
        # record of writes still contains the flushes.
        if self.log_writes:
            open(self.path("writes"), "w").close()
            arguments += ["-blockdev", "driver=blklogwrites,node-name=disk,log-sector-size=512,file.driver=raw,"
                      "file.file.driver=file,file.file.filename=%s,file.cache.no-flush=on,log.driver=raw,"
                      "log.file.driver=file,log.file.filename=%s,log.cache.no-flush=on" % (self.disk, self.path("writes"))]
        else:
            arguments += ["-blockdev", "driver=raw,node-name=disk,cache.no-flush=on,file.driver=file,file.filename=" + self.disk]
        self._buffer = b""
        self._start_of_console = os.path.getsize(self.path("console.log")) if os.path.exists(self.path("console.log")) else 0
        # Gives qemu priority over other work on the host: without enough processor time, sound and button are not like an appliance's.
        self.launch(arguments + more_arguments, ["qmp", "agent"], priority=-10)
        self._agent = self.connect("agent")

    # The shell in the machine

    def shell(self, script, timeout=180, check=True):
        """Runs a shell script in the machine and returns its output."""
        # Numbers the scripts, so that a late answer is not taken for the answer to the next script.
        self._scripts += 1
        self._agent.sendall(b"%d %s\n" % (self._scripts, base64.b64encode(script.encode())))
        answer = "OUT %d " % self._scripts
        while not (line := self._line(timeout, script)).startswith(answer):
            pass
        output = base64.b64decode(line[len(answer):])
        body, status = re.fullmatch(rb"(.*)status=(\d+)\n", output, re.S).groups()
        text = body.decode(errors="replace")
        if check and status != b"0":
            raise GuestError("status %s of: %s\n%s" % (status.decode(), script, text))
        return text

    def until(self, script, timeout=90):
        """Runs a script repeatedly until it succeeds, and returns its output."""
        return self.wait(lambda: self._try(script), timeout, script)

    def _try(self, script):
        try:
            return self.shell(script) or "done"
        except GuestError:
            return None

    def read(self, path):
        """Returns the content of a file in the machine."""
        return base64.b64decode(self.shell("base64 -w0 '%s'" % path))

    # The sockets

    def _line(self, timeout, request="start"):
        end = time.monotonic() + timeout * SLOWDOWN
        while b"\n" not in self._buffer:
            self._agent.settimeout(max(0.1, end - time.monotonic()))
            try:
                data = self._agent.recv(1 << 16)
            except socket.timeout:
                raise TimedOut("no answer from the machine after %d s: %s" % (timeout * SLOWDOWN, request))
            if not data:
                raise self._stop_error()
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line.decode().strip()

    def _stop_error(self):
        """Returns the error that explains why the machine stopped."""
        with open(self.path("console.log"), "rb") as console:
            console.seek(self._start_of_console)
            output = console.read()
        # While the kernel patches its own code, it sets a breakpoint there until it has informed all processors. An emulated
        # processor may hit that breakpoint.
        if b"Oops: int3" in output:
            return EmulationFailed("the machine's kernel hit its own breakpoint, which is the emulator's fault")
        return GuestError("the machine stopped; see " + self.path("console.log"))
