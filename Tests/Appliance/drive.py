"""The recorder as a USB drive. The laptop is the same machine, at the other end of the kernel's simulated USB port (dummy_hcd)."""

import io
import os
import tarfile

from appliance import STORAGE
from bench import expect, check_played
from machine import GuestError
from stick import check_folders, text

# Simulates the port and turns the drive on.
SET_UP = """modprobe dummy_hcd
printf '\\n[usb]\\ndrive = yes\\n' >>/etc/fieldscribe/fieldscribe.conf
systemctl restart fieldscribe
mkdir -p /laptop"""
CONFIGURE = """printf '\\n[%s]\\n%s\\n' >>/etc/fieldscribe/fieldscribe.conf; systemctl restart fieldscribe"""
# Sets `disk` to the disk that the laptop sees.
FIND_DISK = "disk=$(ls -d /sys/block/sd?) && disk=/dev/${disk##*/} && [ \"$(blockdev --getsize64 $disk)\" -gt 0 ] && "
MOUNT = FIND_DISK + "mount -t vfat -o ro $disk /laptop"
EJECT = FIND_DISK + "umount /laptop && eject $disk"
# The laptop's port; disabling it pulls the cable.
PORT = "port=$(readlink -f /sys/devices/platform/dummy_hcd.0/usb*/*/usb*-port1 | head -n 1) && "
PULL = PORT + "echo 1 >$port/disable"
PLUG = PORT + "echo 0 >$port/disable"
SUMS = """cd /laptop/Fieldscribe && test -s index.html && find . -name SHA256SUMS -execdir sha256sum --check --quiet --strict SHA256SUMS \\; -printf x | wc -c"""
# A blink of 100 ms every 3 s.
LAPTOP_BLINK = [(0.05, 0.25), (2.6, 3.2)]


def wait_for_drive(machine, recordings, timeout=180):
    """Waits until the laptop mounts the drive and finds the given number of recordings with valid checksums."""
    def attempt():
        machine.shell("umount /laptop 2>/dev/null; true")
        try:
            machine.shell(MOUNT)
            return machine.shell(SUMS).split() == [str(recordings)]
        except GuestError:
            return False
    machine.wait(attempt, timeout, "the laptop sees %d recordings on the drive" % recordings)


def copy_drive(machine, name):
    """Copies the drive's files to the host as a person would, and returns the path of the folder Fieldscribe."""
    machine.shell("tar -C /laptop -cf /root/drive.tar Fieldscribe")
    data = machine.read("/root/drive.tar")
    machine.shell("rm /root/drive.tar")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        archive.extractall(machine.path(name), filter="data")
    return os.path.join(machine.path(name), "Fieldscribe")


def count_lines(machine, pattern):
    """Returns how many lines of the drive's image match. Removes zero bytes first, because they would make lines too long for memory."""
    return int(machine.shell("tr -d '\\000' <%s/drive/image | grep -ac '%s' || true" % (STORAGE, pattern)))


def check_read_only(machine):
    """Checks that the laptop cannot change the drive."""
    before = machine.shell("sha256sum <%s/drive/image" % STORAGE)
    for attempt in ("touch /laptop/new", "mount -o remount,rw /laptop", "rm /laptop/Fieldscribe/index.html",
                    FIND_DISK + "dd if=/dev/zero of=$disk bs=4096 count=1 oflag=direct",
                    FIND_DISK + "blockdev --setrw $disk && dd if=/dev/zero of=$disk bs=4096 count=1 oflag=direct",
                    FIND_DISK + "mkfs.vfat -I $disk"):
        try:
            machine.shell(attempt)
        except GuestError:
            continue
        expect(False, "the laptop was able to run: " + attempt)
    expect(machine.shell("sha256sum <%s/drive/image" % STORAGE) == before, "the image was changed")


def record_during_read(machine, seconds):
    """Records while the laptop reads continuously, checks every sample, and returns the recorded seconds."""
    # wait: the reader's delay before it tries again
    machine.shell(FIND_DISK + "(while :; do dd if=$disk of=/dev/null bs=64k iflag=direct count=2000 || sleep 1; done) "
                  "</dev/null >/dev/null 2>&1 & echo $! >/run/test/reader")
    machine.play_sound()
    machine.press()
    recording = machine.until_recorded(seconds)["recording"]
    expect(machine.is_steady(), "the lamp is not steady while recording")
    machine.press()
    machine.until_transcribed()
    machine.shell("kill $(cat /run/test/reader)")
    expect(machine.transcript(recording)["gaps"] == [], "the recording has a gap")
    return check_played(machine.audio(recording), "the recording made while the laptop reads")


