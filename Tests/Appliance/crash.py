"""The disk as a power cut leaves it: qemu's record of writes and flushes, replayed with unflushed writes lost or torn."""

import random
import struct
import subprocess

from machine import copy_disk

FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
MAGIC, SECTOR = 0x6A736677736872, 512


class Writes:
    """The record of a run by qemu's driver blklogwrites."""

    def __init__(self, path):
        self.entries = []  # (offset on the disk, bytes, flags, offset in the record)
        with open(path, "rb") as file:
            # The first sector is written with the first flush, but what follows does not depend on it.
            magic, = struct.unpack("<Q", file.read(8))
            assert magic in (MAGIC, 0), "no record of writes"
            place = SECTOR
            while True:
                file.seek(place)
                header = file.read(32)
                if len(header) < 32:
                    return
                at, count, flags, _ = struct.unpack("<QQQQ", header)
                if not (count or flags):
                    return
                data = b""
                if count and not flags & (DISCARD | MARK):
                    file.seek(place + SECTOR)
                    data = file.read(count * SECTOR)
                self.entries.append((at * SECTOR, data, flags, place))
                place += SECTOR + len(data)

    def before(self, place):
        """The number of entries before a place in the record."""
        return sum(entry[3] < place for entry in self.entries)

    def flushed(self, at):
        """The index after the last flush among the first `at` entries: everything before it is on the disk."""
        return next((index + 1 for index in range(at - 1, -1, -1) if self.entries[index][2] & FLUSH), 0)

    def rebuild(self, base, disk, at, keep=0.0, tear=False, seed=0, flushed=None):
        """Makes the disk of a power cut after `at` entries. Keeps each write since the last flush with the probability
        `keep`; with `tear`, lost writes leave some of their first sectors."""
        copy_disk(base, disk)
        safe = self.flushed(at) if flushed is None else flushed
        chance = random.Random(seed)
        with open(disk, "r+b") as file:
            for index, (offset, data, flags, _) in enumerate(self.entries[:at]):
                if index >= safe and not flags & FUA and data and chance.random() >= keep:
                    data = data[:SECTOR * chance.randrange(len(data) // SECTOR)] if tear else b""
                if data:
                    file.seek(offset)
                    file.write(data)


def mend(disk):
    """Replays the file system's journal and repairs it, as at a start; returns whether it is then intact."""
    return subprocess.run(["/sbin/e2fsck", "-f", "-p", disk], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode in (0, 1)


def debugfs(disk, commands):
    subprocess.run(["/sbin/debugfs", "-f", "/dev/stdin", disk], input=commands.encode(), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def take(disk, folder, paths):
    """Copies files out of an ext4 image; returns their new paths. A file that does not exist is not copied."""
    targets = ["%s/%s" % (folder, path.rsplit("/", 1)[1]) for path in paths]
    debugfs(disk, "".join("dump %s %s\n" % pair for pair in zip(paths, targets)))
    return targets


def rescue(disk, folder):
    """Copies the journal out of the disk of a machine that does not answer: for `journalctl --directory`."""
    debugfs(disk, "rdump /var/log/journal %s\n" % folder)
