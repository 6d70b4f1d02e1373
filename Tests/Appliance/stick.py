"""Copies to sticks: the lamp shows when a stick is safe to unplug, and the copies are intact."""

import os
import re
import shlex
import shutil
import subprocess

import exfat
from appliance import STORAGE
from bench import expect

MIB = 1 << 20
FORMATS = {
    "vfat": ["mkfs.vfat", "-n", "STICK"],
    "vfat32": ["mkfs.vfat", "-F", "32", "-n", "STICK"],
    "exfat": ["mkfs.exfat", "-L", "STICK"],
    "ext4": ["mke2fs", "-q", "-F", "-t", "ext4", "-L", "STICK"],
    "ntfs": ["mkntfs", "--fast", "--force", "--quiet", "-L", "STICK"],
}
# The files of each recording on the stick.
FILES = ["audio.flac", "history.json", "index.html", "labels.txt", "SHA256SUMS"] + [
    "transcript." + end for end in ("txt", "json", "srt", "vtt", "csv", "TextGrid", "eaf", "docx")]
# The files that the recorder makes with its minisign key.
SIGNED = {"recorder.pub", "SHA256SUMS.minisig"}
CHECKS = {"vfat": ["fsck.vfat", "-n"], "exfat": ["fsck.exfat", "-n"], "ext4": ["e2fsck", "-f", "-n"], "ntfs": ["ntfsfix", "-n"]}
PARTITION_TYPES = {"vfat": "c", "vfat32": "c", "exfat": "7", "ntfs": "7", "ext4": "83"}


def run(*arguments):
    result = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin", MTOOLS_SKIP_CHECK="1"))
    expect(result.returncode == 0, "%s: %s" % (" ".join(arguments), result.stdout.decode(errors="replace")))
    return result.stdout


