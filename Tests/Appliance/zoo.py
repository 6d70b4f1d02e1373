"""A zoo of sticks: damaged, misleading, or made to do harm. Each is made here; `hostile` plugs them in."""

import os
import random
import struct
import subprocess

from stick import MIB, make_stick, run

LETTER = b"This is somebody's own, and nobody's business.\n"

# The permitted outcomes: never reported as safe to unplug, always copied to, or either.
NEVER, ALWAYS, EITHER = "never", "always", "either"


class Exhibit:
    """One stick: how it is made, its permitted outcome, where its file systems begin, and the options for plugging it in."""

    def __init__(self, make, verdict, volumes, options):
        self.name = make.__name__.replace("_", "-")
        self.make, self.verdict, self.volumes, self.options = make, verdict, volumes, options


ZOO = []


def exhibit(verdict, volumes=(), **options):
    """Adds a stick to the zoo. `volumes`: (kind, first byte) of each file system with LETTER, a foreign file."""
    def add(make):
        ZOO.append(Exhibit(make, verdict, volumes, options))
        return make
    return add


VFAT, EXT4 = [("vfat", 0)], [("ext4", 0)]


def blank(path, megabytes=8):
    with open(path, "wb") as file:
        file.truncate(megabytes * MIB)


def put(path, offset, data):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def get(path, offset, length):
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(length)


def noise(length, seed=1):
    return random.Random(seed).randbytes(length)


def partition_table(path, *entries, at=0):
    """Writes a DOS partition table of (type, first sector, sectors)."""
    table = b"".join(struct.pack("<B3sB3sII", 0, b"\0\2\0", kind, b"\xff\xff\xff", first, count)
                     for kind, first, count in entries)
    put(path, at + 446, table.ljust(64, b"\0") + b"\x55\xaa")


def local(path, name, data):
    """Writes a file of the host beside an image; returns its path."""
    with open(path + "." + name, "wb") as file:
        file.write(data)
    return path + "." + name


def into_vfat(path, name, data, at=0):
    run("mcopy", "-i", "%s@@%d" % (path, at), local(path, "file", data), "::" + name)


def fits(path, name):
    """Adds a small file; returns whether the root folder had room for its name."""
    return subprocess.run(["mcopy", "-i", path, local(path, "file", b"x"), "::" + name], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env=dict(os.environ, MTOOLS_SKIP_CHECK="1")).returncode == 0


def vfat(path, megabytes=64):
    make_stick(path, "vfat", partitioned=False, megabytes=megabytes)
    into_vfat(path, "letter.txt", LETTER)


def ext4(path, fill=lambda tree: None, label="STICK"):
    """Makes a file system on the whole stick; `fill` puts its content into a folder."""
    tree = path + ".tree"
    os.makedirs(tree + "/Private")
    with open(tree + "/Private/letter.txt", "wb") as file:
        file.write(LETTER)
    fill(tree)
    blank(path, 64)
    run("mke2fs", "-q", "-F", "-t", "ext4", "-L", label, "-d", tree, path)


def folders(tree, *more):
    os.makedirs(os.path.join(tree, "Fieldscribe", *more))
    return os.path.join(tree, "Fieldscribe", *more)


def debugfs(path, command):
    run("debugfs", "-w", "-R", command, path)


# Nothing to copy to.

@exhibit(NEVER)
def nothing(path):
    blank(path)


@exhibit(NEVER)
def random_bytes(path):
    with open(path, "wb") as file:
        file.write(noise(8 * MIB))


@exhibit(NEVER)
def no_partition(path):
    blank(path)
    partition_table(path)


@exhibit(NEVER)
def partition_of_no_length(path):
    blank(path)
    partition_table(path, (0x0C, 2048, 0))


@exhibit(NEVER)
def partition_beyond_the_end(path):
    blank(path)
    partition_table(path, (0x0C, 1 << 30, 1 << 20))


@exhibit(NEVER)
def table_within_a_partition(path):
    vfat(path, 16)
    inner = get(path, 0, 14 * MIB)
    blank(path, 16)
    partition_table(path, (0x0C, 2048, 14 * 2048))
    partition_table(path, (0x0C, 2048, 12 * 2048), at=MIB)
    put(path, 2 * MIB, inner)


@exhibit(NEVER)
def table_that_leads_to_itself(path):
    blank(path)
    partition_table(path, (0x05, 2048, 6 * 2048))
    partition_table(path, (0x83, 1024, 16), (0x05, 0, 2048), at=MIB)


