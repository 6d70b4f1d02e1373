"""Makes damaged, misleading and malicious sticks, which the module `hostile` plugs in."""

import os
import random
import struct
import subprocess

from stick import MIB, make_stick, run

# The content of a foreign file on the sticks, which must not change.
LETTER = b"This is somebody's own, and nobody's business.\n"

# The permitted outcomes: the stick is never reported as safe to unplug, always copied to, or either.
NEVER, ALWAYS, EITHER = "never", "always", "either"


class BadStick:
    """A function that makes a stick, the permitted outcome, the offsets of its file systems, and the options for plugging it in."""

    def __init__(self, make, verdict, volumes, options):
        self.name = make.__name__.replace("_", "-")
        self.make, self.verdict, self.volumes, self.options = make, verdict, volumes, options


BAD_STICKS = []


def bad_stick(verdict, volumes=(), **options):
    """Adds a stick to BAD_STICKS. `volumes` has (kind, first byte) for each file system that contains the file with LETTER."""
    def add(make):
        BAD_STICKS.append(BadStick(make, verdict, volumes, options))
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
    """Writes a DOS partition table with the given (type, first sector, number of sectors)."""
    table = b"".join(struct.pack("<B3sB3sII", 0, b"\0\2\0", kind, b"\xff\xff\xff", first, count)
                     for kind, first, count in entries)
    put(path, at + 446, table.ljust(64, b"\0") + b"\x55\xaa")


def write_local(path, name, data):
    """Writes a file on the host next to an image and returns its path."""
    with open(path + "." + name, "wb") as file:
        file.write(data)
    return path + "." + name


def into_vfat(path, name, data, at=0):
    run("mcopy", "-i", "%s@@%d" % (path, at), write_local(path, "file", data), "::" + name)


def has_space_for(path, name):
    """Adds a small file and returns whether the root folder had space for its name."""
    return subprocess.run(["mcopy", "-i", path, write_local(path, "file", b"x"), "::" + name], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env=dict(os.environ, MTOOLS_SKIP_CHECK="1")).returncode == 0


def vfat(path, megabytes=64):
    make_stick(path, "vfat", partitioned=False, megabytes=megabytes)
    into_vfat(path, "letter.txt", LETTER)


def ext4(path, fill=lambda tree: None, label="STICK"):
    """Makes a file system on the whole stick. `fill` adds files to the folder with its content."""
    tree = path + ".tree"
    os.makedirs(tree + "/Private")
    with open(tree + "/Private/letter.txt", "wb") as file:
        file.write(LETTER)
    fill(tree)
    blank(path, 64)
    run("mke2fs", "-q", "-F", "-t", "ext4", "-L", label, "-d", tree, path)


def make_folders(tree, *more):
    os.makedirs(os.path.join(tree, "Fieldscribe", *more))
    return os.path.join(tree, "Fieldscribe", *more)


def debugfs(path, command):
    run("debugfs", "-w", "-R", command, path)


# Sticks without a usable file system

@bad_stick(NEVER)
def zeros(path):
    blank(path)


@bad_stick(NEVER)
def random_bytes(path):
    with open(path, "wb") as file:
        file.write(noise(8 * MIB))


@bad_stick(NEVER)
def empty_partition_table(path):
    blank(path)
    partition_table(path)


@bad_stick(NEVER)
def partition_without_sectors(path):
    blank(path)
    partition_table(path, (0x0C, 2048, 0))


@bad_stick(NEVER)
def partition_beyond_the_end(path):
    blank(path)
    partition_table(path, (0x0C, 1 << 30, 1 << 20))


@bad_stick(NEVER)
def table_within_a_partition(path):
    vfat(path, 16)
    inner = get(path, 0, 14 * MIB)
    blank(path, 16)
    partition_table(path, (0x0C, 2048, 14 * 2048))
    partition_table(path, (0x0C, 2048, 12 * 2048), at=MIB)
    put(path, 2 * MIB, inner)


@bad_stick(NEVER)
def table_that_refers_to_itself(path):
    blank(path)
    partition_table(path, (0x05, 2048, 6 * 2048))
    partition_table(path, (0x83, 1024, 16), (0x05, 0, 2048), at=MIB)


@bad_stick(NEVER)
def luks(path):
    blank(path)
    put(path, 0, b"LUKS\xba\xbe\0\1aes".ljust(592, b"\0"))


@bad_stick(NEVER)
def swap(path):
    blank(path)
    run("mkswap", "--quiet", path)


