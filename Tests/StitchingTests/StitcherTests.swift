import Testing

@testable import Core

/// Returns the words in a drawing in which a column is 100 ms. A word lasts as long as it is wide; a `~` widens it.
func words(_ drawing: String, from start: Double = 0) -> [Word] {
    var words: [Word] = []
    var current = ""
    var firstColumn = 0
    for (column, character) in (drawing + " ").enumerated() {
        if character != " " {
            if current.isEmpty { firstColumn = column }
            current.append(character)
        } else if !current.isEmpty {
            let range = SampleRange(
                SamplePosition(seconds: start + Double(firstColumn) / 10),
                SamplePosition(seconds: start + Double(column) / 10))
            words.append(Word(current.filter { $0 != "~" }, range, confidence: 1))
            current = ""
        }
    }
    return words
}

/// Two utterances that share 500 ms. The left ends at 10.25 s, the right begins at 9.75 s, and the cut is at 10 s.
struct Rotation {
    static let cut = SamplePosition(seconds: 10)
    static let left = Utterance(
        id: 1, audio: SampleRange(.zero, SamplePosition(seconds: 10.25)),
        speech: SampleRange(SamplePosition(seconds: 0.25), cut), endedBy: .rotation)
    static let right = Utterance(
        id: 2, audio: SampleRange(SamplePosition(seconds: 9.75), SamplePosition(seconds: 20)),
        speech: SampleRange(cut, SamplePosition(seconds: 19.75)), endedBy: .silence)

    /// Returns the committed words for drawings of both sides and of a third hypothesis across the seam. The drawings
    /// begin at 9 s.
    static func stitch(_ leftDrawing: String, _ rightDrawing: String, third: String = "") -> [String] {
        var stitcher = Stitcher()
        let segments = [
            stitcher.handle(left, Hypothesis(words: words(leftDrawing, from: 9))),
            stitcher.handle(right, Hypothesis(words: words(rightDrawing, from: 9)), third: words(third, from: 9)),
        ]
        return segments.flatMap { $0.words.map(\.text) }
    }
}

@Suite("Stitcher") struct StitcherTests {
    @Test(
        "at typical seams, no word is lost, doubled or cut off",
        arguments: [
            // Both sides agree. The first column is 9.0 s; the overlap is from 9.75 to 10.25 s, the cut at 10.0 s.
            Seam("plain", "now we   go", "         go on", "now we go on"),
            Seam("nothing in the overlap", "now", "              on", "now on"),
            // Each side leaves the word to the other.
            Seam("dropped word", "we     ought", "       ought  to", "we ought to"),
            Seam("dropped by late and early timing", "we      ought", "      ought   to", "we ought to"),
            // Each side claims the word.
            Seam("doubled word", "we      go", "         go  on", "we go on"),
            Seam("doubled by early and late timing", "we     go", "         go on", "we go on"),
            Seam("a repeated word is kept", "very very", "     very  very good", "very very very good"),
            // The right side has only the end of a word that the left side has completely.
            Seam("end of a word", "we  something", "         ing to", "we something to"),
            // Words on the right side after the overlap never change.
            Seam("clause after the cut", "we", "           all go home now", "we all go home now"),
            // The left side recognized the first word of the clause differently and does not contain the rest.
            Seam("different first word", "    detective", "        activity  hall", "detective activity hall"),
            // The right side has no words where the left side withheld one.
            Seam("right side is empty", "we       so", "", "we so"),
            // The left side has no word where the right side has one before the cut.
            Seam("left side is empty", "we", "        so go on", "we so go on"),
            Seam("fragment at the other edge", "we", "       so go on", "we go on"),
            Seam("left side has the word slightly earlier", "we so", "        so go on", "we so go on"),
            // The last word of the left side is cut off by the end of its audio, so it is unreliable.
            Seam("fragment at the edge", "we       son~", "         something", "we something"),
        ])
    func typicalSeams(seam: Seam) {
        #expect(Rotation.stitch(seam.left, seam.right).joined(separator: " ") == seam.expected, "\(seam.name)")
    }

    struct Seam: Sendable {
        var name, left, right, expected, third: String

        init(_ name: String, _ left: String, _ right: String, _ expected: String, third: String = "") {
            (self.name, self.left, self.right, self.expected, self.third) = (name, left, right, expected, third)
        }
    }

    @Test(
        "if neither side has a word at the cut, there is a hole",
        arguments: [
            Hole("from word to word", "now go", "           we", 6...11),
            Hole("not farther than half a second beyond the overlap", "we", "                    go", 2.5...17.5),
            Hole("the left side has no word", "", "           we", 2.5...11),
            Hole("the right side has no word", "now we go", "", 9...17.5),
            Hole("the sides are adjacent", "now we  go", "          on", nil),
            Hole("no speech", "", "", nil),
        ])
    func hole(of hole: Hole) {
        var stitcher = Stitcher()
        _ = stitcher.handle(Rotation.left, Hypothesis(words: words(hole.left, from: 9)))
        let range = stitcher.hole(before: Rotation.right, Hypothesis(words: words(hole.right, from: 9)))
        let expected = hole.tenths.map {
            SampleRange(
                SamplePosition(seconds: 9 + $0.lowerBound / 10), SamplePosition(seconds: 9 + $0.upperBound / 10))
        }
        #expect(range == expected, "\(hole.name)")
    }