@exhibit(NEVER)
def luks(path):
    blank(path)
    put(path, 0, b"LUKS\xba\xbe\0\1aes".ljust(592, b"\0"))


@exhibit(NEVER)
def swap(path):
    blank(path)
    run("mkswap", "--quiet", path)


@exhibit(NEVER)
def iso9660(path):
    blank(path)
    put(path, 16 * 2048, b"\1CD001\1\0" + b"LINUX".ljust(32) + b"STICK".ljust(32))
    put(path, 17 * 2048, b"\xffCD001\1")


@exhibit(NEVER)
def squashfs(path):
    blank(path)
    put(path, 0, struct.pack("<IIIIIHHHHHHQQ", 0x73717368, 1, 0, 131072, 0, 1, 17, 0, 1, 4, 0, 0, 4096))


@exhibit(NEVER)
def two_file_systems_in_one_place(path):
    ext4(path)
    vfat(path + ".other")
    put(path, 0, get(path + ".other", 0, 1024))


# Damaged.

@exhibit(NEVER)
def exfat_damaged(path):
    make_stick(path, "exfat", partitioned=False)
    put(path, 2 * 512, noise(512))


@exhibit(NEVER)
def ntfs_damaged(path):
    make_stick(path, "ntfs", partitioned=False)
    cluster, = struct.unpack("<Q", get(path, 48, 8))
    put(path, cluster * 4096, noise(16 << 10))


@exhibit(NEVER)
def ext4_without_root(path):
    ext4(path)
    debugfs(path, "clri <2>")


@exhibit(EITHER)
def ext4_that_asks_for_panic(path):
    ext4(path)
    run("tune2fs", "-e", "panic", path)
    debugfs(path, "set_block_group 0 free_blocks_count 60000")
    debugfs(path, "set_block_group 0 itable_unused 65000")


@exhibit(EITHER)
def vfat_with_damaged_table(path):
    vfat(path)
    reserved, = struct.unpack("<H", get(path, 14, 2))
    put(path, reserved * 512 + 8, noise(16 << 10))


@exhibit(EITHER)
def vfat_with_damaged_folder(path):
    vfat(path)
    run("mmd", "-i", path, "::Fieldscribe")
    reserved, _, roots, _, _, table = struct.unpack("<HBHHBH", get(path, 14, 10))
    root = (reserved + 2 * table) * 512
    data = root + roots * 32
    put(path, data, noise(32 << 10))


@exhibit(NEVER, VFAT)
def shorter_than_it_says(path):
    vfat(path)
    into_vfat(path, "filler.bin", noise(4 * MIB))
    os.truncate(path, 3 * MIB)


@exhibit(NEVER, VFAT, refuses_writes=True)
def refuses_every_write(path):
    vfat(path)


# Full.

@exhibit(NEVER, VFAT)
def no_room_for_a_name(path):
    blank(path, 16)
    run("mkfs.vfat", "-F", "16", "-r", "16", path)
    into_vfat(path, "letter.txt", LETTER)
    # More names fit than were requested: mkfs.vfat rounds up to a full sector or cluster.
    number = 0
    while fits(path, "%d.TXT" % number):
        number += 1


@exhibit(ALWAYS, VFAT)
def hundreds_of_files(path):
    vfat(path)
    folder = path + ".many/Fieldscribe"
    os.makedirs(folder + "/another-recorder")
    for number in range(400):
        open("%s/%d holiday photograph.jpg" % (folder, number), "w").close()
        os.makedirs("%s/another-recorder/%06d_clock-unverified" % (folder, number + 1))
    run("mcopy", "-s", "-i", path, folder, "::")


# Instead of our files.

@exhibit(NEVER, VFAT)
def file_for_our_folder(path):
    vfat(path)
    into_vfat(path, "Fieldscribe", b"my novel")


@exhibit(NEVER, VFAT)
def file_for_the_device(path):
    vfat(path)
    run("mmd", "-i", path, "::Fieldscribe")
    into_vfat(path, "Fieldscribe/appliance", b"my novel")


@exhibit(NEVER, VFAT)
def folder_for_the_result(path):
    vfat(path)
    run("mmd", "-i", path, "::Fieldscribe", "::Fieldscribe/RESULT.txt")
    into_vfat(path, "Fieldscribe/RESULT.txt/novel.txt", b"my novel")


@exhibit(NEVER, EXT4)
def link_to_the_machine(path):
    ext4(path, lambda tree: os.symlink("/etc", tree + "/Fieldscribe"))


