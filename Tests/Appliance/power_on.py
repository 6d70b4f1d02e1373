"""Power on, press, speak, press: what was said is written down."""

from appliance import ROOM
from bench import expect
from sound import RATE, equal_samples, place_in, samples_of


def power_on(bench):
    """From the plug to the text: the lamp is off, the service ready; a recording with a mark; sound and text are right."""
    with bench.appliance("power-on", cold=True) as machine:
        machine.boot()
        ready = machine.until_ready()
        expect(not machine.is_lit(), "the lamp is on although nobody pressed")
        idle = int(machine.shell("sed -n 's/^VmRSS:[^0-9]*\\([0-9]*\\) kB/\\1/p' "
                                 "/proc/$(systemctl show -P MainPID fieldscribe)/status"))
        machine.room_sounds()
        machine.press()
        number = machine.until_recorded(5)["recording"]
        machine.press(seconds=1.4)
        status = machine.until_recorded(9)
        expect(status["microphone"]["health"] == "alive", "the microphone is %s" % status["microphone"]["health"])
        expect(machine.is_lit(), "the lamp is off while recording")
        machine.press()
        machine.until_written()
        lamp = machine.wait_lamp(lambda it: it if not it.changes[-1][1] else None, 10, "off when all is written down")
        expect(not lamp.fast_blinks(), "the lamp showed a fault")
        answered = lamp.lit_after(lamp.first("press")) - lamp.first("press")
        pulses = [length for begin, length, lit in lamp.phases(lamp.last("press")) if lit and 0.8 < length < 1.2]
        expect(pulses, "the lamp did not pulse while text was being written")

        transcript = machine.transcript(number)
        text = machine.text_of(transcript)
        heard = [word for word in "go forward ten meters".split() if word in text.split()]
        expect(len(heard) >= 3, "of 'go forward ten meters' it wrote '%s'" % text)
        expect(len(transcript["marks"]) == 1, "%d marks in place of one" % len(transcript["marks"]))
        expect(transcript["gaps"] == [], "gaps: %s" % transcript["gaps"])

        recorded = samples_of(machine.audio(number))
        place = place_in(ROOM, recorded)
        expect(place is not None, "the recording does not begin with what was heard")
        same = equal_samples(ROOM, recorded, place, 0)
        expect(same == len(recorded) // 2, "sample %d of %d is not what was heard" % (same, len(recorded) // 2))
        machine.shell("fieldscribe verify")
        return "ready after %.0f s, idle %.1f MB resident, press to lamp %.0f ms, %.1f s sample-exact, text '%s', 1 mark" % (
            ready, idle * 1.024e-3, answered * 1000, same / RATE, text)
