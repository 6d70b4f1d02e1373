"""A worker that speaks the protocol of decode workers and recognizes nothing: worker.py MODE [FILE]

Its reading of an utterance is one word that names the number of samples. Modes: plain; refuse: has no model;
once FILE: dies on its first utterance unless FILE exists, which it makes; late FILE: does so behind its first answer;
deaf FILE: does so at its first audio; heard FILE: tells FILE, a fifo, at once that it heard of an utterance;
meet HERE GO: tells HERE, a fifo, of an utterance, and reads it once GO, another, has a byte for it; never: dies on
utterances over 2 s; garbage: answers those with no reply; mute: tells nothing of the channel. It dies where partial
readings are wanted. Asked for the channel alone it tells 7. Of the warps that it then names,
warped hears best with 1.08, and its word tells the warp. parts: a word for each part of a group, which tells its number
and length, in its place, another reading of them, and a voice for each; partials: so it does, and a partial reading tells
how many samples it has heard. holed: its word leaves out the first and the last second of an utterance over 6 s; torn: so does this, and dies
on shorter ones. stopped FILE: a signal stops it on its first utterance unless FILE exists, which it makes; asleep FILE: it does nothing
on its second one. chatter: answers an utterance with provisional readings without end; drip: with a blank ten times a second.
"""
import json, os, signal, struct, sys, time

mode = sys.argv[1]
answered = 0


def say(**reply):
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()


def frame():
    head = sys.stdin.buffer.read(5)
    if len(head) < 5:
        sys.exit(0)
    kind, length = struct.unpack("<cI", head)
    return kind, sys.stdin.buffer.read(length)


if mode == "refuse":
    say(error={"code": "missing", "message": "the model is not there"})
    sys.exit(3)
say(ready={"name": "fake", "version": "1", "model": mode})
while True:
    kind, payload = frame()
    request, samples = json.loads(payload), 0
    if request["partials"] and mode == "partials":
        while (sound := frame())[0] == b"a":
            samples += len(sound[1]) // 2
            say(partial=str(samples))
        say(done=True)
        continue
    if request["partials"]:
        os._exit(9)
    while True:
        kind, payload = frame()
        if kind == b"e":
            break
        samples += len(payload) // 2
        if mode == "deaf" and not os.path.exists(sys.argv[2]):
            open(sys.argv[2], "w").close()
            os._exit(9)
        if mode == "heard" and samples == len(payload) // 2:
            with open(sys.argv[2], "w") as told:
                told.write(".")
    while mode == "chatter":
        say(partial="still at it")
    while mode == "drip":
        sys.stdout.write(" ")
        sys.stdout.flush()
        time.sleep(0.1)  # wait: drips until it is killed
    if mode == "once" and not os.path.exists(sys.argv[2]):
        open(sys.argv[2], "w").close()
        os._exit(9)
    if request.get("survey"):
        if mode != "mute":
            warp = (request.get("channel") or {}).get("warp")
            ways = [[{"cepstralMean": [], "warp": warp} for warp in way] for way in ([.92, .86], [1.08, 1.16])]
            say(channel={"cepstralMean": [7]} | ({"warp": warp} if warp else {}), candidates=ways)
        say(result={"words": [], "alternatives": [], "cpuSeconds": 0.0})
        continue
    before = ((request.get("channel") or {}).get("cepstralMean") or [0])[0]
    if mode != "mute":
        say(channel={"cepstralMean": [before + 1]})
    if mode == "meet":
        with open(sys.argv[3], "rb", buffering=0) as go:
            with open(sys.argv[2], "w") as here:
                here.write(".")
            # Others come late on a busy machine, and an idle worker is replaced: page faults are progress.
            os.set_blocking(go.fileno(), False)
            while go.read(1) is None:
                bytearray(b"." * (1 << 20))
                time.sleep(0.2)  # wait: for the others
    if mode == "stopped" or mode == "asleep" and answered == 1:
        if not os.path.exists(sys.argv[2]):
            open(sys.argv[2], "w").close()
            os.kill(os.getpid(), signal.SIGSTOP) if mode == "stopped" else signal.pause()
    answered += 1
    if mode == "late" and not os.path.exists(sys.argv[2]):
        open(sys.argv[2], "w").close()
        os._exit(9)
    if mode == "garbage" and samples > 32000:
        sys.stdout.write("no reply\n")
        sys.stdout.flush()
        continue
    if mode == "never" and samples > 32000:
        os._exit(9)
    word = {"text": f"w{samples}c{int(before)}", "range": {"start": 0, "end": samples}, "confidence": 0.5}
    if mode in ["holed", "torn"] and samples > 96000:
        word["range"] = {"start": 16000, "end": samples - 16000}
    elif mode == "holed":
        word["range"] = {"start": samples // 2 - 1600, "end": samples // 2 + 1600}
    elif mode == "torn":
        os._exit(9)
    result = {"words": [word], "alternatives": [], "cpuSeconds": 0.25}
    if mode in ["parts", "partials"] and request.get("parts"):
        parts = request["parts"]
        lengths = [part["end"] - part["start"] for part in parts]
        texts = [f"p{number + 1}of{len(parts)}:{length}" for number, length in enumerate(lengths)]
        result["words"] = [{"text": t, "range": part, "confidence": 0.5} for t, part in zip(texts, parts)]
        result["alternatives"] = [{"text": " ".join(t + "x" for t in texts), "confidence": 0.25}]
        # Nothing is reported of the first part.
        result["voices"] = [None] + [{"pitch": length / 10, "jitter": 0, "shimmer": 0, "voicing": 1} for length in lengths[1:]]
    if mode == "warped":
        warp = (request.get("channel") or {}).get("warp")
        word["text"] += f"v{warp:g}" if warp else ""
        result["score"] = samples / 16 * (1 - abs((warp or 1) - 1.08))
    say(result=result)