def make_stick(path, kind, partitioned=True, megabytes=64):
    """Makes an empty stick with one partition, like new sticks, or with the file system on the whole stick."""
    part = path + ".part"
    with open(part, "wb") as file:
        file.truncate((megabytes - 2 if partitioned else megabytes) * MIB)
    run(*FORMATS[kind], part)
    if not partitioned:
        os.rename(part, path)
        return
    with open(path, "wb") as file:
        file.truncate(megabytes * MIB)
    subprocess.run(["sfdisk", "-q", path], input=b"start=2048, size=%d, type=%s\n" % (
        (megabytes - 2) * MIB // 512, PARTITION_TYPES[kind].encode()), check=True,
        env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin"))
    with open(part, "rb") as source, open(path, "r+b") as target:
        target.seek(MIB)
        while block := source.read(MIB):
            if block.strip(b"\0"):
                target.write(block)
            else:
                target.seek(len(block), os.SEEK_CUR)
    os.unlink(part)


def insert(machine, path, timeout=150, **options):
    """Plugs a stick in, waits until the lamp shows that it is safe to unplug, and returns the seconds until then."""
    began = machine.note("stick")
    machine.stick_in(path, **options)
    signals = machine.wait_lamp(lambda lamp: lamp.safe_signals(began), timeout, "three steady seconds: safe to unplug")
    blinks = machine.lamp().double_blinks(began)
    expect(blinks, "no double blink while the stick was written to")
    return signals[0] - began


def fill(machine, path, recordings, name, kind="vfat", partitioned=True):
    """Plugs a stick in, which must then have the given number of intact recordings. Copies its folder Fieldscribe to the host as `name`.
    Returns (the seconds until the stick is safe to unplug, the path of the copy, the result of `check_folders` for it)."""
    seconds = insert(machine, path)
    machine.stick_out()
    root = read_stick(path, kind, partitioned, machine.path(name))
    found = check_folders(root)
    expect(len(found) == recordings, "%d intact recordings on the stick instead of %d" % (len(found), recordings))
    return seconds, root, found


def next_stick(machine, recordings):
    """Plugs in a good stick, which must get all recordings, and returns the seconds until it is safe to unplug."""
    path = machine.path("good.img")
    make_stick(path, "vfat")
    return fill(machine, path, recordings, "good")[0]


def acknowledge(machine):
    """Acknowledges a fault with a press, which also starts a recording, as a person would."""
    machine.play_sound()
    machine.press()
    machine.until_recorded(3)
    expect(machine.is_steady(), "the fault is still shown")
    machine.press()
    machine.until_transcribed()


def check_folders(root, is_complete=True):
    """Checks every recording on a stick and returns {folder: {file: (bytes, time)}}. `is_complete` is false for a stick that was pulled too
    early: it may lack index.html, and have a folder named partial."""
    expect(not is_complete or os.path.getsize(os.path.join(root, "index.html")) > 0, "no index.html")
    found = {}
    for folder, _, names in os.walk(root):
        if "audio.flac" not in names or not is_complete and os.path.basename(folder).startswith("partial"):
            continue
        expect(set(names) == SIGNED.union(FILES), "%s contains %s" % (folder, " ".join(sorted(names))))
        listed = [line.split("  ", 1)[1] for line in text(os.path.join(folder, "SHA256SUMS")).splitlines()]
        expect(sorted(set(listed) - SIGNED) == sorted(set(FILES) - {"SHA256SUMS"}), "SHA256SUMS lists %s" % " ".join(sorted(listed)))
        sums = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder,
                              capture_output=True, text=True)
        expect(sums.returncode == 0, "%s: %s" % (folder, sums.stderr + sums.stdout))
        signature = subprocess.run(["minisign", "-V", "-q", "-p", "recorder.pub", "-m", "SHA256SUMS"], cwd=folder,
                                   capture_output=True, text=True)
        expect(signature.returncode == 0, "%s: %s" % (folder, signature.stderr + signature.stdout))
        found[os.path.relpath(folder, root)] = {
            name: (os.path.getsize(os.path.join(folder, name)), os.path.getmtime(os.path.join(folder, name)))
            for name in names}
    return found


def text(path):
    with open(path) as file:
        return file.read()


def stick(kind, partitioned=True):
    """Returns a scenario in which a stick gets all recordings, and only the new one when it is plugged in again."""
    def scenario(bench):
        with bench.appliance("stick-%s%s" % (kind, "" if partitioned else "-whole")) as machine:
            path = machine.path("stick.img")
            make_stick(path, kind, partitioned)
            machine.record(8)
            first, root, before = fill(machine, path, 1, "first", kind, partitioned)
            expect("1 recording was copied" in text(root + "/RESULT.txt"), text(root + "/RESULT.txt"))
            words = text(os.path.join(root, list(before)[0], "transcript.txt")).split()
            expect("forward" in words, "the transcript on the stick is '%s'" % " ".join(words))

            machine.record(2)
            second, root, after = fill(machine, path, 2, "second", kind, partitioned)
            result = text(root + "/RESULT.txt")
            expect("1 recording was copied" in result and "1 recording was already here" in result, result)
            for folder, files in before.items():
                expect(after.get(folder) == files, "%s was written again" % folder)
            run(*CHECKS[kind], machine.path("second.volume"))
            # The journal must have the stick's UUID, although the sandbox hides the file in which the copy looks for it first.
            volume_id = run("blkid", "-p", "-s", "UUID", "-o", "value", machine.path("second.volume")).decode().strip()
            volumes = machine.shell("grep -ho '\"volume\":\"[^\"]*\"' %s/recordings/*/journal.jsonl | sort -u" % STORAGE)
            expect(volume_id and volumes.split() == ['"volume":"%s"' % volume_id],
                   "the stick's UUID is %s, but the journal has %s" % (volume_id, volumes))
            expect(not machine.lamp().fast_blinks(), "the lamp showed a fault")
            return "safe to unplug after %.0f s and %.0f s; 2 intact folders, one from each copy" % (first, second)
    return scenario


def read_stick(path, kind, partitioned, target):
    """Copies the folder Fieldscribe from a stick to the host and returns the path of the copy. Leaves the file system in TARGET.volume."""
    volume = target + ".volume"
    with open(path, "rb") as source, open(volume, "wb") as part:
        source.seek(MIB if partitioned else 0)
        shutil.copyfileobj(source, part)
        if partitioned:
            # Removes the last MiB, which is after the partition.
            part.truncate(part.tell() - MIB)
    return read_folder(volume, kind, target)


def read_folder(volume, kind, target):
    """Copies the folder Fieldscribe from a file system to the host and returns the path of the copy."""
    os.makedirs(target)
    if kind == "vfat":
        run("mcopy", "-s", "-m", "-i", volume, "::Fieldscribe", target)
    elif kind == "ext4":
        run("debugfs", "-R", "rdump /Fieldscribe %s" % target, volume)
    elif kind == "exfat":
        exfat.read(volume, "Fieldscribe", target)
    else:
        read_ntfs(volume, "/Fieldscribe", target)
    return os.path.join(target, "Fieldscribe")


def read_ntfs(volume, folder, target):
    """Copies a folder from an NTFS volume with the tools of ntfs-3g. They append a slash to the names of folders, and report no times."""
    os.makedirs(target + folder)
    for line in run("ntfsls", "--quiet", "--force", "--classify", "--path", folder, volume).decode().splitlines():
        name = folder + "/" + line.rstrip("/")
        if line in ("./", "../"):
            continue
        if line.endswith("/"):
            read_ntfs(volume, name, target)
        else:
            with open(target + name, "wb") as file:
                file.write(run("ntfscat", "--quiet", "--force", volume, name))
            os.utime(target + name, (0, 0))


def stick_read_only(bench):
    """A write-protected stick causes a fault with a reason, and the next stick gets everything."""
    with bench.appliance("stick-read-only") as machine:
        make_stick(machine.path("bad.img"), "vfat")
        machine.record(3)
        began = machine.note("protected")
        machine.stick_in(machine.path("bad.img"), name="bad", read_only=True)
        machine.wait_lamp(lambda lamp: lamp.fast_blinks(began), 120, "fast blinks: a fault")
        machine.stick_out("bad")
        expect(not machine.lamp().safe_signals(began), "the lamp showed that it is safe to unplug")
        reason = machine.journal("fieldscribe-export@*")
        expect("cannot be mounted" in reason or "read-only" in reason, reason)
        acknowledge(machine)
        seconds = next_stick(machine, 2)
        return "the fault was reported; the next stick was safe to unplug after %.0f s" % seconds


# The times at which the stick is pulled, each with a condition on the machine that is true at that time.
PULLED = (("during a write", "test -n \"$(find /run/fieldscribe-stick -path '*/partial/*' -name 'audio.*')\""),
          ("before it is unmounted", "grep -q ' /run/fieldscribe-stick [a-z0-9]* ro' /proc/mounts"))

# hold CONDITION: pauses the copy as soon as the condition is true. systemd continues it when the stick is gone.
HOLD = """cat >/run/test/hold <<'END'
until eval "$1"; do
    sleep 0.01 # wait: polls for the condition; the tries are a limit
    tries=$((tries + 1))
    [ $tries -le 6000 ] || exit 1
done
systemctl kill --signal=STOP 'fieldscribe-export@sda1'
END
"""


def stick_pulled(bench):
    """A stick is pulled during a write, and again just before it is unmounted. Each time there is a fault, and no incomplete folder has a
    final name. The next copy to the same stick completes it."""
    with bench.appliance("stick-pulled") as machine:
        path = machine.path("stick.img")
        make_stick(path, "vfat")
        machine.record(10)
        machine.shell(HOLD)
        counts = []
        for number, (when, condition) in enumerate(PULLED):
            machine.shell("systemd-run --quiet --unit=hold-%d sh /run/test/hold %s" % (number, shlex.quote(condition)))
            began = machine.note("stick")
            machine.stick_in(path)
            machine.until("! systemctl is-active --quiet hold-%d" % number, 150)
            expect(not machine.lamp().safe_signals(began), "pulled %s: the copy was already done" % when)
            machine.stick_out()
            machine.wait_lamp(lambda lamp: lamp.fast_blinks(began), 150, "fast blinks: a fault after a pull " + when)
            expect(not machine.lamp().safe_signals(began), "pulled %s: the lamp showed that it is safe to unplug" % when)
            root = read_stick(path, "vfat", True, machine.path("pulled-%d" % number))
            counts.append(len(check_folders(root, is_complete=False)))
            acknowledge(machine)
        expect(counts == [0, 2], "there were %d and %d intact recordings on the stick instead of 0 and 2" % tuple(counts))
        seconds = fill(machine, path, 3, "read")[0]
        machine.shell("fieldscribe verify")
        return "pulled %s: a fault each time, then %d and %d intact recordings on the stick; all 3 intact %.0f s after it was plugged in again" % (
            " and ".join(when for when, _ in PULLED), *counts, seconds)


def make_dirty(path):
    """Puts a partitioned FAT32 stick into the state after a pull during a write: it has an incomplete copy, clusters that the FAT does not
    link, and the flag for a volume that was not unmounted."""
    with open(path + ".sound", "wb") as file:
        file.write(os.urandom(300_000))
    for folder in ("", "/appliance", "/appliance/partial"):
        run("mmd", "-i", "%s@@1M" % path, "::Fieldscribe" + folder)
    run("mcopy", "-i", "%s@@1M" % path, path + ".sound", "::Fieldscribe/appliance/partial/audio.flac")
    clusters = run("mshowfat", "-i", "%s@@1M" % path, "::Fieldscribe/appliance/partial/audio.flac").decode()
    first, last = (int(number) for number in re.search(r"<(\d+)-(\d+)>", clusters).groups())
    with open(path, "r+b") as file:
        file.seek(MIB)
        boot = file.read(512)
        expect(boot[22:24] == b"\0\0", "the stick's file system is not FAT32")
        reserved, tables, sectors = int.from_bytes(boot[14:16], "little"), boot[16], int.from_bytes(boot[36:40], "little")
        for table in range(tables):
            file.seek(MIB + (reserved + table * sectors) * 512 + (first + 2) * 4)
            file.write(bytes((last - first - 1) * 4))
        file.seek(MIB + 65)
        file.write(b"\1")


def stick_dirty(bench):
    """A stick whose file system was damaged by an earlier pull is repaired and gets everything."""
    with bench.appliance("stick-dirty") as machine:
        path = machine.path("stick.img")
        make_stick(path, "vfat32", megabytes=80)
        make_dirty(path)
        machine.record(3)
        seconds, root, _ = fill(machine, path, 1, "read")
        expect(not os.path.exists(os.path.join(root, "appliance", "partial")), "the incomplete copy is still there")
        run(*CHECKS["vfat"], machine.path("read.volume"))
        expect("repaired" in machine.journal("fieldscribe-export@*"), "the journal does not report the repair")
        return "repaired, and safe to unplug after %.0f s" % seconds


def stick_full(bench):
    """A stick without enough space causes a fault, with the reason in RESULT.txt, and gets no incomplete folder."""
    with bench.appliance("stick-full") as machine:
        path = machine.path("stick.img")
        make_stick(path, "vfat", megabytes=6)
        with open(machine.path("filler"), "wb") as file:
            file.write(os.urandom(4_120_000))
        run("mcopy", "-i", "%s@@1M" % path, machine.path("filler"), "::filler.bin")
        machine.record(12)
        began = machine.note("stick")
        machine.stick_in(path)
        machine.wait_lamp(lambda lamp: lamp.fast_blinks(began), 120, "fast blinks: a fault")
        machine.until("systemctl show -P ActiveState fieldscribe-export@sda1 | grep -E 'inactive|failed'")
        machine.stick_out()
        expect(not machine.lamp().safe_signals(began), "the lamp showed that it is safe to unplug")
        root = read_stick(path, "vfat", True, machine.path("full"))
        expect(check_folders(root, is_complete=False) == {}, "there is a recording on the full stick")
        result = text(root + "/RESULT.txt")
        expect("NOT EVERYTHING WAS COPIED" in result and "free space" in result, result)
        run("mcopy", "-i", "%s@@1M" % path, "::filler.bin", machine.path("filler.back"))
        with open(machine.path("filler"), "rb") as before, open(machine.path("filler.back"), "rb") as after:
            is_unchanged = before.read() == after.read()
        expect(is_unchanged, "a file that was already on the stick was changed")
        machine.shell("fieldscribe verify")
        acknowledge(machine)
        seconds = next_stick(machine, 2)
        return "the fault was reported, also in RESULT.txt; no other file on the stick changed; the next stick was safe to unplug after %.0f s" % seconds
