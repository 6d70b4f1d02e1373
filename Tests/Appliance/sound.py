"""Makes the sound that is played into the machine's microphone, and finds recordings in it."""

import random
import struct
import wave

RATE = 16000
SPEECH = "/usr/share/pocketsphinx/test/data/goforward.raw"  # "go forward ten meters", from pocketsphinx-testdata


def noise(seconds, seed=1):
    """Returns noise at -77 dBFS, as in a quiet room, in which no two sections are the same."""
    generator = random.Random(seed)
    return struct.pack("<%dh" % (seconds * RATE), *(generator.randint(-8, 8) for _ in range(seconds * RATE)))


def room(seconds, speech_at=()):
    """Returns the sound of a quiet room in which somebody speaks at the given seconds."""
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
    """Returns the samples of a WAV file by Fieldscribe, as many as its header states."""
    assert data[:4] in (b"RIFF", b"RF64") and data[8:12] == b"WAVE", "not a WAV file: %r" % data[:12]
    offset = 12
    while offset + 8 <= len(data):
        name, length = data[offset:offset + 4], struct.unpack("<I", data[offset + 4:offset + 8])[0]
        if name == b"data":
            return data[offset + 8:offset + 8 + length]
        offset += 8 + length + length % 2
    raise AssertionError("a WAV file without a data chunk")


def position_in(played, recorded, at=0):
    """Returns the position in `played` of the recording's sample `at`, or None if the 64 samples from `at` on are not in `played`."""
    window = recorded[at * 2:at * 2 + 128]
    position = played.find(window)
    while position >= 0 and position % 2:
        position = played.find(window, position + 1)
    return position // 2 if position >= 0 and len(window) == 128 else None


def equal_samples(played, recorded, played_from, recorded_from):
    """Returns how many samples are equal from the two positions on."""
    played_part, recorded_part = played[played_from * 2:], recorded[recorded_from * 2:]
    length = min(len(played_part), len(recorded_part))
    if played_part[:length] == recorded_part[:length]:
        return length // 2
    return next(index for index in range(length) if played_part[index] != recorded_part[index]) // 2


def first_sound(recorded):
    """Returns the position of the first sample that is not zero."""
    return next((index // 2 for index, byte in enumerate(recorded) if byte), len(recorded) // 2)
