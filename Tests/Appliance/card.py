#!/usr/bin/env python3
"""The image of a card, on the emulated board: card.py --image FILE.img --work DIR [NAME...]; without a name, all of them."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import traceback

from bench import expect
from board import MIB, Board, Card, tool
from machine import copy_disk
from stick import check_folders, make_stick, read_stick

BOARDS = ["bcm2837-rpi-zero-2-w", "bcm2837-rpi-3-a-plus", "bcm2837-rpi-3-b", "bcm2837-rpi-3-b-plus", "bcm2837-rpi-cm3-io3",
          "bcm2711-rpi-4-b", "bcm2711-rpi-400", "bcm2711-rpi-cm4-io"]
# As a person would have it: Notepad's UTF-16, and lines that are wrong among those that are right.
SETTINGS = """# This recorder
name = FIELD-7
time-zone = Africa/Ouagadougou
microphone = tone:440
recognizer.second-pass = no
lamp = 26
stile = mark
keep-days = ever
"""


class Bench:
    def __init__(self, image, work):
        self.image, self.work = image, work

    def folder(self, name):
        path = os.path.join(self.work, name)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        return path

    def card(self, folder, settings=SETTINGS, megabytes=2048):
        """A card with the image on it; qemu asks for a power of two."""
        path = os.path.join(folder, "card.img")
        copy_disk(self.image, path)
        os.truncate(path, megabytes * MIB)
        card = Card(path)
        if settings is not None:
            card.put("fieldscribe.txt", settings if isinstance(settings, bytes) else settings.encode())
        return card


def firmware(bench):
    """What the boards' firmware asks for, by its documentation, is on the first partition; the firmware itself is not tried."""
    card = bench.card(bench.folder("firmware"), settings=None)
    (start, size, kind), (_, _, system), (_, _, recordings) = card.partitions()
    expect(kind == "c" and start % MIB == 0, "the first partition is not FAT32")
    expect(system == recordings == "83", "the other partitions are not Linux's")
    fat = card.part(1, card.path + ".fat")
    tool("fsck.vfat", "-n", fat)
    entries = card.firmware("mdir", "-b", "::").decode().split()
    names = {name.removeprefix("::/") for name in entries}
    # bootcode.bin is the first stage of all but the Pi 4; each start has the fixup of its kind.
    for name in ["bootcode.bin", "start.elf", "fixup.dat", "start4.elf", "fixup4.dat", "config.txt", "cmdline.txt"]:
        expect(name in names, name + " is missing on the first partition")
    config = dict(line.split("=", 1) for line in card.text("config.txt").decode().split("\n") if "=" in line and line[0] != "#")
    expect(config.get("arm_64bit") == "1" and config.get("upstream_kernel") == "1", "config.txt does not ask for a 64-bit kernel of Debian's")
    expect(config.get("kernel") in names, "config.txt names a kernel that is not there")
    initramfs = re.search(r"^initramfs (\S+) followkernel$", card.text("config.txt").decode(), re.M)
    expect(initramfs and initramfs[1] in names, "config.txt names no initial ramdisk that is there")
    expect("os_prefix" not in config and not [name for name in names if name.startswith("upstream")],
           "device trees would be looked for in another folder")
    kernel = card.text(config["kernel"])
    expect(kernel[56:60] == b"ARM\x64", "the kernel is no plain image for arm64")
    expect(len(card.text("cmdline.txt").decode().strip().split("\n")) == 1, "cmdline.txt has more than one line")
    for board in BOARDS:
        expect(board + ".dtb" in names, "the device tree of %s is missing" % board)
        tree = tool("dtc", "-q", "-I", "dtb", "-O", "dts", "-", data=card.text(board + ".dtb")).decode()
        lines = re.search(r'gpio-line-names = (".*GPIO17.*");', tree)
        expect(lines and "GPIO26" in lines[1], "%s: button and lamp have no lines of their names" % board)
    return "files for %d boards; kernel %.1f MB, initial ramdisk %.1f MB" % (
        len(BOARDS), len(kernel) / 1e6, len(card.text(initramfs[1])) / 1e6)


def ready(board, timeout=240):
    board.wait_for_shell()
    board.until("systemctl is-active --quiet fieldscribe.service && fieldscribe status >/dev/null", timeout)
    return time.monotonic() - board.began


