"""Reads exFAT volumes according to Microsoft's specification, without the kernel's driver."""

import os
import struct
import time

FILE = 0x85  # the type of an entry that is followed by a stream entry and name entries
IS_FOLDER, IS_CONTIGUOUS = 0x10, 2


class Volume:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        fat, _, heap, _, self.root = struct.unpack_from("<IIIII", self.data, 80)
        sector = 1 << self.data[108]
        self.fat, self.heap, self.cluster = fat * sector, heap * sector, sector << self.data[109]

    def content(self, first, length=None):
        """Returns the content of the clusters from `first` on: contiguous ones if a length is given, otherwise those that the FAT links."""
        if length is not None:
            offset = self.heap + (first - 2) * self.cluster
            return self.data[offset:offset + length]
        content = b""
        while 2 <= first < 0xFFFFFFF7:
            content += self.content(first, self.cluster)
            first, = struct.unpack_from("<I", self.data, self.fat + 4 * first)
        return content

    def entries(self, folder):
        """Yields (name, whether it is a folder, time, content) for each file. `folder` is the content of a folder."""
        for offset in range(0, len(folder), 32):
            if folder[offset] != FILE:
                continue
            count, is_folder, modified = folder[offset + 1], folder[offset + 4] & IS_FOLDER, folder[offset + 12:offset + 16]
            flags, name_length, first, length = struct.unpack_from("<xBxB16xIQ", folder, offset + 32)
            name = b"".join(folder[offset + 32 * index + 2:offset + 32 * index + 32] for index in range(2, count + 1))
            content = self.content(first, length if flags & IS_CONTIGUOUS else None)[:length] if length else b""
            yield name[:2 * name_length].decode("utf-16-le"), is_folder, struct.unpack("<I", modified)[0], content


def read(path, name, target):
    """Copies a folder from the root of a volume to a folder on the host."""
    volume = Volume(path)
    top = [entry for entry in volume.entries(volume.content(volume.root)) if entry[0] == name]
    copy(volume, top, target)


def copy(volume, entries, target):
    for name, is_folder, modified, content in entries:
        path = os.path.join(target, name)
        if is_folder:
            os.makedirs(path)
            copy(volume, volume.entries(content), path)
        else:
            with open(path, "wb") as file:
                file.write(content)
            fields = (1980 + (modified >> 25), modified >> 21 & 15, modified >> 16 & 31, modified >> 11 & 31,
                      modified >> 5 & 63, (modified & 31) * 2, 0, 0, 0)
            os.utime(path, (time.mktime(fields),) * 2)
