"""A fake decode worker, which speaks the protocol of decode workers but recognizes nothing: worker.py MODE [FILE [FILE]]

Its result for an utterance is one word that contains the number of samples and the adaptation state, which the protocol calls
channel. The result of a survey is the cepstral mean 7 and candidate warps. A request for partial results makes the worker exit,
except in the modes partials and same. Modes marked "once" act only if FILE does not exist, and create it. Modes:

    plain         does nothing special
    refuse        reports that it has no model
    once FILE     exits during its first utterance, once
    late FILE     exits after it has reported the channel for its first utterance, once
    deaf FILE     exits at its first audio, once
    heard FILE    writes to FILE, a FIFO, at the first audio of an utterance
    meet HERE GO  writes to HERE, a FIFO, for each utterance, and continues when GO, another FIFO, has a byte
    never         exits during utterances over 2 s
    garbage       answers utterances over 2 s with an invalid line
    mute          never reports the channel
    warped        gives the best score to the warp 1.08; its word contains the warp
    parts         returns a word for each part of a group, with the part's number and length; an alternative for the group; and a
                  voice for each part except the first
    partials      acts like parts; a partial result contains the number of samples so far
    same          gives the same partial result for all audio
    holed         its word does not cover the first and the last second of an utterance over 6 s
    torn          acts like holed, and exits during shorter utterances
    stopped FILE  stops itself with a signal during its first utterance, once
    asleep FILE   does nothing during its second utterance, once
    chatter       answers an utterance with endless partial results
    drip          answers an utterance with ten spaces per second
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
    if request["partials"] and mode in ["partials", "same"]:
        while (piece := frame())[0] == b"a":
            samples += len(piece[1]) // 2
            say(partial=str(samples) if mode == "partials" else "yes")
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
            with open(sys.argv[2], "w") as fifo:
                fifo.write(".")
    while mode == "chatter":
        say(partial="still at it")
    while mode == "drip":
        sys.stdout.write(" ")
        sys.stdout.flush()
        time.sleep(0.1)  # wait: writes slowly until it is killed
    if mode == "once" and not os.path.exists(sys.argv[2]):
        open(sys.argv[2], "w").close()
        os._exit(9)
    if request.get("survey"):
        if mode != "mute":
            warp = (request.get("channel") or {}).get("warp")
            candidates = [[{"cepstralMean": [], "warp": warp} for warp in warps] for warps in ([.92, .86], [1.08, 1.16])]
            say(channel={"cepstralMean": [7]} | ({"warp": warp} if warp else {}), candidates=candidates)
        say(result={"words": [], "alternatives": [], "cpuSeconds": 0.0})
        continue
    before = ((request.get("channel") or {}).get("cepstralMean") or [0])[0]
    if mode != "mute":
        say(channel={"cepstralMean": [before + 1]})
    if mode == "meet":
        with open(sys.argv[3], "rb", buffering=0) as go:
            with open(sys.argv[2], "w") as here:
                here.write(".")
            # On a busy machine, the other workers start late. Page faults count as progress; an idle worker would be replaced.
            os.set_blocking(go.fileno(), False)
            while go.read(1) is None:
                bytearray(b"." * (1 << 20))
                time.sleep(0.2)  # wait: for the other workers
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
        texts = [f"p{index + 1}of{len(parts)}:{length}" for index, length in enumerate(lengths)]
        result["words"] = [{"text": text, "range": part, "confidence": 0.5} for text, part in zip(texts, parts)]
        result["alternatives"] = [{"text": " ".join(text + "x" for text in texts), "confidence": 0.25}]
        # The first part has no voice.
        result["voices"] = [None] + [{"pitch": length / 10, "jitter": 0, "shimmer": 0, "voicing": 1} for length in lengths[1:]]
    if mode == "warped":
        warp = (request.get("channel") or {}).get("warp")
        word["text"] += f"v{warp:g}" if warp else ""
        result["score"] = samples / 16 * (1 - abs((warp or 1) - 1.08))
    say(result=result)