def check_card(bench, board, card, system):
    """The card as it lies after power is gone: the system is the same, the file systems can be read."""
    expect(card.hash_of_system() == system, "the system's partition was changed")
    tool("fsck.vfat", "-n", card.part(1, board.path("fat")))
    # The journal is replayed first, as the next start would; what is wrong after that is damage.
    recordings = card.part(3, board.path("recordings"))
    subprocess.run(["/usr/sbin/e2fsck", "-p", recordings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tool("e2fsck", "-f", "-n", recordings)
    return recordings


def start(bench):
    """One start, from the card as it was written until a stick has its copy."""
    folder = bench.folder("start")
    card = bench.card(folder, SETTINGS.replace("\n", "\r\n").encode("utf-16"))
    system = card.hash_of_system()
    boot_files = {name: card.text(name) for name in ("vmlinuz", "initrd.img", "config.txt", "cmdline.txt")}
    with Board(folder, card) as board:
        board.power_on()
        seconds = ready(board)
        board.shell("systemctl is-system-running --wait || systemctl --failed --no-legend", 120, check=False)
        with open(board.path("analyze.log"), "w") as file:
            file.write(board.shell("systemd-analyze; systemd-analyze critical-chain fieldscribe.service --no-pager; systemd-analyze blame "
                                   "--no-pager | head -n 25; systemctl --failed --no-pager; free -m; lsmod | wc -l", 120, check=False))
            file.write("\n" + board.shell("journalctl -b --no-pager -o short-monotonic", 120, check=False))
        analysis = board.shell("systemd-analyze time; systemctl show fieldscribe.service --property=ActiveEnterTimestampMonotonic --value", 120,
                               check=False).replace("\n", " ")
        expect(not board.shell("systemctl --failed --no-legend --plain"), "units failed: " + board.shell("systemctl --failed --no-legend --plain"))
        # The real driver's lines, by their names.
        board.shell("mkdir -p /run/d; mount -t debugfs d /run/d")
        lines = board.shell("cat /run/d/gpio; umount /run/d")
        for name in ("GPIO17", "GPIO26"):
            expect(re.search(r"\(%s *\|fieldscribe" % name, lines), "%s is not had: %s" % (name, lines))
        expect(board.shell("ls /sys/class/net") == "lo", "there is a network")
        expect(board.shell("hostname") == "FIELD-7" and board.shell("date +%Z") == "GMT", "name and time zone do not count")
        # Seen as far as the emulated board allows.
        expect(board.shell("modinfo -F filename bcm2835_wdt && systemctl show --property=RuntimeWatchdogUSec --value").endswith("15s"),
               "no watchdog is asked for")
        room = int(board.shell("df --output=size -k /card | tail -n 1")) // 1024
        expect(room > 2048 - 900, "the recordings' partition has %d MB of a card of 2048" % room)
        expect("rw" in board.shell("findmnt -no OPTIONS /card") and board.shell("findmnt -no FSTYPE /") == "overlay", "mounts")
        board.shell("fieldscribe start && sleep 4 && fieldscribe stop")
        board.until("fieldscribe list | grep -q .", 120)
        stick = board.path("stick.img")
        make_stick(stick, "vfat")
        board.stick_in(stick)
        board.until("journalctl -b -t fieldscribe-export --no-pager | grep -q 'safe to unplug'", 240)
        board.stick_out()
        board.shell("/usr/lib/fieldscribe/card save && sync")
        clock = int(board.shell("date +%s"))
        board.power_cut()
    root = read_stick(stick, "vfat", True, os.path.join(folder, "copied"))
    found = check_folders(root)
    expect(len(found) == 1, "%d recordings on the stick in place of 1" % len(found))
    answer = card.text("RESULT.txt").decode()
    expect("line 7: stile: " in answer and "did you mean style?" in answer and "line 8: keep-days: " in answer and answer.count("\r\n") == 3,
           "RESULT.txt says: " + answer)
    recordings = check_card(bench, board, card, system)
    for name, data in boot_files.items():
        expect(card.text(name) == data, name + " was changed")
    kept = tool("debugfs", "-R", "ls -p /journal", recordings).decode()
    expect("start-000001.log" in kept, "no journal is kept beside the recordings")
    when = re.search(r"mtime: 0x([0-9a-f]+)", tool("debugfs", "-R", "stat /clock", recordings).decode())
    expect(when and abs(int(when[1], 16) - clock) < 300, "the time is not kept")
    return "ready %.0f s after power on (%s); %d MB for recordings; copied to a stick; system unchanged" % (seconds, analysis, room)


SCENARIOS = {"firmware": firmware, "start": start}


def main():
    parser = argparse.ArgumentParser(description="The image of a card, on the emulated board.")
    parser.add_argument("--image", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("scenarios", nargs="*", metavar="NAME", help="of: " + " ".join(SCENARIOS))
    words = parser.parse_args()
    if unknown := [name for name in words.scenarios if name not in SCENARIOS]:
        parser.error("no such scenario: " + " ".join(unknown))
    bench = Bench(os.path.abspath(words.image), os.path.abspath(words.work))
    failed = 0
    for name in words.scenarios or SCENARIOS:
        began = time.monotonic()
        try:
            print("ok    image %s: %s; %.0f s" % (name, SCENARIOS[name](bench), time.monotonic() - began), flush=True)
        except Exception as error:
            failed += 1
            with open(os.path.join(bench.work, name, "error.log"), "w") as file:
                traceback.print_exc(file=file)
            print("FAIL  image %s: %s; see %s" % (name, error, os.path.join(bench.work, name)), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
