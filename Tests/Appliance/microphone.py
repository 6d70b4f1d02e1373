"""The microphone is unplugged and plugged in again, or is missing from the start."""

from appliance import ROOM
from bench import expect
from sound import RATE, equal_samples, first_sound, position_in, samples_of

DRIVER = "/sys/bus/platform/drivers/snd_aloop"


def unplug(machine):
    """Removes the sound card."""
    machine.shell("echo unplugged >%s; echo snd_aloop.0 >%s/unbind; pkill -x aplay; true" % (machine.marker(), DRIVER))


def plug_in(machine):
    machine.shell("echo plugged >%s; echo snd_aloop.0 >%s/bind" % (machine.marker(), DRIVER))


def microphone_unplugged(bench):
    """The microphone is unplugged during a recording and plugged in again: there is a fault and a gap of the right length, and the recording
    continues."""
    with bench.appliance("microphone-unplugged") as machine:
        machine.play_sound()
        machine.press()
        recording = machine.until_recorded(2)["recording"]
        unplug(machine)
        lamp = machine.wait_lamp(lambda it: it if it.fast_blinks(it.last("unplugged")) else None, 60, "a fault")
        delay = lamp.fast_blinks(lamp.last("unplugged"))[0] - lamp.last("unplugged")
        health = machine.status()["microphone"]["health"]
        expect(health != "alive", "the status reports an unplugged microphone as alive")
        plug_in(machine)
        machine.play_sound()
        status = machine.until_status(lambda it: it["microphone"]["health"] == "alive", 60, "the microphone is alive again")
        expect(status["state"] != "idle" and status["recording"] == recording, "the recording did not continue")
        machine.press()
        acknowledged = machine.note("acknowledged")
        machine.until_recorded(status["recordedSeconds"] + 4)
        expect(machine.is_steady(), "the lamp is not steady while recording")
        expect(not machine.lamp().fast_blinks(acknowledged + 0.5), "the lamp still shows the acknowledged fault")
        machine.press()
        machine.until_transcribed()

        lamp = machine.lamp()
        began, ended = lamp.first("press"), lamp.last("press")
        unplugged, plugged = (lamp.last(note) for note in ("unplugged", "plugged"))
        gaps = machine.transcript(recording)["gaps"]
        expect(len(gaps) == 1, "%d gaps instead of one: %s" % (len(gaps), gaps))
        start, end = gaps[0]["start"], gaps[0]["end"]
        expect(abs(start - (unplugged - began)) < 1.5, "the gap begins at %.1f s, but the microphone was unplugged after %.1f s" % (
            start, unplugged - began))
        delay_after_plugging = end - (plugged - began)
        expect(-0.5 < delay_after_plugging < 5, "the gap ends at %.1f s, but the microphone was plugged in after %.1f s" % (end, plugged - began))
        recorded = samples_of(machine.audio(recording))
        length = len(recorded) / 2 / RATE
        expect(abs(length - (ended - began)) < 1.5, "%.1f s were recorded between presses %.1f s apart" % (
            length, ended - began))
        first, last = round(start * RATE), round(end * RATE)
        expect(not any(recorded[first * 2:last * 2]), "the gap is not silent")
        position = position_in(ROOM, recorded)
        # All samples before the gap must be played sound.
        equal_before = equal_samples(ROOM, recorded, position, 0) if position is not None else 0
        expect(equal_before >= first, "sample %d, before the gap at sample %d, differs from the played sound" % (equal_before, first))
        # All samples from the first sound after the gap to the end must be played sound.
        resumed = last + first_sound(recorded[last * 2:])
        position = position_in(ROOM, recorded, resumed)
        expect(position is not None, "the sound after the gap was not played")
        equal_after = equal_samples(ROOM, recorded, position, resumed)
        expect(equal_after == len(recorded) // 2 - resumed >= RATE, "of the sound after the gap, %.1f s of %.1f s are as played" % (
            equal_after / RATE, length - resumed / RATE))
        machine.shell("fieldscribe verify")
        return "fault shown after %.1f s, gap of %.1f s (unplugged for %.1f s, recording again %.1f s after that), %.1f s recorded in " \
            "%.1f s, sample-exact before the gap and after it" % (
                delay, end - start, plugged - unplugged, delay_after_plugging, length, ended - began)


def microphone_absent(bench):
    """No microphone at power-on: the service is ready, and the lamp shows the fault, also after a press. Once there is a microphone, it records."""
    with bench.appliance("microphone-absent") as machine:
        machine.shell("echo install snd-aloop /bin/true >/etc/modprobe.d/absent.conf; sync")
        machine.power_cut()
        machine.boot()
        ready = machine.until_ready()
        expect("Loopback" not in machine.shell("cat /proc/asound/cards; true"), "the machine has a microphone")
        machine.wait_lamp(lambda lamp: lamp.fast_blinks(), 60, "fast blinks: a fault")
        fault = machine.status()["lastFault"]["code"]
        pressed = machine.note("pressed")
        machine.press()
        lamp = machine.wait_lamp(lambda it: it if it.fast_blinks(pressed + 1) else None, 90, "a second fault")
        delay = lamp.fast_blinks(pressed + 1)[0] - pressed
        machine.shell("rm /etc/modprobe.d/absent.conf; modprobe snd-aloop pcm_substreams=1")
        machine.record(2)
        return "ready %.0f s after power-on with fault %s, shown again %.1f s after a press; then it recorded" % (ready, fault, delay)
