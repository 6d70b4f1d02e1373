"""The recorder as a drive: the laptop is the same machine, at the other end of the kernel's simulated USB port (dummy_hcd)."""

import io
import os
import tarfile

from appliance import STORAGE
from bench import expect, same_as_heard
from machine import GuestError
from stick import check_folders, text

# A cable, a laptop at its end, and the setting.
SET_UP = """modprobe dummy_hcd
printf '\\n[usb]\\ndrive = yes\\n' >>/etc/fieldscribe/fieldscribe.conf
systemctl restart fieldscribe
mkdir -p /laptop"""
CONFIGURE = """printf '\\n[%s]\\n%s\\n' >>/etc/fieldscribe/fieldscribe.conf; systemctl restart fieldscribe"""
# The disk that the laptop sees.
SEEN = "disk=$(ls -d /sys/block/sd?) && disk=/dev/${disk##*/} && [ \"$(blockdev --getsize64 $disk)\" -gt 0 ] && "
MOUNT = SEEN + "mount -t vfat -o ro $disk /laptop"
EJECT = SEEN + "umount /laptop && eject $disk"
# The laptop's port with the cable.
PORT = "port=$(readlink -f /sys/devices/platform/dummy_hcd.0/usb*/*/usb*-port1 | head -n 1) && "
PULL = PORT + "echo 1 >$port/disable"
PLUG = PORT + "echo 0 >$port/disable"
SUMS = """cd /laptop/Fieldscribe && test -s index.html && find . -name SHA256SUMS -execdir sha256sum --check --quiet --strict SHA256SUMS \\; -printf x | wc -c"""
# Each 100 ms, every 3 s.
LAPTOP = [(0.05, 0.25), (2.6, 3.2)]


def plugged(machine, recordings, timeout=180):
    """Waits until the laptop mounts the drive with this many recordings and valid checksums."""
    def attempt():
        machine.shell("umount /laptop 2>/dev/null; true")
        try:
            machine.shell(MOUNT)
            return machine.shell(SUMS).split() == [str(recordings)]
        except GuestError:
            return False
    machine.wait(attempt, timeout, "the laptop sees %d recordings on the drive" % recordings)


def take(machine, name):
    """Copies the drive to this machine, as a person would; returns the path of the folder Fieldscribe."""
    machine.shell("tar -C /laptop -cf /root/taken.tar Fieldscribe")
    data = machine.read("/root/taken.tar")
    machine.shell("rm /root/taken.tar")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        archive.extractall(machine.path(name), filter="data")
    return os.path.join(machine.path(name), "Fieldscribe")


def lines_with(machine, words):
    """How many lines of the image have one of these words. Most of it are zeros, which would be one line, too long for the memory."""
    return int(machine.shell("tr -d '\\000' <%s/drive/image | grep -ac '%s' || true" % (STORAGE, words)))


def refuses_writing(machine):
    """A laptop cannot change anything."""
    before = machine.shell("sha256sum <%s/drive/image" % STORAGE)
    for attempt in ("touch /laptop/new", "mount -o remount,rw /laptop", "rm /laptop/Fieldscribe/index.html",
                    SEEN + "dd if=/dev/zero of=$disk bs=4096 count=1 oflag=direct",
                    SEEN + "blockdev --setrw $disk && dd if=/dev/zero of=$disk bs=4096 count=1 oflag=direct",
                    SEEN + "mkfs.vfat -I $disk"):
        try:
            machine.shell(attempt)
        except GuestError:
            continue
        expect(False, "the drive let a laptop do this: " + attempt)
    expect(machine.shell("sha256sum <%s/drive/image" % STORAGE) == before, "the image is another one")


def recorded_while_read(machine, seconds):
    """Records while the laptop reads continuously; sample-exact. Returns the seconds."""
    # wait: paces a reader in the background
    machine.shell(SEEN + "(while :; do dd if=$disk of=/dev/null bs=64k iflag=direct count=2000 || sleep 1; done) "
                  "</dev/null >/dev/null 2>&1 & echo $! >/run/test/reader")
    machine.room_sounds()
    machine.press()
    number = machine.until_recorded(seconds)["recording"]
    expect(machine.is_steady(), "the lamp is not steady while recording")
    machine.press()
    machine.until_written()
    machine.shell("kill $(cat /run/test/reader)")
    expect(machine.transcript(number)["gaps"] == [], "a gap")
    return same_as_heard(machine.audio(number), "the recording beside a laptop")


