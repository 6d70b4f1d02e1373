import Testing

@testable import Recognition

@Suite("Speech gate")
struct SpeechGateTests {
    private func isSpeech(
        _ text: String, tokens: [Int]? = nil, limit: Int = 23, end: Double = -15, entropy: Double = 0.5,
        seconds: Double = 3
    ) -> Bool {
        SpeechGate().isSpeech(
            SpeechGate.Evidence(
                text: text, tokens: tokens ?? Array(0..<8), limit: limit, immediateEnd: end, meanEntropy: entropy,
                seconds: seconds))
    }

    @Test("a sentence is speech")
    func speech() {
        #expect(isSpeech("I really like that account of himself."))
        #expect(isSpeech("“Now,” she said — it’s 5 €.", seconds: 1))
        #expect(isSpeech("Thank you.", end: -14), "the network is certain that there is speech")
    }

    @Test(
        "output for silence, music and noise is not speech",
        arguments: ["", " ", "♪♪♪", "© transcript Emily Beynon", "ご視聴ありがとうございました", "..."])
    func nonSpeechOutput(text: String) { #expect(!isSpeech(text, end: -7.8)) }

    @Test("text in another alphabet or with symbols is speech if the network is certain")
    func otherAlphabets() {
        #expect(isSpeech("Він не був поганою молодою людиною.", end: -13))
        #expect(isSpeech("ご視聴ありがとうございました", end: -13))
        #expect(isSpeech("Ask for the Palm™ at the desk ♪", end: -13))
        #expect(!isSpeech("Він не був", end: -8))
        #expect(!isSpeech("..."))
    }

    @Test("repeated speech is speech, but not a loop that reaches the limit or has a low confidence")
    func repetition() {
        let repeatedTokens = Array(repeating: [11, 12, 13, 14, 15], count: 3).flatMap(\.self)
        #expect(SpeechGate.repeats(repeatedTokens) > 0.4)
        #expect(isSpeech("Go forward. Go forward. Go forward.", tokens: repeatedTokens, end: -11.5))
        #expect(!isSpeech("We will win. We will win. We will win.", tokens: repeatedTokens, limit: 16, end: -11.5))
        #expect(!isSpeech("Yes, yes, yes, yes, yes.", tokens: repeatedTokens, end: -9.6, entropy: 0.6))
    }

    @Test("uncertain stock phrases, an early end, too few tokens, and loops are not speech")
    func lowConfidence() {
        #expect(!isSpeech("Thank you.", end: -8))
        #expect(!isSpeech("You", end: -5))
        #expect(!isSpeech("We'll see you next time.", end: -8.7, entropy: 1.9))
        #expect(!isSpeech("Hello there.", tokens: [1, 2, 3], seconds: 6))
        #expect(!isSpeech("the first is the first", tokens: Array(repeating: 7, count: 30)))
    }

    @Test("a rejected text may be speech, unless it is typical for silence or music, or is a loop")
    func mayBeSpeech() {
        func mayBe(_ text: String, tokens: [Int] = Array(0..<8), end: Double = -6) -> Bool {
            SpeechGate().mayBeSpeech(
                SpeechGate.Evidence(
                    text: text, tokens: tokens, limit: 23, immediateEnd: end, meanEntropy: 2, seconds: 2.3))
        }
        #expect(mayBe("Lobster a la Newberg."))
        for text in ["", "...", "♪♪♪", "© transcript Emily Beynon", "You", "Thank you for watching!"] {
            #expect(!mayBe(text), "\(text)")
        }
        #expect(mayBe("You", end: -13) && !mayBe("Oh", tokens: [1]))
        #expect(!mayBe("Yay! Yay! Yay!", tokens: Array(repeating: 7, count: 12)))
    }

    @Test("a short text needs at least one probable word; a longer text does not")
    func shortAndUnlikely() {
        func evidence(_ seconds: Double) -> SpeechGate.Evidence {
            SpeechGate.Evidence(
                text: "Mm-Hmm", tokens: [1, 2, 3], limit: 10, immediateEnd: -15, meanEntropy: 1, seconds: seconds)
        }
        #expect(!SpeechGate().isLikely(evidence(0.3), [0.02]))
        #expect(SpeechGate().isLikely(evidence(0.3), [0.02, 0.24]))
        #expect(SpeechGate().isLikely(evidence(2), [0.02]))
    }

    @Test("loops are detected by repeated sequences of three tokens")
    func repeats() {
        #expect(SpeechGate.repeats(Array(0..<20)) == 0)
        #expect(SpeechGate.repeats([1, 2, 3, 1, 2, 3, 1, 2, 3]) > 0.5)
        #expect(SpeechGate.repeats([1, 1]) == 0)
    }

    @Test("a text with improbable words is in another language")
    func foreign() {
        let evidence = SpeechGate.Evidence(
            text: "The first time", tokens: Array(0..<12), limit: 30, immediateEnd: -13, meanEntropy: 1.2, seconds: 4)
        #expect(SpeechGate().isForeign(evidence, [0.3, 0.2, 0.6]))
        #expect(!SpeechGate().isForeign(evidence, [0.9, 0.2, 0.6]), "a single improbable word")
        #expect(SpeechGate().isSpeech(evidence), "the other check does not reject it")
        var short = evidence
        short.tokens.removeLast(3)
        #expect(!SpeechGate().isForeign(short, [0.3, 0.2, 0.6]), "too few tokens to decide")
    }

    @Test("words that the network chooses with certainty have a high confidence")
    func confidence() {
        let sure = [WordConfidence.Evidence(of: [TokenEvidence(logProbability: -0.01, entropy: 0.05)])]
        #expect(WordConfidence.confidences(of: sure)[0] > 0.9)
        let uncertain = [WordConfidence.Evidence(of: [TokenEvidence(logProbability: -3, entropy: 2.5)])]
        #expect(WordConfidence.confidences(of: uncertain)[0] < 0.3)
    }
}
