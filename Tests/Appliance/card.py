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
from bench import Failed, expect, check_played
from board import MIB, SECTOR, Board, Card, run_tool
from machine import copy_disk
from sound import write_wave
from stick import check_folders, make_stick, read_stick

BOARDS = ["bcm2837-rpi-zero-2-w", "bcm2837-rpi-3-a-plus", "bcm2837-rpi-3-b", "bcm2837-rpi-3-b-plus", "bcm2837-rpi-cm3-io3",
          "bcm2711-rpi-4-b", "bcm2711-rpi-400", "bcm2711-rpi-cm4-io"]
# fieldscribe.txt as a person might write it, with two invalid lines.
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
        """Makes a card with the image. qemu requires a card whose size is a power of two."""
        path = os.path.join(folder, "card.img")
        copy_disk(self.image, path)
        os.truncate(path, megabytes * MIB)
        card = Card(path)
        if settings is not None:
            card.put("fieldscribe.txt", settings if isinstance(settings, bytes) else settings.encode())
        return card


def firmware(bench):
    """Checks that the first partition has the files that the boards' firmware needs according to its documentation. Does not run it."""
    card = bench.card(bench.folder("firmware"), settings=None)
    (start, size, kind), *others = card.partitions()
    expect(kind == "c" and start % MIB == 0, "the first partition is not FAT32")
    expect([part[2] for part in others] == ["83"] * 3, "the other partitions are not Linux partitions")
    expect(max(others)[0] == others[1][0] and others[0][1] == others[2][1], "the recordings are not last, or the systems differ in size")
    fat = card.copy_partition(1, card.path + ".fat")
    run_tool("fsck.vfat", "-n", fat)
    entries = card.firmware("mdir", "-b", "::").decode().split()
    names = {name.removeprefix("::/") for name in entries}
    # All boards except the Pi 4 start with bootcode.bin; each start*.elf needs its own fixup*.dat.
    for name in ["bootcode.bin", "start.elf", "fixup.dat", "start4.elf", "fixup4.dat", "config.txt", "slot.txt", "fieldscribe.txt", "RESULT.txt"]:
        expect(name in names, name + " is missing on the first partition")
    config = dict(line.split("=", 1) for line in card.configuration() if "=" in line)
    expect(config.get("arm_64bit") == "1" and config.get("upstream_kernel") == "1", "config.txt does not select Debian's 64-bit kernel")
    # Neither the first stage nor the boot loader of a Pi 4 reads included files, so these may only have settings for the last stage.
    for line in card.content("slot.txt").decode().splitlines():
        expect(not line.strip() or line[0] == "#" or re.fullmatch("os_prefix=[ab]/", line), "slot.txt contains " + line)
    expect(len(card.content("slot.txt")) <= SECTOR, "slot.txt is longer than a sector")
    prefix, kernel, ramdisk = card.boot_names()
    expect(prefix == "a/", "the system that would start is %r" % prefix)
    expect("b" not in names, "there is already a second system")
    system = card.names("/a")
    expect({kernel, ramdisk, "cmdline.txt", "version.txt"} <= system, "the system has only " + " ".join(sorted(system)))
    expect(re.search(r"^initramfs \S+ followkernel$", card.content("config.txt").decode(), re.M), "the initial ramdisk does not follow the kernel")
    image = card.content(prefix + kernel)
    expect(image[56:60] == b"ARM\x64", "the kernel is not an uncompressed image for arm64")
    line = card.content(prefix + "cmdline.txt").decode()
    expect(len(line.strip().split("\n")) == 1 and "fieldscribe.slot=a" in line, "cmdline.txt has more than one line or does not name the system")
    for board in BOARDS:
        expect(board + ".dtb" in system, "the device tree of %s is missing" % board)
        tree = run_tool("dtc", "-q", "-I", "dtb", "-O", "dts", "-", data=card.content(prefix + board + ".dtb")).decode()
        lines = re.search(r'gpio-line-names = (".*GPIO17.*");', tree)
        expect(lines and "GPIO26" in lines[1], "%s: the GPIO lines of the button and the lamp have no names" % board)
    return "files for %d boards; kernel %.1f MB, initial ramdisk %.1f MB" % (
        len(BOARDS), len(image) / 1e6, len(card.content(prefix + ramdisk)) / 1e6)