def drive(bench):
    """Appears, is mounted, is whole, refuses writing, shines; stays as it is while a laptop has it; ejected, it comes with what is
    new; what is erased goes; sealed, nothing is left unencrypted; switched off, it is gone."""
    with bench.appliance("drive") as machine:
        machine.room_sounds()
        machine.press()
        machine.until_recorded(6)
        machine.shell("fieldscribe mark Zanzibar")
        machine.until_recorded(9)
        machine.press()
        machine.until_written()
        machine.shell(SET_UP)
        plugged(machine, 1)
        root = take(machine, "first")
        folders = check_folders(root)
        expect(len(folders) == 1 and "forward" in text(os.path.join(root, list(folders)[0], "transcript.txt")), folders)
        refuses_writing(machine)
        began = machine.note("shining")
        machine.wait_lamp(lambda lamp: lamp._matching(began, LAPTOP), 30, "a short blink every 3 s: a laptop")

        sound = recorded_while_read(machine, 6)
        # It belongs to the laptop until ejected.
        # wait: nothing may happen; a slow machine can only hide what does
        machine.shell("sleep 50; cat /laptop/Fieldscribe/RESULT.txt")
        expect(machine.shell(SUMS).split() == ["1"], "what the laptop has mounted is another drive")
        machine.shell(EJECT)
        plugged(machine, 2)
        second = check_folders(take(machine, "second"))
        expect(all(second.get(folder) == files for folder, files in folders.items()), "the first recording was written again")

        image = STORAGE + "/drive/image"
        expect(lines_with(machine, "Zanzibar") > 0, "the mark is not in the image")
        machine.shell("fieldscribe delete --yes 1")
        plugged(machine, 1)
        expect(list(check_folders(take(machine, "erased"))) == sorted(set(second) - set(folders)), "the erased one is there")
        left = lines_with(machine, "Zanzibar")
        expect(left == 0, "%d lines of the image still have what was erased" % left)

        machine.shell("age-keygen -o /root/key 2>/dev/null")
        key = machine.shell("age-keygen -y /root/key").strip()
        machine.shell("umount /laptop")
        machine.shell(CONFIGURE % ("export", "recipients = " + key))
        machine.wait(lambda: sealed(machine), 180, "the drive with a sealed recording")
        clear = lines_with(machine, "ten meters\\|fLaC")
        expect(clear == 0, "%d lines of the image are unencrypted" % clear)
        machine.shell("cd /root && age -d -i key /laptop/Fieldscribe/sealed-*/000002.fieldscribe.age | tar x && "
                      "cd 000002* && sha256sum --check --quiet SHA256SUMS")

        machine.shell("umount /laptop; sed -i 's/^drive = yes/drive = no/' /etc/fieldscribe/fieldscribe.conf; "
                      "systemctl restart fieldscribe")
        machine.until("! [ -e %s ] && ! [ -d /sys/kernel/config/usb_gadget/fieldscribe ] && ! systemctl -q is-active fieldscribe-drive" % image, 90)
        expect(not machine.lamp().fast_blinks(), "the lamp showed a fault")
        return "whole; nothing written; %.1f s sample-exact beside it; new, erased, sealed and off as told" % sound


def sealed(machine):
    """Whether the laptop mounts the drive and sees a sealed recording."""
    try:
        machine.shell(MOUNT)
        machine.shell("cd /laptop/Fieldscribe/sealed-* && sha256sum --check --quiet SHA256SUMS")
        return True
    except GuestError:
        machine.shell("umount /laptop 2>/dev/null; true")
        return False


def drive_interrupted(bench):
    """Pulled while it is read; the plug of the recorder is pulled while it is filled; its unit is killed: whole each time."""
    with bench.appliance("drive-interrupted") as machine:
        machine.record(8)
        machine.shell(SET_UP)
        plugged(machine, 1)
        machine.shell("umount /laptop; " + SEEN + "(dd if=$disk of=/dev/null bs=64k iflag=direct; echo $? >/run/test/read) "
                      "</dev/null >/dev/null 2>&1 &\nsleep 1; " + PULL)  # wait: pulls in the middle of the reading, which takes longer
        machine.until("[ -s /run/test/read ] && ! ls -d /sys/block/sd?", 60)
        expect(machine.shell("cat /run/test/read").strip() != "0", "it was read to its end before it was pulled")
        machine.record(2)
        machine.shell(PLUG)
        machine.until(MOUNT, 60)
        expect(int(machine.shell(SUMS)) in (1, 2), "the sums of what is there after it was pulled")
        machine.shell(EJECT)
        plugged(machine, 2)

        machine.shell("umount /laptop; systemctl kill --signal=KILL fieldscribe-drive")
        machine.until("! ls -d /sys/block/sd?", 60)
        plugged(machine, 2)

        # The power fails while a third one is copied.
        machine.record(3)
        machine.shell("cat >/run/test/hold <<'END'\nuntil find /run/fieldscribe-drive/mount -path '*/partial*' -name 'audio.*' | grep -q .; "
                      # wait: polls for the moment
                      "do sleep 0.01; done\nsystemctl kill --signal=STOP fieldscribe-drive-copy\nEND\n"
                      "systemd-run --quiet --unit=hold sh /run/test/hold; " + EJECT)
        machine.until("! systemctl is-active --quiet hold", 150)
        # What is on its way to the card is there, and the rest is not.
        machine.shell("sync")
        machine.power_cut()
        machine.boot()
        machine.until_ready()
        machine.shell("modprobe dummy_hcd; mkdir -p /laptop; systemctl start fieldscribe-drive")
        plugged(machine, 3)
        found = check_folders(take(machine, "third"))
        expect(len(found) == 3, "%d recordings on it" % len(found))
        machine.shell("fieldscribe verify")
        return "pulled while it was read, killed, and cut off while it was filled: whole each time, 3 recordings"
