import Testing

@testable import Core

@Suite("Segmenter") struct SegmenterTests {
    @Test(
        "sound becomes utterances",
        arguments: [
            // Speech begins after 100 ms and ends after 300 ms of silence.
            ("_____#####_____", ".....B......S.."),
            // A pause shorter than the hangover does not end an utterance.
            ("_____###__###_____", ".....B.........S.."),
            // A click is not speech.
            ("_____!____!_____", "................"),
            // Neither is a knock.
            ("_____k____k_____", "................"),
            // Speech 30 dB above the noise floor counts, and the noise itself does not.
            ("_____+++++______", ".....B......S..."),
            ("________________", "................"),
            // Two utterances that are closer than their paddings.
            ("_____####____####____", ".....B.....S.B.....S"),
        ])
    func soundBecomesUtterances(sound: String, expected: String) {
        var marbles = Marbles()
        #expect(normalized(marbles.play(sound)) == normalized(expected))
    }

    /// Removes trailing dots, because a drawing may be shorter than the sound.
    private func normalized(_ line: String) -> String {
        var line = line
        while line.hasSuffix(".") { line.removeLast() }
        return line
    }

    @Test("an utterance has padding before and after its speech")
    func padding() throws {
        var marbles = Marbles()
        _ = marbles.play("__________#####_____")
        let utterance = try #require(marbles.utterances.first)
        #expect(utterance.speech == SampleRange(tenths(10), tenths(15)))
        #expect(utterance.audio == SampleRange(tenths(7.5), tenths(17.5)))
        #expect(utterance.endedBy == .silence)
        #expect(marbles.starts == [tenths(7.5)])
    }

    @Test("padding is limited by the start and end of the recording")
    func paddingAtTheEdges() throws {
        var marbles = Marbles()
        _ = marbles.play("_####")
        #expect(marbles.finish() == "T")
        let utterance = try #require(marbles.utterances.first)
        #expect(utterance.audio == SampleRange(.zero, tenths(5)))
        #expect(utterance.speech == SampleRange(tenths(1), tenths(5)))
    }

    @Test("if a stop comes during the hangover, the speech ends before the hangover, and the audio at the stop")
    func stopInHangover() throws {
        var marbles = Marbles()
        _ = marbles.play("_____####__")
        #expect(marbles.finish() == "T")
        let utterance = try #require(marbles.utterances.first)
        #expect(utterance.speech.end == tenths(9))
        #expect(utterance.audio.end == tenths(11))
    }

    @Test("the paddings of close utterances overlap only in silence")
    func closeUtterances() throws {
        var marbles = Marbles()
        _ = marbles.play("_____#####___#####_____")
        try #require(marbles.utterances.count == 2)
        let (first, second) = (marbles.utterances[0], marbles.utterances[1])
        #expect(second.audio.start >= first.speech.end)
        #expect(first.audio.end <= second.speech.start)
        #expect(second.audio.start < first.audio.end)
    }

    @Test("a gap ends the utterance, and time continues after it")
    func gap() throws {
        var marbles = Marbles()
        _ = marbles.play("_____#####")
        #expect(marbles.gap(milliseconds: 700) == "G")
        _ = marbles.play("#####_____")
        try #require(marbles.utterances.count == 2)
        #expect(marbles.utterances[0].speech == SampleRange(tenths(5), tenths(10)))
        #expect(marbles.utterances[0].audio.end == tenths(10))
        #expect(marbles.utterances[1].audio.start == tenths(17))
        #expect(marbles.utterances[1].speech == SampleRange(tenths(17), tenths(22)))
    }

    @Test("the noise floor follows louder background noise, and steady noise is not speech")
    func adaptiveFloor() {
        var marbles = Marbles()
        _ = marbles.play(times(100, "_") + times(200, "-"))
        #expect(marbles.segmenter.noiseFloor == -50)
        #expect(marbles.utterances.count == 1, "only the step itself may look like speech")
        let before = marbles.utterances.count
        _ = marbles.play("#####" + times(5, "-"))
        #expect(marbles.utterances.count == before + 1)
    }

    @Test("while speech begins, it may dip for one frame, but not twice")
    func dips() {
        var settings = SpeechSettings()
        settings.threshold = .fixed(decibels: -40)
        for (frames, expected) in [
            ("##-###", 6), ("##-##-####", nil), ("#-#-#-#-#-", nil), ("#####", 5), ("##--####-#", 6),
        ] {
            var activity = VoiceActivity(settings: settings)
            var beganFramesAgo: Int?
            for character in frames {
                if case .began(let framesAgo) = activity.handle(character == "#" ? -30 : -60) {
                    beganFramesAgo = framesAgo
                }
            }
            #expect(beganFramesAgo == expected, "\(frames)")
        }
    }

    @Test("a fixed threshold does not adapt")
    func fixedThreshold() {
        var settings = SpeechSettings()
        settings.threshold = .fixed(decibels: -35)
        var marbles = Marbles(settings)
        #expect(!marbles.play(times(30, "+") + "___").contains("B"))
        #expect(marbles.play("####____").contains("B"))
    }

    @Test("the settled watermark never decreases, and lies between the needed audio and the current position")
    func settledWatermark() {
        var marbles = Marbles()
        var last = SamplePosition.zero
        for character in "_____#####_____####__####______" {
            _ = marbles.play(String(character))
            let settled = marbles.segmenter.settledWatermark
            #expect(settled >= last)
            #expect(settled <= marbles.segmenter.position)
            #expect(marbles.segmenter.neededFrom <= settled)
            last = settled
        }
    }
}
