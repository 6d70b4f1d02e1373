"""moonshine-voice.py FILE...: transcribes files with Moonshine's own Python package, and prints NAME<TAB>TEXT for each."""
import array
import os
import sys
import wave

from moonshine_voice import ModelArch
from moonshine_voice.transcriber import Transcriber
from moonshine_voice.utils import get_assets_path

with Transcriber(os.path.join(str(get_assets_path()), "tiny-en"), ModelArch.TINY) as transcriber:
    for path in sys.argv[1:]:
        with wave.open(path) as file:
            assert file.getnchannels() == 1 and file.getsampwidth() == 2, path
            samples = array.array("h", file.readframes(file.getnframes()))
            rate = file.getframerate()
        transcript = transcriber.transcribe_without_streaming([sample / 32768 for sample in samples], rate)
        text = " ".join(line.text for line in transcript.lines)
        print(os.path.basename(path).removesuffix(".wav"), " ".join(text.split()), sep="\t", flush=True)
