"""The microphone is unplugged, plugged in again, or was never there."""

from appliance import ROOM
from bench import expect
from sound import RATE, equal_samples, place_in, samples_of

DRIVER = "/sys/bus/platform/drivers/snd_aloop"


def unplug(machine):
    """Takes the sound card away."""
    machine.shell("echo unplugged >%s; echo snd_aloop.0 >%s/unbind; pkill -x aplay; true" % (machine.marker(), DRIVER))


def plug_in(machine):
    machine.shell("echo plugged >%s; echo snd_aloop.0 >%s/bind" % (machine.marker(), DRIVER))


def microphone_unplugged(bench):
    """Unplugged in mid-recording and plugged in again: a gap as long as it lasted, a fault, and the recording goes on."""
    with bench.appliance("microphone-unplugged") as machine:
        machine.room_sounds()
        machine.press()
        number = machine.until_recorded(2)["recording"]
        unplug(machine)
        lamp = machine.wait_lamp(lambda it: it if it.fast_blinks(it.last("unplugged")) else None, 60, "a fault")
        told = lamp.fast_blinks(lamp.last("unplugged"))[0] - lamp.last("unplugged")
        health = machine.status()["microphone"]["health"]
        expect(health != "alive", "the status calls an unplugged microphone alive")
        plug_in(machine)
        machine.room_sounds()
        status = machine.until_status(lambda it: it["microphone"]["health"] == "alive", 60, "microphone alive again")
        expect(status["state"] != "idle" and status["recording"] == number, "the recording did not go on")
        machine.press()
        lamp = machine.wait_lamp(lambda it: it if it.changes[-1][1] and it.phases()[-1][1] < 1 else None, 30,
                                 "steady once the fault is acknowledged")
        machine.until_recorded(status["recordedSeconds"] + 2)
        expect(machine.is_lit(), "the lamp is off while recording")
        machine.press()
        machine.until_written()

        lamp = machine.lamp()
        began, ended = lamp.first("press"), lamp.last("press")
        unplugged, plugged = (lamp.last(note) for note in ("unplugged", "plugged"))
        gaps = machine.transcript(number)["gaps"]
        expect(len(gaps) == 1, "%d gaps in place of one: %s" % (len(gaps), gaps))
        start, end = gaps[0]["start"], gaps[0]["end"]
        expect(abs(start - (unplugged - began)) < 1.5, "the gap begins at %.1f s, unplugged after %.1f s" % (
            start, unplugged - began))
        expect(-0.5 < end - (plugged - began) < 10, "the gap ends at %.1f s, plugged in after %.1f s" % (
            end, plugged - began))
        recorded = samples_of(machine.audio(number))
        length = len(recorded) / 2 / RATE
        expect(abs(length - (ended - began)) < 1.5, "%.1f s recorded between presses %.1f s apart" % (
            length, ended - began))
        first, last = round(start * RATE), round(end * RATE)
        expect(not any(recorded[first * 2:last * 2]), "the gap is not silent")
        place = place_in(ROOM, recorded)
        same = equal_samples(ROOM, recorded, place, 0) if place is not None else 0
        # The gap begins where the sound ends: what is before it is what was heard.
        expect(same >= first, "sample %d before the gap at %d is not what was heard" % (same, first))
        machine.shell("fieldscribe verify")
        return "fault told after %.1f s, gap of %.1f s (unplugged for %.1f s), %.1f s recorded in %.1f s" % (
            told, end - start, plugged - unplugged, length, ended - began)


def microphone_absent(bench):
    """No microphone at power on: the service is ready, the lamp tells the fault, a press too; once it is there, it records."""
    with bench.appliance("microphone-absent") as machine:
        machine.shell("echo snd_aloop.0 >%s/unbind; systemctl restart fieldscribe" % DRIVER)
        machine.until_ready()
        machine.wait_lamp(lambda lamp: lamp.fast_blinks(), 60, "fast blinks: a fault")
        fault = machine.status()["lastFault"]["code"]
        pressed = machine.note("pressed")
        machine.press()
        lamp = machine.wait_lamp(lambda it: it if it.fast_blinks(pressed + 1) else None, 90, "a fault once more")
        again = lamp.fast_blinks(pressed + 1)[0] - pressed
        plug_in(machine)
        machine.record(2)
        return "fault %s, %.1f s after a press once more; then it recorded" % (fault, again)