    struct Hole: Sendable {
        var name, left, right: String
        /// In tenths of a second after 9 s.
        var tenths: ClosedRange<Double>?

        init(_ name: String, _ left: String, _ right: String, _ tenths: ClosedRange<Double>?) {
            (self.name, self.left, self.right, self.tenths) = (name, left, right, tenths)
        }
    }

    @Test("silence between two utterances is not a hole")
    func silenceIsNoHole() {
        var stitcher = Stitcher()
        var left = Rotation.left
        left.endedBy = .silence
        _ = stitcher.handle(left, Hypothesis(words: words("now", from: 9)))
        #expect(stitcher.hole(before: Rotation.right, Hypothesis(words: words("             go", from: 9))) == nil)
    }

    @Test(
        "a hypothesis across the seam adds only the words in the hole",
        arguments: [
            Seam("one word", "now go", "           we", "now go so we", third: "how go  so we"),
            Seam("two words", "now", "           we", "now who can we", third: "now who can we"),
            Seam("mostly outside the hole", "now go", "        we", "now go we", third: "   going  we"),
            Seam(
                "the word before the hole, timed later", "now go", "            we", "now go we",
                third: "       go   we"),
            Seam("the word after the hole, timed earlier", "now go", "           we", "now go we", third: "       we"),
            Seam(
                "a word that reaches into the next", "now go", "           we can", "now go to can",
                third: "          to  can"),
            Seam(
                "two words instead of one that ends when they do", "now go", "           michel  was",
                "now go to show was", third: "          to show  wide"),
            Seam(
                "a word that reaches into the next and matches no later word", "now go", "           we   can",
                "now go we can", third: "          to  candies is"),
            Seam(
                "the word before the hole, timed into the next", "now   go", "            we can", "now go we can",
                third: "           go can"),
            Seam("no hole", "now we  go", "          on", "now we go on", third: "now    so on"),
        ])
    func acrossTheSeam(seam: Seam) {
        let stitched = Rotation.stitch(seam.left, seam.right, third: seam.third)
        #expect(stitched.joined(separator: " ") == seam.expected, "\(seam.name)")
    }

    @Test("words in the wrong order are sorted by time")
    func unsortedWords() {
        var stitcher = Stitcher()
        let right = Array(words("            one two", from: 9).reversed())
        _ = stitcher.handle(Rotation.left, Hypothesis(words: words("we", from: 9)))
        #expect(stitcher.handle(Rotation.right, Hypothesis(words: right)).text == "one two")
    }

    @Test("if the right side has two words for one that the left side withheld, they keep their times before the cut")
    func splitAcrossTheCut() {
        var stitcher = Stitcher()
        _ = stitcher.handle(Rotation.left, Hypothesis(words: words("we      mine", from: 9)))
        let right = words("        my kind", from: 9)
        #expect(stitcher.handle(Rotation.right, Hypothesis(words: right)).words == right)
    }

    @Test("an utterance that could not be decoded does not affect the next one")
    func undecodedUtterance() {
        var stitcher = Stitcher()
        var left = Rotation.left
        left.endedBy = .error
        let failed = stitcher.handle(left, Hypothesis())
        #expect(failed.words.isEmpty && failed.endedBy == .error)
        let next = stitcher.handle(Rotation.right, Hypothesis(words: words("        we  go on", from: 9)))
        #expect(next.text == "we go on")
        #expect(next.range.start >= failed.range.end)
    }

    @Test("speech without recognized words becomes an empty segment of the same length")
    func noWords() {
        var stitcher = Stitcher()
        let segment = stitcher.handle(Rotation.left, Hypothesis())
        #expect(segment.text.isEmpty)
        #expect(segment.confidence == 0)
        #expect(segment.range == Rotation.left.speech)
    }

    @Test("a word in the silence that two utterances share is committed once")
    func sharedSilence() {
        let seconds = { (value: Double) in SamplePosition(seconds: value) }
        var stitcher = Stitcher()
        let first = Utterance(
            id: 1, audio: SampleRange(.zero, seconds(2.25)), speech: SampleRange(seconds(0.25), seconds(2)),
            endedBy: .silence)
        let second = Utterance(
            id: 2, audio: SampleRange(seconds(2.1), seconds(4)), speech: SampleRange(seconds(2.35), seconds(3.75)),
            endedBy: .silence)
        let breath = Word("a", SampleRange(seconds(2.12), seconds(2.2)), confidence: 0.1)
        let told = Word("told", SampleRange(seconds(1), seconds(1.5)), confidence: 1)
        let more = Word("more", SampleRange(seconds(2.5), seconds(3)), confidence: 1)
        let texts = [
            stitcher.handle(first, Hypothesis(words: [told, breath])).text,
            stitcher.handle(second, Hypothesis(words: [breath, more])).text,
        ]
        #expect(texts == ["told a", "more"])
        #expect(stitcher.seams == 1)
    }
}
