"""Writes the fuzzers' seed inputs: corpus.py FOLDER. Many of these small inputs are deliberately hostile."""
import base64, io, json, os, struct, sys, tarfile

folder = sys.argv[1]


def put(kind, name, data):
    os.makedirs(f"{folder}/{kind}", exist_ok=True)
    with open(f"{folder}/{kind}/{name}", "wb") as file:
        file.write(data)


def chunk(name, body, size=None, order="<"):
    return name + struct.pack(order + "I", len(body) if size is None else size) + body + b"\0" * (len(body) & 1)


fmt = chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, 16000, 32000, 2, 16))
info = chunk(b"LIST", b"INFO" + chunk(b"ISFT", b"Fieldscribe\0") + chunk(b"ICMT", b"button".ljust(32, b"\0")))
audio = bytes(range(64))
waves = {
    "whole": b"RIFF" + struct.pack("<I", 36 + 64) + b"WAVE" + fmt + chunk(b"data", audio),
    "cut": b"RIFF" + struct.pack("<I", 504) + b"WAVE" + chunk(b"JUNK", b"\0" * 28) + fmt + info
    + chunk(b"JUNK", b"\0" * 8) + chunk(b"data", audio, 0),
    "placeholder": b"RIFF\xff\xff\xff\xffWAVE" + fmt + chunk(b"data", audio, 0xFFFFFFFF) + chunk(b"LIST", b"INFO"),
    "rf64": b"RF64\xff\xff\xff\xffWAVE" + chunk(b"ds64", struct.pack("<QQQI", 200, 64, 32, 0)) + fmt
    + chunk(b"data", audio, 0xFFFFFFFF),
    "odd": b"RIFF" + struct.pack("<I", 60) + b"WAVE" + chunk(b"abcd", b"x") + fmt + chunk(b"data", audio[:7]) + b"ID3",
    "stereo": b"RIFF" + struct.pack("<I", 60) + b"WAVE"
    + chunk(b"fmt ", struct.pack("<HHIIHH", 1, 2, 44100, 176400, 4, 16)) + chunk(b"data", audio),
}
for name, data in waves.items():
    put("wave", name, data)
    put("container", name, data)
put("container", "aiff", b"FORM" + struct.pack(">I", 90) + b"AIFF"
    + chunk(b"COMM", struct.pack(">HIH", 1, 32, 16) + b"\x40\x0c\xfa\0\0\0\0\0\0\0", order=">")
    + chunk(b"SSND", b"\0" * 8 + audio, order=">"))
put("container", "caf", b"caff\0\1\0\0" + b"desc" + struct.pack(">Q", 32) + b"\0" * 32 + b"data"
    + struct.pack(">q", -1) + b"\0\0\0\0" + audio)
put("container", "rifx", b"RIFX" + struct.pack(">I", 90) + b"WAVE" + chunk(b"data", audio, order=">"))

with open(os.path.join(os.path.dirname(__file__), "../../deploy/fieldscribe.conf"), "rb") as file:
    put("configuration", "all", file.read())
put("configuration", "some", b"\xef\xbb\xbf[capture]\r\nrate = 48000\nsync-seconds=0.5\n\n[panel]\nstyle = mark ; no\n")
put("configuration", "odd", b"[\n]=\n[x]\nrate\n = \n[capture]\nrate = 1e99\nrate = -0\n  device = tone:440\n")


def frame(kind, payload=b""):
    return kind + struct.pack("<I", len(payload)) + payload


def request(**fields):
    return frame(b"r", json.dumps(fields).encode())


put("worker", "whole", request(partials=False, alternatives=3) + frame(b"a", audio) + frame(b"e"))
put("worker", "partials", request(partials=True, alternatives=0, channel={"cepstralMean": [1.5, -2]})
    + frame(b"a", audio) * 2 + frame(b"e"))
put("worker", "long", request(partials=False, alternatives=0) + b"a\xff\xff\x1f\0" + audio)


def line(**fields):
    return json.dumps(fields).encode() + b"\n"


word = {"text": "hello", "range": {"start": 0, "end": 400}, "confidence": 0.5}
put("replies", "whole", b"\x40" + line(ready={"name": "x", "version": "1", "model": "m"})
    + line(channel={"cepstralMean": [1.5]})
    + line(result={"words": [word], "alternatives": [{"text": "hallo", "confidence": 1}], "cpuSeconds": 0.1}))