def drive(bench):
    """The laptop can mount the drive but not write to it, and the lamp blinks. The drive does not change until the laptop ejects it; then it
    returns with the new recordings. No trace of a deleted recording stays. With recipients, nothing is readable. When it is turned off, the
    drive disappears."""
    with bench.appliance("drive") as machine:
        machine.play_sound()
        machine.press()
        machine.until_recorded(6)
        machine.shell("fieldscribe mark Zanzibar")
        machine.until_recorded(9)
        machine.press()
        machine.until_transcribed()
        machine.shell(SET_UP)
        wait_for_drive(machine, 1)
        root = copy_drive(machine, "first")
        folders = check_folders(root)
        expect(len(folders) == 1 and "forward" in text(os.path.join(root, list(folders)[0], "transcript.txt")), folders)
        check_read_only(machine)
        began = machine.note("laptop")
        machine.wait_lamp(lambda lamp: lamp.matching(began, LAPTOP_BLINK), 30, "a short blink every 3 s: a laptop")

        sound = record_during_read(machine, 6)
        # wait: the drive must not change in that time; a slow machine can only hide a change
        machine.shell("sleep 50; cat /laptop/Fieldscribe/RESULT.txt")
        expect(machine.shell(SUMS).split() == ["1"], "the drive changed while the laptop had it mounted")
        machine.shell(EJECT)
        wait_for_drive(machine, 2)
        second = check_folders(copy_drive(machine, "second"))
        expect(all(second.get(folder) == files for folder, files in folders.items()), "the first recording was written again")

        image = STORAGE + "/drive/image"
        expect(count_lines(machine, "Zanzibar") > 0, "the bookmark is not in the image")
        machine.shell("fieldscribe delete --yes 1")
        wait_for_drive(machine, 1)
        expect(list(check_folders(copy_drive(machine, "erased"))) == sorted(set(second) - set(folders)), "the deleted recording is still there")
        remaining = count_lines(machine, "Zanzibar")
        expect(remaining == 0, "%d lines of the image still contain the deleted recording's bookmark" % remaining)

        machine.shell("age-keygen -o /root/key 2>/dev/null")
        key = machine.shell("age-keygen -y /root/key").strip()
        machine.shell("umount /laptop")
        machine.shell(CONFIGURE % ("export", "recipients = " + key))
        machine.wait(lambda: sees_sealed(machine), 180, "the drive with a sealed recording")
        readable = count_lines(machine, "ten meters\\|fLaC")
        expect(readable == 0, "%d lines of the image can be read" % readable)
        machine.shell("cd /root && age -d -i key /laptop/Fieldscribe/sealed-*/000002.fieldscribe.age | tar x && "
                      "cd 000002* && sha256sum --check --quiet SHA256SUMS")

        machine.shell("umount /laptop; sed -i 's/^drive = yes/drive = no/' /etc/fieldscribe/fieldscribe.conf; "
                      "systemctl restart fieldscribe")
        machine.until("! [ -e %s ] && ! [ -d /sys/kernel/config/usb_gadget/fieldscribe ] && ! systemctl -q is-active fieldscribe-drive" % image, 90)
        expect(not machine.lamp().fast_blinks(), "the lamp showed a fault")
        return "intact and read-only; %.1f s recorded meanwhile, sample-exact; correct after new, deleted and sealed recordings, and when off" % sound


def sees_sealed(machine):
    """Returns whether the laptop can mount the drive and finds a sealed recording."""
    try:
        machine.shell(MOUNT)
        machine.shell("cd /laptop/Fieldscribe/sealed-* && sha256sum --check --quiet SHA256SUMS")
        return True
    except GuestError:
        machine.shell("umount /laptop 2>/dev/null; true")
        return False


def drive_interrupted(bench):
    """The cable is pulled while the laptop reads, the unit is killed, and the power fails during a copy: the drive returns intact each time."""
    with bench.appliance("drive-interrupted") as machine:
        machine.record(8)
        machine.shell(SET_UP)
        wait_for_drive(machine, 1)
        machine.shell("umount /laptop; " + FIND_DISK + "(dd if=$disk of=/dev/null bs=64k iflag=direct; echo $? >/run/test/read) "
                      "</dev/null >/dev/null 2>&1 &\nsleep 1; " + PULL)  # wait: pulls during the read, which takes longer
        machine.until("[ -s /run/test/read ] && ! ls -d /sys/block/sd?", 60)
        expect(machine.shell("cat /run/test/read").strip() != "0", "the laptop had read the whole drive before the cable was pulled")
        machine.record(2)
        machine.shell(PLUG)
        machine.until(MOUNT, 60)
        expect(int(machine.shell(SUMS)) in (1, 2), "not 1 or 2 intact recordings on the drive after the cable was pulled")
        machine.shell(EJECT)
        wait_for_drive(machine, 2)

        machine.shell("umount /laptop; systemctl kill --signal=KILL fieldscribe-drive")
        machine.until("! ls -d /sys/block/sd?", 60)
        wait_for_drive(machine, 2)

        # The power fails while the third recording is copied.
        machine.record(3)
        machine.shell("cat >/run/test/hold <<'END'\nuntil find /run/fieldscribe-drive/mount -path '*/partial*' -name 'audio.*' | grep -q .; "
                      # wait: polls for the beginning of the copy
                      "do sleep 0.01; done\nsystemctl kill --signal=STOP fieldscribe-drive-copy\nEND\n"
                      "systemd-run --quiet --unit=hold sh /run/test/hold; " + EJECT)
        machine.until("! systemctl is-active --quiet hold", 150)
        # Everything written so far reaches the disk; the rest of the copy is missing.
        machine.shell("sync")
        machine.power_cut()
        machine.boot()
        machine.until_ready()
        machine.shell("modprobe dummy_hcd; mkdir -p /laptop; systemctl start fieldscribe-drive")
        wait_for_drive(machine, 3)
        found = check_folders(copy_drive(machine, "third"))
        expect(len(found) == 3, "%d recordings on the drive instead of 3" % len(found))
        machine.shell("fieldscribe verify")
        return "cable pulled during a read, unit killed, power cut during a copy: intact each time, 3 recordings"