def wait_until_ready(board, timeout=240):
    """Waits until the recorder answers and returns the seconds since power-on."""
    board.wait_for_shell()
    # wait: polls on the board, which is faster than polling from here
    board.until("i=0; until [ -S /run/fieldscribe/control.sock ] || [ $i -ge 60 ]; do i=$((i + 1)); sleep 1; done; fieldscribe status >/dev/null",
                timeout)
    return time.monotonic() - board.began


def check_fat(card, board):
    """Checks that the first partition is intact. A flag that says that it was not unmounted does not count as damage."""
    fat = card.copy_partition(1, board.path("fat"))
    subprocess.run(["/usr/sbin/fsck.vfat", "-a", fat], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run_tool("fsck.vfat", "-n", fat)


def check_card(board, card, system):
    """Checks the card after a power cut: the system is unchanged, and the file systems are readable."""
    expect(card.hash_of_system() == system, "the system's partition was changed")
    check_fat(card, board)
    # Replays the journal, as the next start does. Only errors that remain are damage.
    recordings = card.copy_partition(3, board.path("recordings"))
    subprocess.run(["/usr/sbin/e2fsck", "-p", recordings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run_tool("e2fsck", "-f", "-n", recordings)
    return recordings


def start(bench):
    """Tests the first start with a newly written card, and a copy to a stick."""
    folder = bench.folder("start")
    card = bench.card(folder, SETTINGS.replace("\n", "\r\n").encode("utf-16"))
    system = card.hash_of_system()
    boot_files = {name: card.content(name) for name in ("a/vmlinuz", "a/initrd.img", "config.txt", "slot.txt", "a/cmdline.txt")}
    with Board(folder, card) as board:
        board.power_on()
        seconds = wait_until_ready(board)
        board.shell("systemctl is-system-running --wait || systemctl --failed --no-legend", 120, check=False)
        with open(board.path("analyze.log"), "w") as file:
            file.write(board.shell("systemd-analyze; systemd-analyze critical-chain fieldscribe.service --no-pager; systemd-analyze blame "
                                   "--no-pager | head -n 25; systemctl --failed --no-pager; free -m; lsmod | wc -l", 120, check=False))
            file.write("\n" + board.shell("journalctl -b --no-pager -o short-monotonic", 120, check=False))
        analysis = board.shell("systemd-analyze time; systemctl show fieldscribe.service --property=ActiveEnterTimestampMonotonic --value", 120,
                               check=False).replace("\n", " ")
        expect(not board.shell("systemctl --failed --no-legend --plain"), "units failed: " + board.shell("systemctl --failed --no-legend --plain"))
        # Finds the lines of the real driver by name.
        board.shell("mkdir -p /run/d; mount -t debugfs d /run/d")
        lines = board.shell("cat /run/d/gpio; umount /run/d")
        used_lines = [name for name in ("GPIO17", "GPIO26") if re.search(r"\(%s *\|fieldscribe" % name, lines)]
        if len(used_lines) < 2:
            raise Failed("of its two lines, the recorder uses only %s: %s\n%s" % (used_lines, lines, board.shell(
                "systemctl status fieldscribe.service --no-pager; journalctl -b -n 40 --no-pager -o short-monotonic", 120, check=False)))
        service = board.shell("systemctl show fieldscribe.service --property=NRestarts,WatchdogUSec --value").split()
        expect(sorted(service) == ["0", "1min"], "the service was restarted, or its watchdog has the wrong timeout: %s" % service)
        expect(board.shell("ls /sys/class/net") == "lo", "there is a network")
        expect(not board.shell("systemctl list-units --no-legend --plain 'fieldscribe-card-console@*' '*getty@*'"), "there is a login")
        expect(board.shell("hostname") == "FIELD-7" and board.shell("date +%Z") == "GMT", "the name or the time zone has no effect")
        # The watchdog can only be checked as far as the emulated board allows.
        expect("RuntimeWatchdogSec=15s" in board.shell("test -c /dev/watchdog && systemd-analyze cat-config systemd/system.conf"),
               "no watchdog is configured")
        megabytes = int(board.shell("df --output=size -k /card | tail -n 1")) // 1024
        expect(megabytes > 2048 - 950, "the recordings' partition has only %d MB of a card of 2048 MB" % megabytes)
        expect("rw" in board.shell("findmnt -no OPTIONS /card") and board.shell("findmnt -no FSTYPE /") == "overlay", "the mounts are wrong")
        board.shell("fieldscribe start && sleep 2 && fieldscribe stop")  # wait: the length of the recording does not matter
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
    result = result_of(card)
    expect("line 7: stile: " in result and "did you mean style?" in result and "line 8: after-export: " in result
           and result.count("\r\n") == 4 and "\r\nVersion " in result, "RESULT.txt contains: " + result)
    recordings = check_card(board, card, system)
    for name, data in boot_files.items():
        expect(card.content(name) == data, name + " was changed")
    logs = run_tool("debugfs", "-R", "ls -p /journal", recordings).decode()
    expect("start-000001.log" in logs, "no log is stored next to the recordings")
    modified = re.search(r"mtime: 0x([0-9a-f]+)", run_tool("debugfs", "-R", "stat /clock", recordings).decode())
    expect(modified and abs(int(modified[1], 16) - clock) < 300, "the time was not saved")
    return "ready %.0f s after power-on (%s); %d MB for recordings; copied to a stick; system unchanged" % (seconds, analysis, megabytes)


def console(bench):
    """Tests the shell that fieldscribe.txt can request on the serial pins. The test does not add its own shell."""
    folder = bench.folder("console")
    card = bench.card(folder, "serial-console = yes\n")
    with Board(folder, card) as board:
        board.power_on(parameters="")
        seconds = wait_until_ready(board)
        unit = board.shell("systemctl list-units --no-legend --plain 'fieldscribe-card-console@*' | cut -d ' ' -f 1")
        expect(unit == "fieldscribe-card-console@ttyS1.service" and board.shell("id -u; tty") == "0\n/dev/ttyS1", "the shell's unit is " + unit)
        # The shell returns after a logout.
        board.leave_shell()
        expect(board.shell("echo here") == "here", "the shell does not return after a logout")
    expect("line " not in card.content("RESULT.txt").decode(), "RESULT.txt reports an error in a line")
    return "a shell on ttyS1, also after a logout; ready %.0f s after power-on" % seconds


def log_of(board):
    """Returns the journal's lines about the card and upgrades."""
    return board.shell("journalctl -b -t fieldscribe-card -t fieldscribe-export --no-pager -o cat", check=False)


def wait_for_fault(board, text):
    """Waits for a fault of the recorder. Others may follow it: on this board the button's line is low, as if the button were held."""
    board.until("journalctl -b -t fieldscribe --no-pager -o cat | grep -F 'fault code=export' | grep -qF '%s'" % text, 60)


def lamp_blinks(board):
    """Returns whether the recorder uses the lamp's line and changes its level within a second. Tries ten times, because the blinking may
    begin late."""
    for _ in range(10):
        levels = board.shell("mkdir -p /run/d; mount -t debugfs d /run/d; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do "
                             "grep -E '[(]GPIO26 ' /run/d/gpio; sleep 0.07; done; umount /run/d").splitlines()  # wait: samples the lamp
        if all("fieldscribe" in line for line in levels) and len(set(levels)) > 1:
            return True
    return False


def bad_cards(bench):
    """Tests faulty cards: each fault is reported, and everything that can start does."""
    reported = []

    # The partition is full and has an invalid vocabulary: RESULT.txt still has space, and the recorder records.
    folder = bench.folder("bad-cards")
    card = bench.card(folder, "vocabulary = words.txt\nmicrophone = tone:440\nrtc = ds3231\n")
    card.put("words.txt", b"Koudougou\n* 3\n")
    with Board(folder, card) as board:
        board.load()
        free = int(re.search(r"([\d ]+) bytes free", card.firmware("mdir", "::").decode())[1].replace(" ", ""))
        card.put("holiday.mov", bytes(free))
        expect(re.search(r"\s0 bytes free", card.firmware("mdir", "::").decode()), "the partition is not full")
        board.power_on(load=False)
        wait_until_ready(board)
        board.shell("fieldscribe start && sleep 2 && fieldscribe stop")  # wait: the length of the recording does not matter
        result = result_of(card)
        for text in ("partition is full", "words.txt: ignored until", "rtc = ds3231: no such clock answers"):
            expect(text in result and text in log_of(board), "'%s' is not reported: %s" % (text, result))
        wait_for_fault(board, "RESULT.txt beside it")
        expect(lamp_blinks(board), "the lamp does not blink")
        board.power_cut()
        check_fat(card, board)
    reported.append("full")

    # The boot sector and its backup are damaged: the settings have no effect, and the recorder starts.
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
        wait_until_ready(board)
        expect("first partition cannot be read" in log_of(board), "the journal does not report it: " + log_of(board))
        expect("first partition cannot be read" in board.shell("cat /card/RESULT.txt"), "there is no report next to the recordings")
        wait_for_fault(board, "RESULT.txt beside it")
        expect(lamp_blinks(board), "the lamp does not blink")
    reported.append("damaged")

    # The third partition is missing, or the card ends before it: recording is impossible, which RESULT.txt and the lamp report.
    for name in ("no-third", "small"):
        folder = bench.folder("bad-cards/" + name)
        card = bench.card(folder, "microphone = tone:440\nname = FIELD-8\n", 1024 if name == "no-third" else 512)
        if name == "no-third":
            run_tool("sfdisk", "--quiet", "--delete", card.path, "3")
        with Board(folder, card) as board:
            board.power_on()
            board.wait_for_shell()
            board.until("systemctl is-active --quiet fieldscribe-card-fault.service")
            result = result_of(card)
            expect("nothing can be recorded" in result and "nothing can be recorded" in log_of(board), "RESULT.txt contains: " + result)
            expect(("too small" in result) == (name == "small"), "RESULT.txt contains: " + result)
            expect(lamp_blinks(board), "the lamp does not blink")
            expect(board.shell("systemctl is-active fieldscribe.service", check=False) != "active", "the recorder runs although it could only record into memory")
            expect(board.shell("hostname") == "FIELD-8", "the other lines of fieldscribe.txt have no effect")
        reported.append(name)
    return "reported by RESULT.txt and the lamp: " + ", ".join(reported)


def result_of(card):
    return card.content("RESULT.txt").decode()


SOUND_FILE = "/var/lib/fieldscribe/room.wav"
SOUND_SETTINGS = """microphone = file:%s
recognizer.second-pass = no
upgrade-key = %s
"""


def card_with_sound(bench, folder, key="RW" + "A" * 54):
    """Makes a card whose recorder uses a sound file, stored next to the recordings, as its microphone."""
    card = bench.card(folder, SOUND_SETTINGS % (SOUND_FILE, key))
    sound, recordings = os.path.join(folder, "room.wav"), os.path.join(folder, "recordings")
    write_wave(sound, ROOM)
    card.copy_partition(3, recordings)
    for request in ("write %s fieldscribe/room.wav" % sound, "set_inode_field fieldscribe/room.wav uid 970",
                    "set_inode_field fieldscribe/room.wav gid 970"):
        run_tool("debugfs", "-w", "-R", request, recordings)
    start = card.partitions()[2][0]
    run_tool("dd", "if=" + recordings, "of=" + card.path, "bs=1M", "oflag=seek_bytes", "seek=%d" % start, "conv=notrunc,sparse")
    return card


def recorded(card, board):
    """Returns {path of a sound file: seconds} for the card, and fails unless every sample is part of the played sound."""
    recordings = card.copy_partition(3, board.path("recordings"))
    subprocess.run(["/usr/sbin/e2fsck", "-p", recordings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tree = board.path("tree")
    shutil.rmtree(tree, ignore_errors=True)
    os.makedirs(tree)
    run_tool("debugfs", "-R", "rdump fieldscribe " + tree, recordings)
    found = {}
    for folder, _, names in os.walk(os.path.join(tree, "fieldscribe", "recordings")):
        for name in names:
            if name.endswith(".wav"):
                path = os.path.relpath(os.path.join(folder, name), tree)
                with open(os.path.join(folder, name), "rb") as file:
                    found[path] = check_played(file.read(), path)
    return found


def status(board):
    return json.loads(board.shell("fieldscribe status --json"))


CUTS = 20


def cuts(bench):
    """Cuts the power 20 times while starting, recording and copying. Afterwards, every recording exists, and a stick gets all of them."""
    folder = bench.folder("cuts")
    generator = random.Random(27)
    card = card_with_sound(bench, folder)
    system, files = card.hash_of_system(), {name: card.content(name) for name in ("a/vmlinuz", "a/initrd.img", "config.txt", "slot.txt")}
    stick = os.path.join(folder, "stick.img")
    make_stick(stick, "vfat")
    shown_seconds, maximum_loss, seconds_until_ready = {}, 0.0, 0.0
    kinds = ["record", "start", "copy", "start"]
    with Board(folder, card) as board:
        for number in range(CUTS + 1):
            kind = kinds[number % len(kinds)] if number < CUTS else "end"
            board.power_on()
            if kind == "start":
                seconds = generator.uniform(0.05, 1.1) * seconds_until_ready
                time.sleep(seconds)  # wait: cuts at a random time
                description = "%.0f s after power-on; ready takes %.0f s" % (seconds, seconds_until_ready)
            else:
                seconds_until_ready = max(seconds_until_ready, wait_until_ready(board))
                lengths = recorded_lengths(board)
                for name, seconds in shown_seconds.items():
                    length = lengths.get(name, 0)
                    expect(length >= seconds - 1.0, "recording %s has only %.1f s of the %.1f s that were shown" % (name, length, seconds))
                    maximum_loss, shown_seconds[name] = max(maximum_loss, seconds - length), min(seconds, length)
            if kind == "record":
                board.shell("fieldscribe start")
                time.sleep(generator.uniform(2, 15))  # wait: cuts at a random time
                current = status(board)
                shown_seconds[current["recording"]] = current["recordedSeconds"]
                description = "%.1f s into recording %d" % (current["recordedSeconds"], current["recording"])
            elif kind == "copy":
                board.stick_in(stick)
                board.until("test -L /run/fieldscribe-stick.owner", 60)
                seconds = generator.uniform(0, 12)
                time.sleep(seconds)  # wait: cuts at a random time
                description = "%.0f s into a copy" % seconds
            if kind == "end":
                break
            board.power_cut()
            check_card(board, card, system)
            for name, data in files.items():
                expect(card.content(name) == data, name + " was changed")
            recorded(card, board)
            print("      cut %d of %d: %s" % (number + 1, CUTS, description), flush=True)
        last_stick = os.path.join(folder, "last.img")
        make_stick(last_stick, "vfat")
        board.stick_in(last_stick)
        board.until("journalctl -b -t fieldscribe-export --no-pager | grep -q 'safe to unplug'", 400)
        board.stick_out()
        board.power_cut()
    found = check_folders(read_stick(last_stick, "vfat", True, os.path.join(folder, "copied")))
    expect(len(found) == len(shown_seconds), "%d recordings on the stick instead of %d" % (len(found), len(shown_seconds)))
    # The earlier stick lost its power with the board: each of its recordings is intact or marked as partial.
    check_folders(read_stick(stick, "vfat", True, os.path.join(folder, "pulled")), is_complete=False)
    return "%d cuts; %d recordings, each sample as played; at most %.1f s of the shown seconds were lost; the system is unchanged" % (
        CUTS, len(shown_seconds), maximum_loss)


def archive_of(folder, files):
    """Returns a cpio archive that the kernel reads after the initial ramdisk, so that its files replace those with the same names."""
    source = os.path.join(folder, "more")
    shutil.rmtree(source, ignore_errors=True)
    os.makedirs(source)
    for name, data in files.items():
        with open(os.path.join(source, name), "wb") as file:
            file.write(data)
        os.chmod(os.path.join(source, name), 0o755)
    done = subprocess.run(["cpio", "-o", "-H", "newc", "--quiet", "--owner", "0:0"], input="\n".join(files).encode(), cwd=source,
                          stdout=subprocess.PIPE, check=True)
    return done.stdout


class UpgradeMaker:
    """Makes upgrades: copies of the image with a later date and perhaps a fault, signed by deploy/image."""

    def __init__(self, bench, folder):
        self.bench, self.folder = bench, folder
        base = Card(bench.image)
        self.ramdisk = base.content("a/initrd.img")
        self.made = int(re.search(r"made=(\d+)", base.content("a/version.txt").decode())[1])
        self.verity = self._file_of_ramdisk("verity")
        self.init = self._file_of_ramdisk("init")
        self.keys = {name: self._key(name) for name in ("ours", "theirs")}

    def _file_of_ramdisk(self, name):
        ramdisk = run_tool("zstd", "-dc", data=self.ramdisk)
        return subprocess.run(["cpio", "-i", "--quiet", "--to-stdout", name], input=ramdisk, stdout=subprocess.PIPE, check=True).stdout

    def _key(self, name):
        secret, public = (os.path.join(self.folder, name + end) for end in (".key", ".pub"))
        run_tool("minisign", "-G", "-W", "-s", secret, "-p", public)
        with open(public) as file:
            return secret, file.read().split("\n")[1]

    def upgrade(self, name, seconds_later, key="ours", init=None, verity=None):
        """Makes NAME.img.xz, dated `seconds_later` after the image, and its signature. Returns their paths."""
        path = os.path.join(self.folder, name + ".img")
        copy_disk(self.bench.image, path)
        card, made = Card(path), b"made=%d" % (self.made + seconds_later)
        verity = re.sub(rb"made=\d+", made, verity or self.verity)
        files = {"verity": verity} | ({"init": init} if init else {})
        ramdisk = self.ramdisk + bytes(-len(self.ramdisk) % 4)
        card.put("a/initrd.img", ramdisk + archive_of(self.folder, files))
        card.put("a/version.txt", re.sub(rb"made=\d+", made, card.content("a/version.txt")))
        run_tool("xz", "-1", "-T2", "--force", path)
        if key:
            signer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "deploy", "image")
            run_tool(signer, "sign", self.keys[key][0], path + ".xz")
        return [path + ".xz"] + ([path + ".xz.minisig"] if key else [])


def restart_board(board):
    """Cuts the power and starts the board again, because qemu's board hangs at the second stick after a start."""
    board.power_cut()
    board.power_on()
    wait_until_ready(board)


def offer_upgrade(board, name, files, text):
    """Plugs in a stick with upgrades, waits until the journal contains a text, and returns the stick's RESULT.txt. Works only for the first
    stick after a start."""
    path = board.path(name + ".stick")
    make_stick(path, "vfat", megabytes=512)
    volume = "%s@@%d" % (path, MIB)
    for folder in ("::Fieldscribe", "::Fieldscribe/upgrade"):
        run_tool("mmd", "-i", volume, folder)
    run_tool("mcopy", "-i", volume, *files, "::Fieldscribe/upgrade/")
    # A file like those that macOS creates next to each file.
    run_tool("mcopy", "-i", volume, "-", "::Fieldscribe/upgrade/._" + os.path.basename(files[0]), data=b"\0\5\x16\7")
    board.stick_in(path)
    board.until("journalctl -b --no-pager -o cat -t fieldscribe-export | grep -F '%s'" % text, 400)
    board.until("! test -L /run/fieldscribe-stick.owner", 60)
    board.stick_out()
    result = run_tool("mtype", "-i", volume, "::Fieldscribe/RESULT.txt").decode()
    os.unlink(path)
    expect(text in result, "RESULT.txt on the stick contains: " + result)
    return result


def running_system(board):
    """Returns (slot, date) of the running system."""
    values = dict(line.split("=", 1) for line in board.shell("cat /etc/fieldscribe/image").split())
    return values["slot"], int(values["made"])


class Steps:
    """The completed steps of a scenario. Prints each when it is added."""

    def __init__(self, name):
        self.name, self.steps = name, []

    def add(self, step):
        self.steps.append(step)
        print("      %s: %s" % (self.name, step), flush=True)

    def __str__(self):
        return "; ".join(self.steps)


def record(board):
    """Makes a recording of a few seconds."""
    board.shell("fieldscribe start && sleep 3 && fieldscribe stop")  # wait: the length of the recording does not matter


def upgrade(bench):
    """Tests a newer image on a stick. Without a signature, it is refused. With one, it is written, started and kept, even if the power failed
    during the first write."""
    folder, steps = bench.folder("upgrade"), Steps("upgrade")
    maker = UpgradeMaker(bench, folder)
    card = card_with_sound(bench, folder, maker.keys["ours"][1])
    system, firmware_file = card.hash_of_system(), card.content("start.elf")
    good = maker.upgrade("good", 60)
    with Board(folder, card) as board:
        board.power_on()
        steps.add("ready after %.0f s" % wait_until_ready(board))
        expect(running_system(board) == ("a", maker.made), "the running system is %s %d" % running_system(board))
        record(board)
        offer_upgrade(board, "unsigned", good[:1], "has no signature")
        wait_for_fault(board, "not everything was copied to the stick")
        expect(card.boot_names()[0] == "a/" and "b" not in card.names(), "a refused upgrade left files")
        steps.add("unsigned: refused")
        restart_board(board)

        offer_upgrade(board, "good", good, "its signature is valid")
        board.until("journalctl -b --no-pager -o cat -t fieldscribe-card | grep -F 'writing version'", 60)
        time.sleep(5)  # wait: cuts during the write, which takes longer; on a slow board, the cut comes earlier in the write
        board.power_cut()
        check_card(board, card, system)
        expect(card.boot_names()[0] == "a/", "an incomplete upgrade would be started")
        board.power_on()
        wait_until_ready(board)
        expect(running_system(board)[0] == "a" and len(recorded_lengths(board)) == 1, "an incomplete upgrade was started, or a recording is missing")
        steps.add("power cut during the write: the old system stays")
        offer_upgrade(board, "good", good, "its signature is valid")
        board.wait_for_restart(600)
        expect(card.boot_names()[0] == "b/" and "# trial of b" in card.content("slot.txt").decode(), "the upgrade would not be tried")
        steps.add("second attempt: written, and the board restarted")
        board.power_on()
        board.wait_for_shell()
        expect(card.boot_names()[0] == "a/" and "# tried b" in card.content("slot.txt").decode(), "the next start would not start the old system")
        wait_until_ready(board)
        expect(running_system(board) == ("b", maker.made + 60), "the running system is %s %d" % running_system(board))
        board.until("journalctl -b --no-pager -o cat -t fieldscribe-card | grep -F 'is kept'", 120)
        slot = card.content("slot.txt").decode()
        expect(card.boot_names()[0] == "b/" and "trial" not in slot and "tried" not in slot, "slot.txt contains " + slot)
        expect(len(recorded_lengths(board)) == 1, "the recording is missing")
        record(board)
        offer_upgrade(board, "same", good, "which this recorder already has")
        board.power_cut()
    expect(card.hash_of_system() == system, "the previous system was changed")
    expect(card.content("start.elf") == firmware_file, "the firmware was changed")
    check_fat(card, board)
    found = recorded(card, board)
    expect(len(found) == 2 and min(found.values()) > 1, "recordings: %s" % found)
    steps.add("kept; the recordings are complete and sample-exact")
    return str(steps)


def upgrade_bad(bench):
    """Tests signed but faulty images: each is tried once, the old system returns, and recordings stay."""
    folder, steps = bench.folder("upgrade-bad"), Steps("upgrade-bad")
    maker = UpgradeMaker(bench, folder)
    card = card_with_sound(bench, folder, maker.keys["ours"][1])
    system = card.hash_of_system()
    # The first image has an unreadable system. The second starts without a recorder, so it never becomes ready.
    damaged = maker.upgrade("damaged", 120, verity=re.sub(rb"root=[0-9a-f]+", b"root=" + b"0" * 64, maker.verity))
    init_without_recorder = maker.init.replace(b"exec switch_root", b"ln -sf /dev/null $new/etc/systemd/system/fieldscribe.service\nexec switch_root")
    recorderless = maker.upgrade("recorderless", 180, init=init_without_recorder)

    def check_rollback(board):
        board.power_on()
        wait_until_ready(board)
        expect(running_system(board) == ("a", maker.made), "the running system is %s %d" % running_system(board))
        for report in (result_of(card), log_of(board)):
            expect("did not become ready" in report, "the failure is not reported: " + report)
        wait_for_fault(board, "RESULT.txt beside it")
        expect(lamp_blinks(board), "the lamp does not blink")
        expect(len(recorded_lengths(board)) == 1, "the recording is missing")

    with Board(folder, card) as board:
        board.power_on()
        steps.add("ready after %.0f s" % wait_until_ready(board))
        record(board)
        offer_upgrade(board, "damaged", damaged, "its signature is valid")
        board.wait_for_restart(600)
        expect(card.boot_names()[0] == "b/", "the upgrade would not be tried")
        board.power_on()
        # The upgrade's initial ramdisk restarts the board.
        board.wait_for_restart(120)
        expect(card.boot_names()[0] == "a/", "the next start would not start the old system")
        check_rollback(board)
        offer_upgrade(board, "damaged", damaged, "to try it again")
        steps.add("unreadable system: rolled back, reported, shown by the lamp, and not tried again")
        restart_board(board)
        offer_upgrade(board, "recorderless", recorderless, "its signature is valid")
        board.wait_for_restart(600)
        board.power_on()
        board.wait_for_shell()
        expect(running_system(board) == ("b", maker.made + 180), "the running system is %s %d" % running_system(board))
        board.wait_for_restart(200)
        check_rollback(board)
        board.power_cut()
    check_card(board, card, system)
    found = recorded(card, board)
    expect(len(found) == 1 and min(found.values()) > 1, "recordings: %s" % found)
    steps.add("system without a recorder: rolled back after five minutes; the recording is complete and sample-exact")
    return str(steps)


def recorded_lengths(board):
    """Returns {recording: seconds} as the recorder lists them."""
    output = board.shell("fieldscribe list --json 2>/dev/null", check=False)
    return {row["id"]: row["duration"] for row in json.loads(output[output.index("["):])} if "[" in output else {}


SCENARIOS = {
    "firmware": firmware, "start": start, "console": console, "bad-cards": bad_cards, "cuts": cuts, "upgrade": upgrade, "upgrade-bad": upgrade_bad,
}


def main():
    parser = argparse.ArgumentParser(description="Tests the card image on the emulated board.")
    parser.add_argument("--image", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("scenarios", nargs="*", metavar="NAME", help="one of: " + " ".join(SCENARIOS))
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.scenarios if name not in SCENARIOS]:
        parser.error("no such scenario: " + " ".join(unknown))
    bench = Bench(os.path.abspath(arguments.image), os.path.abspath(arguments.work))
    failed = 0
    for name in arguments.scenarios or SCENARIOS:
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
