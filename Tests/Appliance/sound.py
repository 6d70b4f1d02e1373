"""The sound that the machine's microphone hears, and the position of a recording in it."""

import random
import struct
import wave

RATE = 16000
SPEECH = "/usr/share/pocketsphinx/test/data/goforward.raw"  # "go forward ten meters", of pocketsphinx-testdata


def noise(seconds, seed=1):
    """The noise of a quiet room at -77 dBFS; no two parts of it are the same."""
    chance = random.Random(seed)
    return struct.pack("<%dh" % (seconds * RATE), *(chance.randint(-8, 8) for _ in range(seconds * RATE)))


def room(seconds, speech_at=()):
    """A quiet room in which somebody speaks at some seconds."""
    samples = bytearray(noise(seconds))
    with open(SPEECH, "rb") as file:
        words = file.read()
    for second in speech_at:
        samples[second * RATE * 2:second * RATE * 2 + len(words)] = words
    return bytes(samples[:seconds * RATE * 2])


def write_wave(path, samples):
    with wave.open(path, "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(samples)


def samples_of(data):
    """The samples of a WAV file that Fieldscribe wrote, as many as its header states."""
    assert data[:4] in (b"RIFF", b"RF64") and data[8:12] == b"WAVE", "not a WAV file: %r" % data[:12]
    place = 12
    while place + 8 <= len(data):
        name, length = data[place:place + 4], struct.unpack("<I", data[place + 4:place + 8])[0]
        if name == b"data":
            return data[place + 8:place + 8 + length]
        place += 8 + length + length % 2
    raise AssertionError("a WAV file without a data chunk")


def place_in(fed, recorded, at=0):
    """The position in `fed` of the recording's sample `at`, found by the 64 samples from there on; None if they are not in it."""
    window = recorded[at * 2:at * 2 + 128]
    place = fed.find(window)
    while place >= 0 and place % 2:
        place = fed.find(window, place + 1)
    return place // 2 if place >= 0 and len(window) == 128 else None


def equal_samples(fed, recorded, fed_from, recorded_from):
    """The number of equal samples from these two positions on."""
    a, b = fed[fed_from * 2:], recorded[recorded_from * 2:]
    length = min(len(a), len(b))
    if a[:length] == b[:length]:
        return length // 2
    return next(index for index in range(length) if a[index] != b[index]) // 2


def first_sound(recorded):
    """The first sample that is not zero."""
    return next((index // 2 for index, byte in enumerate(recorded) if byte), len(recorded) // 2)
