"""Power on, press, speak, press: what was said is written down."""

from bench import expect, same_as_heard

# Seconds from a press to the lamp: 0.1 on a board; this machine is emulated.
ANSWERED = 0.3


def power_on(bench):
    """From the plug to the text: the lamp is off, the service ready; a recording with a mark; sound and text are right."""
    with bench.appliance("power-on", cold=True) as machine:
        machine.boot()
        ready = machine.until_ready()
        expect(machine.lamp().changes == [], "the lamp was on although nobody pressed")
        idle = int(machine.shell("sed -n 's/^VmRSS:[^0-9]*\\([0-9]*\\) kB/\\1/p' "
                                 "/proc/$(systemctl show -P MainPID fieldscribe)/status"))
        machine.room_sounds()
        machine.press()
        number = machine.until_recorded(5)["recording"]
        machine.press(seconds=1.4)
        status = machine.until_recorded(9)
        expect(status["microphone"]["health"] == "alive", "the microphone is %s" % status["microphone"]["health"])
        machine.press()
        machine.until_written()
        lamp = machine.wait_lamp(lambda it: it if not it.changes[-1][1] else None, 10, "off when all is written down")
        expect(not lamp.fast_blinks(), "the lamp showed a fault")
        (began, marked, ended), (_, let_go, _) = lamp.all("press"), lamp.all("release")
        answered = lamp.lit_after(began) - began
        expect(answered < ANSWERED, "the lamp told of a press only after %.0f ms" % (answered * 1000))
        # It told of the press, and then of sound that is on the disk.
        expect(lamp.lit_for(marked) > 3, "the lamp was not steady between press and mark")
        expect(lamp.changes_in(let_go + 1, ended) == 0 and lamp.lit_for(ended) > 1, "the lamp was not steady after the mark")
        pulses = [length for begin, length, lit in lamp.phases(ended) if lit and 0.8 < length < 1.2]
        expect(pulses, "the lamp did not pulse while text was being written")

        transcript = machine.transcript(number)
        text = machine.text_of(transcript)
        heard = [word for word in "go forward ten meters".split() if word in text.split()]
        expect(len(heard) >= 3, "of 'go forward ten meters' it wrote '%s'" % text)
        expect(len(transcript["marks"]) == 1, "%d marks in place of one" % len(transcript["marks"]))
        expect(transcript["gaps"] == [], "gaps: %s" % transcript["gaps"])
        expect(transcript["engine"]["name"] == "pocketsphinx", "engine: %s" % transcript["engine"])

        sound = same_as_heard(machine.audio(number), "the recording")
        expect(abs(sound - (ended - began)) < 1.5, "%.1f s recorded between presses %.1f s apart" % (sound, ended - began))
        machine.shell("fieldscribe verify")
        return "ready after %.0f s, idle %.1f MB resident, press to lamp %.0f ms, %.1f s sample-exact, text '%s', 1 mark" % (
            ready, idle * 1.024e-3, answered * 1000, sound, text)