@bad_stick(NEVER)
def iso9660(path):
    blank(path)
    put(path, 16 * 2048, b"\1CD001\1\0" + b"LINUX".ljust(32) + b"STICK".ljust(32))
    put(path, 17 * 2048, b"\xffCD001\1")


@bad_stick(NEVER)
def squashfs(path):
    blank(path)
    put(path, 0, struct.pack("<IIIIIHHHHHHQQ", 0x73717368, 1, 0, 131072, 0, 1, 17, 0, 1, 4, 0, 0, 4096))


@bad_stick(NEVER)
def two_overlapping_file_systems(path):
    ext4(path)
    vfat(path + ".other")
    put(path, 0, get(path + ".other", 0, 1024))


# Damaged sticks

@bad_stick(NEVER)
def exfat_damaged(path):
    make_stick(path, "exfat", partitioned=False)
    put(path, 2 * 512, noise(512))


@bad_stick(NEVER)
def ntfs_damaged(path):
    make_stick(path, "ntfs", partitioned=False)
    cluster, = struct.unpack("<Q", get(path, 48, 8))
    put(path, cluster * 4096, noise(16 << 10))


@bad_stick(NEVER)
def ext4_without_root(path):
    ext4(path)
    debugfs(path, "clri <2>")


@bad_stick(EITHER)
def ext4_that_requests_a_panic(path):
    ext4(path)
    run("tune2fs", "-e", "panic", path)
    debugfs(path, "set_block_group 0 free_blocks_count 60000")
    debugfs(path, "set_block_group 0 itable_unused 65000")


@bad_stick(EITHER)
def vfat_with_damaged_table(path):
    vfat(path)
    reserved, = struct.unpack("<H", get(path, 14, 2))
    put(path, reserved * 512 + 8, noise(16 << 10))


@bad_stick(EITHER)
def vfat_with_damaged_folder(path):
    vfat(path)
    run("mmd", "-i", path, "::Fieldscribe")
    reserved, _, roots, _, _, table = struct.unpack("<HBHHBH", get(path, 14, 10))
    root = (reserved + 2 * table) * 512
    data = root + roots * 32
    put(path, data, noise(32 << 10))


@bad_stick(NEVER, VFAT)
def shorter_than_its_file_system(path):
    vfat(path)
    into_vfat(path, "filler.bin", noise(4 * MIB))
    os.truncate(path, 3 * MIB)


@bad_stick(NEVER, VFAT, refuses_writes=True)
def refuses_every_write(path):
    vfat(path)


# Full sticks

@bad_stick(NEVER, VFAT)
def full_root_folder(path):
    blank(path, 16)
    run("mkfs.vfat", "-F", "16", "-r", "16", path)
    into_vfat(path, "letter.txt", LETTER)
    # There may be more space than requested, because mkfs.vfat rounds up to a full sector or cluster.
    number = 0
    while has_space_for(path, "%d.TXT" % number):
        number += 1


@bad_stick(ALWAYS, VFAT)
def hundreds_of_files(path):
    vfat(path)
    folder = path + ".many/Fieldscribe"
    os.makedirs(folder + "/another-recorder")
    for number in range(400):
        open("%s/%d holiday photograph.jpg" % (folder, number), "w").close()
        os.makedirs("%s/another-recorder/%06d_clock-unverified" % (folder, number + 1))
    run("mcopy", "-s", "-i", path, folder, "::")


# Foreign entries in place of our files

@bad_stick(NEVER, VFAT)
def file_instead_of_our_folder(path):
    vfat(path)
    into_vfat(path, "Fieldscribe", b"my novel")


@bad_stick(NEVER, VFAT)
def file_instead_of_the_device_folder(path):
    vfat(path)
    run("mmd", "-i", path, "::Fieldscribe")
    into_vfat(path, "Fieldscribe/appliance", b"my novel")


@bad_stick(NEVER, VFAT)
def folder_instead_of_the_result(path):
    vfat(path)
    run("mmd", "-i", path, "::Fieldscribe", "::Fieldscribe/RESULT.txt")
    into_vfat(path, "Fieldscribe/RESULT.txt/novel.txt", b"my novel")


@bad_stick(NEVER, EXT4)
def link_to_a_system_folder(path):
    ext4(path, lambda tree: os.symlink("/etc", tree + "/Fieldscribe"))


@bad_stick(NEVER, EXT4)
def link_to_a_folder_on_the_stick(path):
    ext4(path, lambda tree: os.symlink("Private", tree + "/Fieldscribe"))


