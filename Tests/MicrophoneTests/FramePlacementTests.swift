import Testing

@testable import Audio

@Suite("Frame placement by timestamps") struct FramePlacementTests {
    private typealias Silence = FramePlacement.Silence

    /// Places frames of 320 samples with these timestamps.
    private func placed(_ times: [Int64?], _ placement: FramePlacement = FramePlacement()) -> FramePlacement {
        var placement = placement
        for time in times { placement.add(time: time, count: 320) }
        return placement
    }

    @Test("no silence is added between contiguous frames")
    func contiguous() {
        let placement = placed([0, 320, 640, nil, 1_280])
        #expect(placement.silences.isEmpty)
        #expect(placement.end == 1_600)
    }

    @Test("audio that starts after the video gets silence before it, which is not a loss")
    func late() {
        #expect(placed([80_000, 80_320]).silences == [Silence(at: 0, count: 80_000, isLoss: false)])
    }

    @Test("audio before the start is kept and shifts later audio")
    func early() {
        let placement = placed([-96, 224, 544])
        #expect(placement.silences.isEmpty)
        #expect(placement.end == 960)
    }

    @Test("missing packets become silence of the same length")
    func missing() {
        let placement = placed([0, 320, 32_640, 32_960])
        #expect(placement.silences == [Silence(at: 640, count: 32_000, isLoss: true)])
        #expect(placement.end == 33_280)
    }

    @Test("short pauses between packets are losses only after an error", arguments: [false, true])
    func pauses(hasErrors: Bool) {
        var placement = FramePlacement()
        if hasErrors { placement.addError() }
        #expect(
            placed([0, 6_720], placement).silences == [Silence(at: 320, count: 6_400, isLoss: hasErrors)])
    }

    @Test("timestamp jitter causes no gap, but accumulated drift does")
    func jitter() {
        #expect(placed([0, 350, 610, 1_000, 1_260]).silences.isEmpty)
        let slow = placed((0..<100).map { Int64($0) * 352 })
        #expect(abs(slow.end - 100 * 352) <= 1_600)
    }

    @Test("timestamps may restart for another recording")
    func joined() {
        let placement = placed([0, 320, 16_000_000_000, 16_000_000_320, 0, 320, 16_640])
        #expect(placement.silences == [Silence(at: 6 * 320, count: 16_000, isLoss: true)])
    }

    @Test("a long gap is kept only if the container's length confirms it")
    func promisedLength() {
        let gap: Int64 = 700 * 16_000
        #expect(
            placed([0, gap], FramePlacement(promisedSamples: gap + 320)).silences
                == [Silence(at: 320, count: gap - 320, isLoss: true)])
        #expect(placed([0, gap]).silences.isEmpty)
    }

    @Test("the first timestamp after a format change, which ffmpeg gets wrong, is ignored")
    func changeOfFormat() {
        var placement = placed([0, 320])
        placement.add(time: 1_095_444, count: 320, isFirst: true)
        placement.add(time: 960, count: 320)
        #expect(placement.silences.isEmpty)
        #expect(placement.end == 1_280)
    }

    @Test("if times are computed by counting frames, undecodable bytes show where audio is missing")
    func countedTimes() {
        var empty = FramePlacement(isRaw: true, junk: [FramePlacement.Junk(time: 640, count: 5_000)])
        empty.addError()
        let placement = placed([0, 320, 640, 1_536, 1_856, 2_752], empty)
        #expect(
            placement.silences == [
                Silence(at: 640, count: 5_000, isLoss: true), Silence(at: 960, count: 576, isLoss: false),
            ])
        #expect(placement.undecodedSamples == 576)
    }

    @Test("extreme timestamps are safe")
    func anyTimes() {
        for time in [Int64.min, .max, 1 << 46, -1 << 46, 0] {
            #expect(placed([time, .max, .min, time], FramePlacement(promisedSamples: .max)).decodedSamples == 1_280)
        }
    }

    @Test("ffprobe's description gives the default track, the tracks' lengths and their names")
    func description() {
        let text = """
            {"programs": [], "streams": [
              {"codec_name": "aac", "channels": 2, "start_time": "0.000000", "disposition": {"default": 0},
               "tags": {"language": "eng", "title": "a\\u001b[31mb|c"}},
              {"codec_name": "opus", "channels": 1, "disposition": {"default": 1}, "tags": {"DURATION": "00:01:02.500000000"}}
            ], "format": {"format_name": "matroska,webm", "nb_streams": 3, "start_time": "-0.007", "duration": "80.1"}}
            """
        let container = ContainerDescription(json: text)
        #expect(container.format == "matroska" && container.start == -0.007)
        #expect(container.defaultTrack == 1 && container.tracks.map(\.promisedSeconds) == [nil, 62.5])
        #expect(container.trackName(0) == "1 (eng, a31mbc)" && container.trackName(1) == "2")
        for text in ["", "{}", "[]", "{\"streams\": 3}", "{\"streams\": [{}]}"] {
            #expect(ContainerDescription(json: text).tracks.allSatisfy { $0.promisedSeconds == nil })
        }
    }
}
