import Testing

@testable import Core
@testable import Transcripts

@Suite("Events as JSON lines")
struct EventTests {
    @Test(
        "events are objects with the documented keys",
        arguments: [
            (.state(.recording), #"{"event":"state","state":"recording"}"#),
            (.level(rms: -31.2345, peak: -12), #"{"event":"level","peak":-12,"rms":-31.2}"#),
            (.level(rms: -.infinity, peak: .nan), #"{"event":"level","peak":-120,"rms":-120}"#),
            (
                .partial(recording: 7, segment: 12, range: gap(0.5, 1).range, text: "he\n\"llo"),
                #"{"end":1,"event":"partial","recording":7,"segment":12,"start":0.5,"text":"he\n\"llo"}"#
            ),
            (
                .final(recording: 7, segment: segment(12, [word("hello", 0.5, 1, 0.81)], endedBy: .rotation)),
                #"{"alternatives":[],"confidence":0.81,"end":1,"endedBy":"rotation","event":"final","recording":7,"#
                    + #""segment":12,"start":0.5,"text":"hello","#
                    + #""words":[{"confidence":0.81,"end":1,"start":0.5,"text":"hello"}]}"#
            ),
            (
                .gap(recording: 7, gap: gap(2, 3, .microphone)),
                #"{"cause":"microphone","end":3,"event":"gap","recording":7,"start":2}"#
            ),
            (
                .mark(recording: 7, mark: Bookmark(SamplePosition(seconds: 2.5), text: "a\0b")),
                #"{"event":"mark","recording":7,"text":"a\u0000b","time":2.5}"#
            ),
            (
                .rotation(recording: 7, at: SamplePosition(seconds: 30)),
                #"{"event":"rotation","recording":7,"time":30}"#
            ),
            (
                .fault(code: "missing", message: "no microphone; plug it in"),
                #"{"code":"missing","event":"fault","message":"no microphone; plug it in"}"#
            ),
            (
                .export(.finished, folder: "000007_2026-11-20_09-30-12", message: "1 recording copied"),
                #"{"event":"export","folder":"000007_2026-11-20_09-30-12","message":"1 recording copied","#
                    + #""state":"finished"}"#
            ),
        ] as [(Event, String)])
    func line(event: Event, expected: String) throws {
        #expect(try eventJSON(event) == expected)
    }
}