@bad_stick(NEVER, EXT4)
def link_instead_of_the_device_folder(path):
    ext4(path, lambda tree: os.symlink("../Private", make_folders(tree) + "/appliance"))


@bad_stick(NEVER, EXT4)
def link_to_the_archive(path):
    ext4(path, lambda tree: os.symlink("/var/lib/fieldscribe", make_folders(tree) + "/appliance"))


@bad_stick(NEVER, EXT4)
def pipe_instead_of_the_device_folder(path):
    ext4(path, lambda tree: os.mkfifo(make_folders(tree) + "/appliance"))


@bad_stick(NEVER, EXT4)
def immutable_folder(path):
    ext4(path, make_folders)
    debugfs(path, "set_inode_field /Fieldscribe flags 0x80010")


@bad_stick(ALWAYS, EXT4)
def links_instead_of_the_lists(path):
    def fill(tree):
        folder = make_folders(tree)
        os.symlink("/etc/passwd", folder + "/RESULT.txt")
        os.symlink("../Private/letter.txt", folder + "/index.html")
        os.symlink("../Private/letter.txt", folder + "/index.html.new")
    ext4(path, fill)


@bad_stick(ALWAYS, EXT4)
def pipes_and_a_device_instead_of_the_lists(path):
    def fill(tree):
        folder = make_folders(tree)
        os.mkfifo(folder + "/RESULT.txt")
        os.mkfifo(folder + "/RESULT.txt.new")
        os.mknod(folder + "/index.html", 0o60666, os.makedev(254, 0))
    ext4(path, fill)


@bad_stick(ALWAYS, EXT4)
def hard_link_to_a_letter(path):
    ext4(path, lambda tree: os.link(tree + "/Private/letter.txt", make_folders(tree) + "/RESULT.txt"))


@bad_stick(NEVER, EXT4)
def checksums_of_a_pipe(path):
    def fill(tree):
        folder = make_folders(tree, "another-recorder", "000001_clock-unverified")
        os.mkfifo(folder + "/audio.flac")
        with open(folder + "/SHA256SUMS", "w") as file:
            file.write("%064d  audio.flac\n" % 0)
        # Makes the checksums newer than anything that is copied now.
        os.utime(folder + "/SHA256SUMS", (2147480000, 2147480000))
    ext4(path, fill)


# Names that a shell would interpret

@bad_stick(ALWAYS, VFAT)
def label_with_shell_syntax(path):
    blank(path, 64)
    run("mkfs.vfat", "-n", "`$(REBOOT)`", path)
    into_vfat(path, "letter.txt", LETTER)


@bad_stick(ALWAYS, EXT4)
def names_with_shell_syntax(path):
    def fill(tree):
        folder = make_folders(tree)
        for name in ("-rf", "$(touch pwned)", "`touch pwned`", "; touch pwned", "a\nb", "\x1b[2J", "\xff"):
            os.makedirs(os.path.join(folder, name))
            with open(os.path.join(folder, name, "SHA256SUMS"), "w") as file:
                file.write("\n")
            os.utime(os.path.join(folder, name, "SHA256SUMS"), (0, 0))
    ext4(path, fill, label="$(touch /pwned)")


# Two file systems

@bad_stick(ALWAYS, [("vfat", MIB), ("ext4", 65 * MIB)])
def two_partitions(path):
    vfat(path + ".one")
    ext4(path + ".two")
    blank(path, 130)
    partition_table(path, (0x0C, 2048, 64 * 2048), (0x83, 65 * 2048, 64 * 2048))
    for offset, image in ((MIB, path + ".one"), (65 * MIB, path + ".two")):
        put(path, offset, get(image, 0, 64 * MIB))


def read_letter(path, kind, at):
    """Returns the content of the foreign file on a volume."""
    if kind == "vfat":
        return subprocess.run(["mtype", "-i", "%s@@%d" % (path, at), "::letter.txt"], capture_output=True,
                              env=dict(os.environ, MTOOLS_SKIP_CHECK="1")).stdout
    # The first line of the output is the version of debugfs.
    return run("debugfs", "-R", "cat /Private/letter.txt", volume(path, at)).split(b"\n", 1)[1]


def volume(path, at):
    """Returns the path of a file with the stick's content from byte `at` on."""
    if not at:
        return path
    target_path = "%s.from-%d" % (path, at)
    with open(path, "rb") as source, open(target_path, "wb") as target:
        source.seek(at)
        target.write(source.read())
    return target_path