put("replies", "strange", b"\x05" + line(result={"words": [
    {"text": "\n", "range": {"start": -(2**63), "end": 2**63 - 1}, "confidence": 1e300},
    {"text": "a\x1b[2Jb", "range": {"start": 2**63 - 1, "end": 0}, "confidence": -1}], "alternatives": [],
    "cpuSeconds": -1}) + line(error={"code": "no such", "message": ""}) + line(partial="hel") + line(done=True))

put("control", "status", line(command="status") * 3)
put("control", "archive", line(command="search", words="a \"b\" NEAR(c)*", limit=-(2**62), directory="/") + line(
    command="delete", recordings=[-1, 0, 2**62]) + line(command="mark", text="\u0000\ud83d\ude00"))
put("control", "limits", line(command="search", words="a", limit=100_000) + line(
    command="strike", strike={"recording": 2**53, "from": 0, "to": 4e9}) + line(command="importing", part={
        "token": "t", "name": "a.txt", "text": "x" * 8_192, "isLast": False, "person": ""}))
put("control", "exported", line(command="exported", entry={
    "recording": 1, "volume": "v", "folder": "f", "pass": 1, "at": 1e300, "hash": ""}) + b"{" * 2000 + b"\n")

segment = {"id": 1, "range": {"start": 0, "end": 16000}, "words": [word], "alternatives": [], "endedBy": "silence"}
put("journal", "whole", line(began={"startedAt": 1.5, "clock": "unverified", "microphone": "tone:440"})
    + line(**{"pass": {"number": 1, "engine": {"name": "x", "version": "1", "model": "m"}, "profile": "live"}})
    + line(segment={"content": segment, "pass": 1}) + line(passEnded={"number": 1})
    + line(ended={"length": 16000, "reason": "button"}))
put("journal", "strange", line(segment={"content": dict(segment, range={"start": -(2**63), "end": 2**63 - 1}), "pass": 9999})
    + line(gap={"content": {"range": {"start": 5, "end": 1}, "reason": "overrun"}}) + b"00000000 {}\n\n")
put("journal", "begun", line(began={"startedAt": "nan", "clock": "synchronized", "microphone": "m", "monotonic": -(2**63)})
    + line(dated={"startedAt": 1e300}) + line(segment={"content": dict(segment, id=2**63 - 1, voice={
        "pitch": 1e19, "jitter": -1e300, "shimmer": 1e300, "voicing": 2}), "pass": 1})
    + line(mark={"content": {"position": 2**63 - 1, "text": "far"}}) + line(ended={"length": 2**63 - 1, "reason": "button"})
    + line(exported={"content": {"recording": 7, "volume": "v", "folder": "f", "manifest": "m", "exportedAt": "inf"}}))
for index, row in enumerate([b"\0\0\x03" + b"\0" * 8, b"\0\5\2" + b"\0" * 8, b"\2\1\2" + b"\0" * 8, b"\2\2\2" + b"\0" * 7 + b"\1",
                             b"\2\5\3" + b"\0" * 7 + b"\2", b"\3\4\3" + b"\0" * 8, b"\5\0\2" + b"\0" * 8 + b"\5\1\2" + b"\0" * 7 + b"\1"]):
    put("rows", f"row-{index}", row)
put("planted", "near", b"RIFF1234")

put("settings", "right", b"\xef\xbb\xbf[capture]\r\ndevice = alsa:plughw:CARD=Mic,DEV=0\r\n[recognizer]\r\nengine = auto\r\nmodel = en\r\n")
put("settings", "wrong", b"[capture]\ndevice = alsa:tee:hw,'|x',raw\n[storage]\ndirectory = /tmp\n[recognizer]\nengine = command:/bin/sh\n")
put("settings", "words", "Nokou\u00e9 * 3\nDogon = D OW G\n<p> = Awa | Bintou\nask <p> about <p>\n".encode())
put("settings", "grammar", b"#JSGF V1.0;\ngrammar g;\npublic <a> = /2/ call <b>* (up | [down]) <g.b>; /* x */\n<b> = <c> <c>;\n<c> = <b> | one {t};\n")

