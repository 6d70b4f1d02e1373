#!/usr/bin/env python3
"""Tests the card image on the emulated board: card.py --image FILE.img --work DIR [NAME...]; without a name, all scenarios."""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
import traceback

from appliance import ROOM
from bench import Failed, expect, same_as_heard
from board import MIB, SECTOR, Board, Card, tool
from machine import copy_disk
from sound import write_wave
from stick import check_folders, make_stick, read_stick

BOARDS = ["bcm2837-rpi-zero-2-w", "bcm2837-rpi-3-a-plus", "bcm2837-rpi-3-b", "bcm2837-rpi-3-b-plus", "bcm2837-rpi-cm3-io3",
          "bcm2711-rpi-4-b", "bcm2711-rpi-400", "bcm2711-rpi-cm4-io"]
# fieldscribe.txt as a person might write it, with invalid lines among valid ones.
SETTINGS = """# This recorder
name = FIELD-7
time-zone = Africa/Ouagadougou
microphone = tone:440
recognizer.second-pass = no
lamp = 26
stile = mark
after-export = ever
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
        """Makes a card with the image on it; qemu requires a power of two."""
        path = os.path.join(folder, "card.img")
        copy_disk(self.image, path)
        os.truncate(path, megabytes * MIB)
        card = Card(path)
        if settings is not None:
            card.put("fieldscribe.txt", settings if isinstance(settings, bytes) else settings.encode())
        return card


def firmware(bench):
    """The first partition has what the boards' firmware needs by its documentation; the firmware itself is not tested."""
    card = bench.card(bench.folder("firmware"), settings=None)
    (start, size, kind), *others = card.partitions()
    expect(kind == "c" and start % MIB == 0, "the first partition is not FAT32")
    expect([part[2] for part in others] == ["83"] * 3, "the other partitions are not Linux's")
    expect(max(others)[0] == others[1][0] and others[0][1] == others[2][1], "the recordings are not last, or the systems differ in size")
    fat = card.part(1, card.path + ".fat")
    tool("fsck.vfat", "-n", fat)
    entries = card.firmware("mdir", "-b", "::").decode().split()
    names = {name.removeprefix("::/") for name in entries}
    # All boards but the Pi 4 start with bootcode.bin; each start*.elf needs its own fixup*.dat.
    for name in ["bootcode.bin", "start.elf", "fixup.dat", "start4.elf", "fixup4.dat", "config.txt", "slot.txt", "fieldscribe.txt", "RESULT.txt"]:
        expect(name in names, name + " is missing on the first partition")
    config = dict(line.split("=", 1) for line in card.configuration() if "=" in line)
    expect(config.get("arm_64bit") == "1" and config.get("upstream_kernel") == "1", "config.txt does not select Debian's 64-bit kernel")
    # Neither the first stage nor the boot loader of a Pi 4 reads included files, so these may only have settings of the last stage.
    for line in card.text("slot.txt").decode().splitlines():
        expect(not line.strip() or line[0] == "#" or re.fullmatch("os_prefix=[ab]/", line), "slot.txt says " + line)
    expect(len(card.text("slot.txt")) <= SECTOR, "slot.txt is longer than a sector")
    prefix, kernel, ramdisk = card.booted()
    expect(prefix == "a/", "the system that starts is %r" % prefix)
    expect("b" not in names, "there is already a second system")
    system = card.names("/a")
    expect({kernel, ramdisk, "cmdline.txt", "version.txt"} <= system, "a system has " + " ".join(sorted(system)))
    expect(re.search(r"^initramfs \S+ followkernel$", card.text("config.txt").decode(), re.M), "the initial ramdisk does not follow the kernel")
    image = card.text(prefix + kernel)
    expect(image[56:60] == b"ARM\x64", "the kernel is not a plain image for arm64")
    line = card.text(prefix + "cmdline.txt").decode()
    expect(len(line.strip().split("\n")) == 1 and "fieldscribe.slot=a" in line, "cmdline.txt has more than one line, or names no system")
    for board in BOARDS:
        expect(board + ".dtb" in system, "the device tree of %s is missing" % board)
        tree = tool("dtc", "-q", "-I", "dtb", "-O", "dts", "-", data=card.text(prefix + board + ".dtb")).decode()
        lines = re.search(r'gpio-line-names = (".*GPIO17.*");', tree)
        expect(lines and "GPIO26" in lines[1], "%s: the lines of button and lamp have no names" % board)
    return "files for %d boards; kernel %.1f MB, initial ramdisk %.1f MB" % (
        len(BOARDS), len(image) / 1e6, len(card.text(prefix + ramdisk)) / 1e6)


