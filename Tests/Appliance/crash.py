"""Makes the disk after a power cut from qemu's record of writes and flushes, with unflushed writes lost or torn."""

import random
import struct
import subprocess

from machine import copy_disk

FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
MAGIC, SECTOR = 0x6A736677736872, 512


class Writes:
    """The record of writes by qemu's driver blklogwrites."""

    def __init__(self, path):
        self.entries = []  # (offset on the disk, bytes, flags, offset in the record)
        with open(path, "rb") as file:
            # qemu writes the first sector only at the first flush, but the entries do not depend on it.
            magic, = struct.unpack("<Q", file.read(8))
            assert magic in (MAGIC, 0), "not a record of writes"
            position = SECTOR
            while True:
                file.seek(position)
                header = file.read(32)
                if len(header) < 32:
                    return
                sector, count, flags, _ = struct.unpack("<QQQQ", header)
                if not (count or flags):
                    return
                data = b""
                if count and not flags & (DISCARD | MARK):
                    file.seek(position + SECTOR)
                    data = file.read(count * SECTOR)
                self.entries.append((sector * SECTOR, data, flags, position))
                position += SECTOR + len(data)

    def before(self, position):
        """Returns the number of entries before a position in the record."""
        return sum(entry[3] < position for entry in self.entries)

    def flushed(self, count):
        """Returns the index after the last flush among the first `count` entries. The entries before it are on the disk."""
        return next((index + 1 for index in range(count - 1, -1, -1) if self.entries[index][2] & FLUSH), 0)

    def rebuild(self, base, disk, count, keep=0.0, tear=False, seed=0, flushed=None):
        """Makes the disk as it would be after a power cut that follows `count` entries. Keeps each write since the last flush with
        the probability `keep`. If `tear`, keeps some of the first sectors of lost writes."""
        copy_disk(base, disk)
        durable_count = self.flushed(count) if flushed is None else flushed
        generator = random.Random(seed)
        with open(disk, "r+b") as file:
            for index, (offset, data, flags, _) in enumerate(self.entries[:count]):
                if index >= durable_count and not flags & FUA and data and generator.random() >= keep:
                    data = data[:SECTOR * generator.randrange(len(data) // SECTOR)] if tear else b""
                if data:
                    file.seek(offset)
                    file.write(data)


def repair(disk):
    """Replays the file system's journal and repairs the file system, as a start does. Returns whether that succeeded."""
    return subprocess.run(["/sbin/e2fsck", "-f", "-p", disk], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode in (0, 1)


def debugfs(disk, commands):
    subprocess.run(["/sbin/debugfs", "-f", "/dev/stdin", disk], input=commands.encode(), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def copy_files(disk, folder, paths):
    """Copies files from an ext4 image and returns their new paths. Skips files that do not exist."""
    targets = ["%s/%s" % (folder, path.rsplit("/", 1)[1]) for path in paths]
    debugfs(disk, "".join("dump %s %s\n" % pair for pair in zip(paths, targets)))
    return targets


def copy_journal(disk, folder):
    """Copies systemd's journal from a disk, for `journalctl --directory`."""
    debugfs(disk, "rdump /var/log/journal %s\n" % folder)