@exhibit(NEVER, EXT4)
def link_to_a_folder(path):
    ext4(path, lambda tree: os.symlink("Private", tree + "/Fieldscribe"))


@exhibit(NEVER, EXT4)
def link_for_the_device(path):
    ext4(path, lambda tree: os.symlink("../Private", folders(tree) + "/appliance"))


@exhibit(NEVER, EXT4)
def link_for_the_device_to_the_archive(path):
    ext4(path, lambda tree: os.symlink("/var/lib/fieldscribe", folders(tree) + "/appliance"))


@exhibit(NEVER, EXT4)
def pipe_for_the_device(path):
    ext4(path, lambda tree: os.mkfifo(folders(tree) + "/appliance"))


@exhibit(NEVER, EXT4)
def folder_that_nobody_may_change(path):
    ext4(path, folders)
    debugfs(path, "set_inode_field /Fieldscribe flags 0x80010")


@exhibit(ALWAYS, EXT4)
def links_for_the_lists(path):
    def fill(tree):
        folder = folders(tree)
        os.symlink("/etc/passwd", folder + "/RESULT.txt")
        os.symlink("../Private/letter.txt", folder + "/index.html")
        os.symlink("../Private/letter.txt", folder + "/index.html.new")
    ext4(path, fill)


@exhibit(ALWAYS, EXT4)
def pipe_and_device_for_the_lists(path):
    def fill(tree):
        folder = folders(tree)
        os.mkfifo(folder + "/RESULT.txt")
        os.mkfifo(folder + "/RESULT.txt.new")
        os.mknod(folder + "/index.html", 0o60666, os.makedev(254, 0))
    ext4(path, fill)


@exhibit(ALWAYS, EXT4)
def hard_link_to_a_letter(path):
    ext4(path, lambda tree: os.link(tree + "/Private/letter.txt", folders(tree) + "/RESULT.txt"))


@exhibit(NEVER, EXT4)
def sums_of_a_pipe(path):
    def fill(tree):
        folder = folders(tree, "another-recorder", "000001_clock-unverified")
        os.mkfifo(folder + "/audio.flac")
        with open(folder + "/SHA256SUMS", "w") as file:
            file.write("%064d  audio.flac\n" % 0)
        # Newer than whatever is copied now.
        os.utime(folder + "/SHA256SUMS", (2147480000, 2147480000))
    ext4(path, fill)


# Names that a shell would interpret.

@exhibit(ALWAYS, VFAT)
def label_for_a_shell(path):
    blank(path, 64)
    run("mkfs.vfat", "-n", "`$(REBOOT)`", path)
    into_vfat(path, "letter.txt", LETTER)


@exhibit(ALWAYS, EXT4)
def names_for_a_shell(path):
    def fill(tree):
        folder = folders(tree)
        for name in ("-rf", "$(touch pwned)", "`touch pwned`", "; touch pwned", "a\nb", "\x1b[2J", "\xff"):
            os.makedirs(os.path.join(folder, name))
            with open(os.path.join(folder, name, "SHA256SUMS"), "w") as file:
                file.write("\n")
            os.utime(os.path.join(folder, name, "SHA256SUMS"), (0, 0))
    ext4(path, fill, label="$(touch /pwned)")


# Two file systems.

@exhibit(ALWAYS, [("vfat", MIB), ("ext4", 65 * MIB)])
def two_partitions(path):
    vfat(path + ".one")
    ext4(path + ".two")
    blank(path, 130)
    partition_table(path, (0x0C, 2048, 64 * 2048), (0x83, 65 * 2048, 64 * 2048))
    for at, part in ((MIB, path + ".one"), (65 * MIB, path + ".two")):
        put(path, at, get(part, 0, 64 * MIB))


def read_letter(path, kind, at):
    """The content of the letter on a volume."""
    if kind == "vfat":
        return subprocess.run(["mtype", "-i", "%s@@%d" % (path, at), "::letter.txt"], capture_output=True,
                              env=dict(os.environ, MTOOLS_SKIP_CHECK="1")).stdout
    # The first line is the version of debugfs.
    return run("debugfs", "-R", "cat /Private/letter.txt", volume(path, at)).split(b"\n", 1)[1]


def volume(path, at):
    """The path of a file with everything from that byte on."""
    if not at:
        return path
    part = "%s.from-%d" % (path, at)
    with open(path, "rb") as source, open(part, "wb") as target:
        source.seek(at)
        target.write(source.read())
    return part