def ready(board, timeout=240):
    board.wait_for_shell()
    # wait: polls in the board, cheaply
    board.until("i=0; until [ -S /run/fieldscribe/control.sock ] || [ $i -ge 60 ]; do i=$((i + 1)); sleep 1; done; fieldscribe status >/dev/null",
                timeout)
    return time.monotonic() - board.began


def check_fat(card, board):
    """Checks that the first partition is intact; that it was not unmounted is not damage."""
    fat = card.part(1, board.path("fat"))
    subprocess.run(["/usr/sbin/fsck.vfat", "-a", fat], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tool("fsck.vfat", "-n", fat)


def check_card(board, card, system):
    """Checks the card after a power cut: the system is unchanged, and the file systems are readable."""
    expect(card.hash_of_system() == system, "the system's partition was changed")
    check_fat(card, board)
    # The journal is replayed first, as at the next start; errors after that are damage.
    recordings = card.part(3, board.path("recordings"))
    subprocess.run(["/usr/sbin/e2fsck", "-p", recordings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tool("e2fsck", "-f", "-n", recordings)
    return recordings


def start(bench):
    """One start, from the newly written card to the copy on a stick."""
    folder = bench.folder("start")
    card = bench.card(folder, SETTINGS.replace("\n", "\r\n").encode("utf-16"))
    system = card.hash_of_system()
    boot_files = {name: card.text(name) for name in ("a/vmlinuz", "a/initrd.img", "config.txt", "slot.txt", "a/cmdline.txt")}
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
        # The real driver's lines, by name.
        board.shell("mkdir -p /run/d; mount -t debugfs d /run/d")
        lines = board.shell("cat /run/d/gpio; umount /run/d")
        held = [name for name in ("GPIO17", "GPIO26") if re.search(r"\(%s *\|fieldscribe" % name, lines)]
        if len(held) < 2:
            raise Failed("the recorder holds %s of its two lines: %s\n%s" % (held, lines, board.shell(
                "systemctl status fieldscribe.service --no-pager; journalctl -b -n 40 --no-pager -o short-monotonic", 120, check=False)))
        service = board.shell("systemctl show fieldscribe.service --property=NRestarts,WatchdogUSec --value").split()
        expect(sorted(service) == ["0", "1min"], "the service was restarted, or its watchdog was not changed: %s" % service)
        expect(board.shell("ls /sys/class/net") == "lo", "there is a network")
        expect(not board.shell("systemctl list-units --no-legend --plain 'fieldscribe-card-console@*' '*getty@*'"), "there is a login")
        expect(board.shell("hostname") == "FIELD-7" and board.shell("date +%Z") == "GMT", "name and time zone have no effect")
        # Checked as far as the emulated board allows.
        expect("RuntimeWatchdogSec=15s" in board.shell("test -c /dev/watchdog && systemd-analyze cat-config systemd/system.conf"),
               "no watchdog is configured")
        room = int(board.shell("df --output=size -k /card | tail -n 1")) // 1024
        expect(room > 2048 - 950, "the recordings' partition has %d MB of a card of 2048" % room)
        expect("rw" in board.shell("findmnt -no OPTIONS /card") and board.shell("findmnt -no FSTYPE /") == "overlay", "the mounts are wrong")
        board.shell("fieldscribe start && sleep 2 && fieldscribe stop")  # wait: a recording of any length
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
    expect(len(found) == 1, "%d recordings on the stick instead of 1" % len(found))
    answer = card.text("RESULT.txt").decode()
    expect("line 7: stile: " in answer and "did you mean style?" in answer and "line 8: after-export: " in answer and answer.count("\r\n") == 4 and "\r\nVersion " in answer,
           "RESULT.txt says: " + answer)
    recordings = check_card(board, card, system)
    for name, data in boot_files.items():
        expect(card.text(name) == data, name + " was changed")
    kept = tool("debugfs", "-R", "ls -p /journal", recordings).decode()
    expect("start-000001.log" in kept, "no journal is kept beside the recordings")
    when = re.search(r"mtime: 0x([0-9a-f]+)", tool("debugfs", "-R", "stat /clock", recordings).decode())
    expect(when and abs(int(when[1], 16) - clock) < 300, "the time was not saved")
    return "ready %.0f s after power on (%s); %d MB for recordings; copied to a stick; system unchanged" % (seconds, analysis, room)


def console(bench):
    """A shell at the serial pins, if fieldscribe.txt requests it; without the test's own shell."""
    folder = bench.folder("console")
    card = bench.card(folder, "serial-console = yes\n")
    with Board(folder, card) as board:
        board.power_on(more="")
        seconds = ready(board)
        unit = board.shell("systemctl list-units --no-legend --plain 'fieldscribe-card-console@*' | cut -d ' ' -f 1")
        expect(unit == "fieldscribe-card-console@ttyS1.service" and board.shell("id -u; tty") == "0\n/dev/ttyS1", "the shell's unit is " + unit)
        # It returns after logout.
        board.leave_shell()
        expect(board.shell("echo here") == "here", "it does not return")
    expect("line " not in card.text("RESULT.txt").decode(), "RESULT.txt reports an error in a line")
    return "a shell at ttyS1, also after logout; ready %.0f s after power on" % seconds


def told(board):
    """The journal's lines about the card and upgrades."""
    return board.shell("journalctl -b -t fieldscribe-card -t fieldscribe-export --no-pager -o cat", check=False)


def faulted(board, words):
    """Waits for a fault of the recorder. It need not be the last one: on this board the button's line is low, as if it were held."""
    board.until("journalctl -b -t fieldscribe --no-pager -o cat | grep -F 'fault code=export' | grep -qF '%s'" % words, 60)


def lamp_blinks(board):
    """Whether the recorder holds the lamp's line, and its level changes within a second; blinking may begin some seconds late."""
    for _ in range(10):
        levels = board.shell("mkdir -p /run/d; mount -t debugfs d /run/d; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do "
                             "grep -E '[(]GPIO26 ' /run/d/gpio; sleep 0.07; done; umount /run/d").splitlines()  # wait: samples the lamp; ten tries
        if all("fieldscribe" in line for line in levels) and len(set(levels)) > 1:
            return True
    return False


def bad_cards(bench):
    """Faulty cards: each is reported, and everything that can start starts."""
    said = []

    # Full, with a file of invalid words: RESULT.txt still has room, and the recorder records.
    folder = bench.folder("bad-cards")
    card = bench.card(folder, "vocabulary = words.txt\nmicrophone = tone:440\nrtc = ds3231\n")
    card.put("words.txt", b"Koudougou\n* 3\n")
    with Board(folder, card) as board:
        board.load()
        free = int(re.search(r"([\d ]+) bytes free", card.firmware("mdir", "::").decode())[1].replace(" ", ""))
        card.put("holiday.mov", bytes(free))
        expect(re.search(r"\s0 bytes free", card.firmware("mdir", "::").decode()), "the partition is not full")
        board.power_on(load=False)
        ready(board)
        board.shell("fieldscribe start && sleep 2 && fieldscribe stop")  # wait: a recording of any length
        answer = card_answer(card)
        for words in ("partition is full", "words.txt: is ignored", "rtc = ds3231: no such clock answers"):
            expect(words in answer and words in told(board), "%s is not reported: %s" % (words, answer))
        faulted(board, "RESULT.txt beside it")
        expect(lamp_blinks(board), "the lamp does not blink")
        board.power_cut()
        check_fat(card, board)
    said.append("full")

    # Its boot sector and the backup of it are gone: settings have no effect, and the recorder starts.
    folder = bench.folder("bad-cards/damaged")
    card = bench.card(folder, "microphone = tone:440\n")
    with Board(folder, card) as board:
        board.load()
        start = card.partitions()[0][0]
        with open(card.path, "r+b") as file:
            for sector in (0, 6):
                file.seek(start + sector * SECTOR)
                file.write(b"\xf6" * SECTOR)
        board.power_on(load=False)
        ready(board)
        expect("first partition cannot be read" in told(board), "the journal says nothing: " + told(board))
        expect("first partition cannot be read" in board.shell("cat /card/RESULT.txt"), "there is no report beside the recordings")
        faulted(board, "RESULT.txt beside it")
        expect(lamp_blinks(board), "the lamp does not blink")
    said.append("damaged")

    # The third partition is gone, or the card ends before it: nothing can be recorded, which RESULT.txt and the lamp report.
    for name in ("no-third", "small"):
        folder = bench.folder("bad-cards/" + name)
        card = bench.card(folder, "microphone = tone:440\nname = FIELD-8\n", 1024 if name == "no-third" else 512)
        if name == "no-third":
            tool("sfdisk", "--quiet", "--delete", card.path, "3")
        with Board(folder, card) as board:
            board.power_on()
            board.wait_for_shell()
            board.until("systemctl is-active --quiet fieldscribe-card-fault.service")
            answer = card_answer(card)
            expect("nothing can be recorded" in answer and "nothing can be recorded" in told(board), "RESULT.txt says: " + answer)
            expect(("too small" in answer) == (name == "small"), "RESULT.txt says: " + answer)
            expect(lamp_blinks(board), "the lamp does not blink")
            expect(board.shell("systemctl is-active fieldscribe.service", check=False) != "active", "a recorder records into memory")
            expect(board.shell("hostname") == "FIELD-8", "the other lines of fieldscribe.txt have no effect")
        said.append(name)
    return "reported by RESULT.txt and the lamp: " + ", ".join(said)


def card_answer(card):
    return card.text("RESULT.txt").decode()


FILE = "/var/lib/fieldscribe/room.wav"
HEARD = """microphone = file:%s
recognizer.second-pass = no
upgrade-key = %s
"""


def card_that_hears(bench, folder, key="RW" + "A" * 54):
    """A card whose recorder plays a file as its microphone, next to the recordings."""
    card = bench.card(folder, HEARD % (FILE, key))
    sound, recordings = os.path.join(folder, "room.wav"), os.path.join(folder, "recordings")
    write_wave(sound, ROOM)
    card.part(3, recordings)
    for request in ("write %s fieldscribe/room.wav" % sound, "set_inode_field fieldscribe/room.wav uid 970",
                    "set_inode_field fieldscribe/room.wav gid 970"):
        tool("debugfs", "-w", "-R", request, recordings)
    start = card.partitions()[2][0]
    tool("dd", "if=" + recordings, "of=" + card.path, "bs=1M", "oflag=seek_bytes", "seek=%d" % start, "conv=notrunc,sparse")
    return card


def recorded(card, board):
    """{recording: seconds} on the card; fails unless every sample is the played sound."""
    recordings = card.part(3, board.path("recordings"))
    subprocess.run(["/usr/sbin/e2fsck", "-p", recordings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    place = board.path("tree")
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    tool("debugfs", "-R", "rdump fieldscribe " + place, recordings)
    found = {}
    for folder, _, names in os.walk(os.path.join(place, "fieldscribe", "recordings")):
        for name in names:
            if name.endswith(".wav"):
                path = os.path.relpath(os.path.join(folder, name), place)
                with open(os.path.join(folder, name), "rb") as file:
                    found[path] = same_as_heard(file.read(), path)
    return found


def status(board):
    """The recorder's status."""
    return json.loads(board.shell("fieldscribe status --json"))


CUTS = 20


def cuts(bench):
    """Cuts the power 20 times while starting, recording and copying; then every recording is there, and a stick gets all of them."""
    folder = bench.folder("cuts")
    chance = random.Random(27)
    card = card_that_hears(bench, folder)
    system, files = card.hash_of_system(), {name: card.text(name) for name in ("a/vmlinuz", "a/initrd.img", "config.txt", "slot.txt")}
    stick = os.path.join(folder, "stick.img")
    make_stick(stick, "vfat")
    promised, worst, starting = {}, 0.0, 0.0
    kinds = ["record", "start", "copy", "start"]
    with Board(folder, card) as board:
        for number in range(CUTS + 1):
            kind = kinds[number % len(kinds)] if number < CUTS else "end"
            board.power_on()
            if kind == "start":
                seconds = chance.uniform(0.05, 1.1) * starting
                time.sleep(seconds)  # wait: cuts at an arbitrary moment
                what = "%.0f s after power on, of %.0f until ready" % (seconds, starting)
            else:
                starting = max(starting, ready(board))
                lengths = recorded_lengths(board)
                for name, seconds in promised.items():
                    has = lengths.get(name, 0)
                    expect(has >= seconds - 1.0, "recording %s has %.1f s of the %.1f that were shown" % (name, has, seconds))
                    worst, promised[name] = max(worst, seconds - has), min(seconds, has)
            if kind == "record":
                board.shell("fieldscribe start")
                time.sleep(chance.uniform(2, 15))  # wait: cuts at an arbitrary moment
                shown = status(board)
                promised[shown["recording"]] = shown["recordedSeconds"]
                what = "%.1f s into recording %d" % (shown["recordedSeconds"], shown["recording"])
            elif kind == "copy":
                board.stick_in(stick)
                board.until("test -L /run/fieldscribe-stick.owner", 60)
                seconds = chance.uniform(0, 12)
                time.sleep(seconds)  # wait: cuts at an arbitrary moment
                what = "%.0f s into a copy" % seconds
            if kind == "end":
                break
            board.power_cut()
            check_card(board, card, system)
            for name, data in files.items():
                expect(card.text(name) == data, name + " was changed")
            recorded(card, board)
            print("      cut %d of %d: %s" % (number + 1, CUTS, what), flush=True)
        final = os.path.join(folder, "last.img")
        make_stick(final, "vfat")
        board.stick_in(final)
        board.until("journalctl -b -t fieldscribe-export --no-pager | grep -q 'safe to unplug'", 400)
        board.stick_out()
        board.power_cut()
    found = check_folders(read_stick(final, "vfat", True, os.path.join(folder, "copied")))
    expect(len(found) == len(promised), "%d recordings on the stick in place of %d" % (len(found), len(promised)))
    # The earlier stick lost power with the board: each of its recordings is intact or marked as partial.
    check_folders(read_stick(stick, "vfat", True, os.path.join(folder, "pulled")), done=False)
    return "%d cuts; %d recordings, each sample as played; at most %.1f s of what was shown were lost; the system is unchanged" % (
        CUTS, len(promised), worst)


def archive_of(folder, files):
    """Returns an archive that the kernel reads after the initial ramdisk: its files replace those of the same name."""
    place = os.path.join(folder, "more")
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    for name, data in files.items():
        with open(os.path.join(place, name), "wb") as file:
            file.write(data)
        os.chmod(os.path.join(place, name), 0o755)
    done = subprocess.run(["cpio", "-o", "-H", "newc", "--quiet", "--owner", "0:0"], input="\n".join(files).encode(), cwd=place,
                          stdout=subprocess.PIPE, check=True)
    return done.stdout


class Maker:
    """Makes upgrades from the image, with another date or with a fault that keeps it from getting ready; signs them like deploy/image."""

    def __init__(self, bench, folder):
        self.bench, self.folder = bench, folder
        base = Card(bench.image)
        self.ramdisk = base.text("a/initrd.img")
        self.made = int(re.search(r"made=(\d+)", base.text("a/version.txt").decode())[1])
        self.verity = self._file_of_ramdisk("verity")
        self.init = self._file_of_ramdisk("init")
        self.keys = {name: self._key(name) for name in ("ours", "theirs")}

    def _file_of_ramdisk(self, name):
        whole = tool("zstd", "-dc", data=self.ramdisk)
        return subprocess.run(["cpio", "-i", "--quiet", "--to-stdout", name], input=whole, stdout=subprocess.PIPE, check=True).stdout

    def _key(self, name):
        secret, public = (os.path.join(self.folder, name + end) for end in (".key", ".pub"))
        tool("minisign", "-G", "-W", "-s", secret, "-p", public)
        with open(public) as file:
            return secret, file.read().split("\n")[1]

    def upgrade(self, name, later, key="ours", init=None, verity=None):
        """Makes NAME.img.xz, dated `later` seconds after the image, and its signature; returns their paths."""
        path = os.path.join(self.folder, name + ".img")
        copy_disk(self.bench.image, path)
        card, made = Card(path), b"made=%d" % (self.made + later)
        verity = re.sub(rb"made=\d+", made, verity or self.verity)
        files = {"verity": verity} | ({"init": init} if init else {})
        ramdisk = self.ramdisk + bytes(-len(self.ramdisk) % 4)
        card.put("a/initrd.img", ramdisk + archive_of(self.folder, files))
        card.put("a/version.txt", re.sub(rb"made=\d+", made, card.text("a/version.txt")))
        tool("xz", "-1", "-T2", "--force", path)
        if key:
            deploy = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "deploy", "image")
            tool(deploy, "sign", self.keys[key][0], path + ".xz")
        return [path + ".xz"] + ([path + ".xz.minisig"] if key else [])


def start_again(board):
    """Cuts the power, and starts the board again: with qemu, the board hangs at the second stick after one start."""
    board.power_cut()
    board.power_on()
    ready(board)


def bring(board, name, files, words):
    """Plugs in a stick with these upgrades, and waits until the journal has these words; returns the stick's RESULT.txt. Works only for
    the first stick after a start."""
    path = board.path(name + ".stick")
    make_stick(path, "vfat", megabytes=512)
    where = "%s@@%d" % (path, MIB)
    for folder in ("::Fieldscribe", "::Fieldscribe/upgrade"):
        tool("mmd", "-i", where, folder)
    tool("mcopy", "-i", where, *files, "::Fieldscribe/upgrade/")
    # The file that a Mac leaves next to each.
    tool("mcopy", "-i", where, "-", "::Fieldscribe/upgrade/._" + os.path.basename(files[0]), data=b"\0\5\x16\7")
    board.stick_in(path)
    board.until("journalctl -b --no-pager -o cat -t fieldscribe-export | grep -F '%s'" % words, 400)
    board.until("! test -L /run/fieldscribe-stick.owner", 60)
    board.stick_out()
    result = tool("mtype", "-i", where, "::Fieldscribe/RESULT.txt").decode()
    os.unlink(path)
    expect(words in result, "RESULT.txt on the stick says: " + result)
    return result


def running(board):
    """(slot, made) of the running system."""
    said = dict(line.split("=", 1) for line in board.shell("cat /etc/fieldscribe/image").split())
    return said["slot"], int(said["made"])


class Steps:
    """Prints the steps of an upgrade as they are reached."""

    def __init__(self, name):
        self.name, self.done = name, []

    def __call__(self, what):
        self.done.append(what)
        print("      %s: %s" % (self.name, what), flush=True)

    def __str__(self):
        return "; ".join(self.done)


def speak(board):
    """Makes a recording of some seconds."""
    board.shell("fieldscribe start && sleep 3 && fieldscribe stop")  # wait: a recording of any length


def upgrade(bench):
    """A newer image on a stick is refused without a signature. With one it is written, started and kept, even after a power cut during
    the writing."""
    folder, done = bench.folder("upgrade"), Steps("upgrade")
    maker = Maker(bench, folder)
    card = card_that_hears(bench, folder, maker.keys["ours"][1])
    system, firmware_file = card.hash_of_system(), card.text("start.elf")
    good = maker.upgrade("good", 60)
    with Board(folder, card) as board:
        board.power_on()
        done("ready after %.0f s" % ready(board))
        expect(running(board) == ("a", maker.made), "what started is %s %d" % running(board))
        speak(board)
        bring(board, "unsigned", good[:1], "has no signature")
        faulted(board, "not everything was copied to the stick")
        expect(card.booted()[0] == "a/" and "b" not in card.names(), "a refused upgrade left files")
        done("unsigned: refused")
        start_again(board)

        bring(board, "good", good, "its signature is valid")
        board.until("journalctl -b --no-pager -o cat -t fieldscribe-card | grep -F 'writing version'", 60)
        time.sleep(5)  # wait: cuts in the middle of the writing, which takes longer; a slow board only cuts earlier in it
        board.power_cut()
        check_card(board, card, system)
        expect(card.booted()[0] == "a/", "an incomplete upgrade is started")
        board.power_on()
        ready(board)
        expect(running(board)[0] == "a" and len(recorded_lengths(board)) == 1, "an incomplete upgrade was started, or a recording is gone")
        done("power cut while it is written: the old system stays")
        bring(board, "good", good, "its signature is valid")
        board.wait_for_restart(600)
        expect(card.booted()[0] == "b/" and "# trial of b" in card.text("slot.txt").decode(), "the upgrade is not tried")
        done("again: written, and the board restarted for it")
        board.power_on()
        board.wait_for_shell()
        expect(card.booted()[0] == "a/" and "# tried b" in card.text("slot.txt").decode(), "the next start is not that of the old one")
        ready(board)
        expect(running(board) == ("b", maker.made + 60), "what started is %s %d" % running(board))
        board.until("journalctl -b --no-pager -o cat -t fieldscribe-card | grep -F 'is kept'", 120)
        slot = card.text("slot.txt").decode()
        expect(card.booted()[0] == "b/" and "trial" not in slot and "tried" not in slot, "slot.txt says " + slot)
        expect(len(recorded_lengths(board)) == 1, "the recording is gone")
        speak(board)
        bring(board, "same", good, "which this recorder already has")
        board.power_cut()
    expect(card.hash_of_system() == system, "the previous system was changed")
    expect(card.text("start.elf") == firmware_file, "the firmware was written to")
    check_fat(card, board)
    found = recorded(card, board)
    expect(len(found) == 2 and min(found.values()) > 1, "recordings: %s" % found)
    done("kept; the recordings are there, sample for sample")
    return str(done)


def upgrade_bad(bench):
    """Newer images that are signed and faulty: each is tried once, the old system returns, and recordings stay."""
    folder, done = bench.folder("upgrade-bad"), Steps("upgrade-bad")
    maker = Maker(bench, folder)
    card = card_that_hears(bench, folder, maker.keys["ours"][1])
    system = card.hash_of_system()
    # The first one's system is unreadable. The second one starts without a recorder, so it never becomes ready.
    damaged = maker.upgrade("damaged", 120, verity=re.sub(rb"root=[0-9a-f]+", b"root=" + b"0" * 64, maker.verity))
    masked = maker.init.replace(b"exec switch_root", b"ln -sf /dev/null $new/etc/systemd/system/fieldscribe.service\nexec switch_root")
    mute = maker.upgrade("mute", 180, init=masked)

    def rolled_back(board):
        board.power_on()
        ready(board)
        expect(running(board) == ("a", maker.made), "what started is %s %d" % running(board))
        for said in (card_answer(card), told(board)):
            expect("did not become ready" in said, "it is not reported: " + said)
        faulted(board, "RESULT.txt beside it")
        expect(lamp_blinks(board), "the lamp does not blink")
        expect(len(recorded_lengths(board)) == 1, "the recording is gone")

    with Board(folder, card) as board:
        board.power_on()
        done("ready after %.0f s" % ready(board))
        speak(board)
        bring(board, "damaged", damaged, "its signature is valid")
        board.wait_for_restart(600)
        expect(card.booted()[0] == "b/", "the upgrade is not tried")
        board.power_on()
        # Its initial ramdisk restarts the board.
        board.wait_for_restart(120)
        expect(card.booted()[0] == "a/", "the next start is not that of the old one")
        rolled_back(board)
        bring(board, "damaged", damaged, "to try it again")
        done("a system that cannot be read: rolled back, reported, shown by the lamp, not tried again")
        start_again(board)
        bring(board, "mute", mute, "its signature is valid")
        board.wait_for_restart(600)
        board.power_on()
        board.wait_for_shell()
        expect(running(board) == ("b", maker.made + 180), "what started is %s %d" % running(board))
        board.wait_for_restart(200)
        rolled_back(board)
        board.power_cut()
    check_card(board, card, system)
    found = recorded(card, board)
    expect(len(found) == 1 and min(found.values()) > 1, "recordings: %s" % found)
    done("a system without a recorder: rolled back after five minutes; the recording is there, sample for sample")
    return str(done)


def recorded_lengths(board):
    """{recording: seconds} as the recorder lists them."""
    said = board.shell("fieldscribe list --json 2>/dev/null", check=False)
    return {row["id"]: row["duration"] for row in json.loads(said[said.index("["):])} if "[" in said else {}


SCENARIOS = {
    "firmware": firmware, "start": start, "console": console, "bad-cards": bad_cards, "cuts": cuts, "upgrade": upgrade, "upgrade-bad": upgrade_bad,
}


def main():
    parser = argparse.ArgumentParser(description="Tests the card image on the emulated board.")
    parser.add_argument("--image", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("scenarios", nargs="*", metavar="NAME", help="one of: " + " ".join(SCENARIOS))
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