spoken = "we crossed the river again\nwe crossed the old river again\nwe crossed\n"
sealed = io.BytesIO()
with tarfile.open(fileobj=sealed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
    for name, content in [("copy/SHA256SUMS", b"0" * 700), ("copy/none", b"")]:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
put("gathered", "tar", b"\x3c" + sealed.getvalue())
put("gathered", "transcript", b"\1" + line(
    file="x", duration=2.5, sampleRate=16000, engine={"name": "e", "version": "", "model": ""}, speakers=[{"speaker": "A", "name": "Awa"}],
    segments=[{"id": 1, "start": 0, "end": 1, "endedBy": "silence", "words": [
        {"text": "we", "start": 0, "end": 0.5, "confidence": 0.5, "speaker": "A"}]}],
    gaps=[{"start": 1, "end": 1e300, "cause": "struck"}], marks=[{"time": -1, "text": "m"}]))
put("gathered", "page", b"\2<script type=\"application/json\" id=\"data\">" + line(
    recording={"id": 7, "sound": "ab" * 32, "pass": 1}, speakers={"A": "Awa"}) + b"</script>")
put("corrections", "text", b"\0" + spoken.encode())
put("corrections", "srt", b"\1" + b"1\n00:00:01,000 --> 00:00:02,000\n" + spoken.encode())
put("corrections", "vtt", b"\2WEBVTT\n\n00:01.000 --> 00:02.000\n" + spoken.encode() + b"<i>we</i> &amp;\n")
put("corrections", "csv", b"\3kind,segment,start,end,text\r\nsegment,1,0,1,\"we \"\"crossed\"\"\"\r\nword,1,0,1,we\r\n")
put("corrections", "grid", b'\4"ooTextFile" "TextGrid" 0 1 <exists> 1 "IntervalTier" "segments" 0 1 1 0 1 "we ""crossed"""\n! x\n')
put("corrections", "eaf", b"\5<ANNOTATION_DOCUMENT><TIME_SLOT TIME_SLOT_ID='a' TIME_VALUE='5'/><TIER TIER_ID='words'>"
    b"<ALIGNABLE_ANNOTATION TIME_SLOT_REF1='a'><ANNOTATION_VALUE>we&#x20;<![CDATA[x]]></ANNOTATION_VALUE>"
    b"</ALIGNABLE_ANNOTATION></TIER></ANNOTATION_DOCUMENT>")
put("corrections", "page", b"\6" + line(
    format="fieldscribe-corrections", version=1, recording={"id": 7, "sound": "ab" * 32, "pass": 1},
    editor={"name": "A", "saved": 1.5}, segments=[{"id": 1, "was": "we", "text": "we too", "confirmed": [0, 9]}],
    notes=[{"time": 1e300, "text": "x"}], quotations=[{"start": -1, "end": 2, "text": "t", "word": "w", "colour": "c"}]))


def http_request(line, *headers, body=b"", host="localhost"):
    head = [line + " HTTP/1.1", f"Host: {host}", *headers] + ([f"Content-Length: {len(body)}"] if body else [])
    return ("\r\n".join(head) + "\r\n\r\n").encode() + body


saved = line(format="fieldscribe-corrections", version=1, recording={"id": 1, "sound": "ab" * 32, "pass": 1},
             editor={"name": "Anna", "saved": 1.5}, segments=[{"id": 1, "was": "we planted fonio", "text": "we plant fonio"}])
json_type = "Content-Type: application/json"
requests = {
    "list": http_request("GET /"),
    "find": http_request("GET /?q=f%6fnio+%3Cfuzz&alike=yes&since=2026-11-01&until=&recorder=pi&person=awa&speaker=A"),
    "part": http_request("GET /?before=1&after=2&q="),
    "page": http_request("GET /recording/1/?reading=1", "Cookie: fieldscribe=x; a=b", "Accept-Encoding: gzip"),
    "sound": http_request("HEAD /recording/1/audio.flac", "Range: bytes=5-", "If-Range: x"),
    "range": http_request("GET /recording/1/audio.flac", "Range: bytes=-7"),
    "beside": http_request("GET /recording/2/../../beside") + http_request("GET /recording/2/..%2F..%2fbeside"),
    "save": http_request("POST /recording/1/corrections?reading=1&seen=1", json_type, "Origin: http://localhost", body=saved),
    "foreign": http_request("POST /recording/1/corrections", json_type, "Sec-Fetch-Site: cross-site", "Expect: 100-continue", body=saved),
    "chunks": http_request("POST /recording/1/corrections?seen=1", json_type, "Transfer-Encoding: chunked") + b"5\r\n{\"a\":\r\n0\r\nx: y\r\n\r\n",
    "two": http_request("GET /favicon.ico") + http_request("DELETE /", "Connection: close"),
    "other": http_request("GET /", host="evil.example:1"),
    "odd": b"GET  //%00%ff HTTP/1.0\r\nHost: [::1]:2\r\n x\r\nRange:\r\n\r\n",
}
for name, data in requests.items():
    put("site", name, b"\0" + data)
    put("site", f"{name}-shut", b"\1" + data)
put("site", "wrong", b"\1" + http_request("GET /recording/1/", "Authorization: Basic " + base64.b64encode(b"Anna:a long guess").decode(), "X-Forwarded-Host: a", "Origin: https://a"))
