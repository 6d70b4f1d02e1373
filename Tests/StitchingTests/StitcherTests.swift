import Testing

@testable import Core

/// Words drawn on a line: a column is 100 ms. `one` from its first to its last column; `~` ends a word's sound late.
func words(_ drawing: String, from start: Double = 0) -> [Word] {
    var words: [Word] = []
    var current = ""
    var begin = 0
    for (column, character) in (drawing + " ").enumerated() {
        if character != " " {
            if current.isEmpty { begin = column }
            current.append(character)
        } else if !current.isEmpty {
            let range = SampleRange(
                SamplePosition(seconds: start + Double(begin) / 10),
                SamplePosition(seconds: start + Double(column) / 10))
            words.append(Word(current.filter { $0 != "~" }, range, confidence: 1))
            current = ""
        }
    }
    return words
}

/// Two utterances that share 500 ms: the left ends at 10.25 s, the right begins at 9.75 s, the cut is at 10 s.
struct Rotation {
    static let cut = SamplePosition(seconds: 10)
    static let left = Utterance(
        id: 1, audio: SampleRange(.zero, SamplePosition(seconds: 10.25)),
        speech: SampleRange(SamplePosition(seconds: 0.25), cut), endedBy: .rotation)
    static let right = Utterance(
        id: 2, audio: SampleRange(SamplePosition(seconds: 9.75), SamplePosition(seconds: 20)),
        speech: SampleRange(cut, SamplePosition(seconds: 19.75)), endedBy: .silence)

    /// The committed words of two readings, and of one across the seam; the drawings begin at 9 s.
    static func stitch(_ one: String, _ two: String, third: String = "") -> [String] {
        var stitcher = Stitcher()
        let segments = [
            stitcher.handle(left, Hypothesis(words: words(one, from: 9))),
            stitcher.handle(right, Hypothesis(words: words(two, from: 9)), third: words(third, from: 9)),
        ]
        return segments.flatMap { $0.words.map(\.text) }
    }
}

@Suite("Stitcher") struct StitcherTests {
    @Test(
        "The catalogue of seams",
        arguments: [
            // Both sides agree. Columns: 9.0 s ... the overlap is 9.75 to 10.25, the cut at 10.0.
            Seam("plain", "now we   go", "         go on", "now we go on"),
            Seam("nothing in the overlap", "now", "              on", "now on"),
            // Dropped: each side gives the word to the other.
            Seam("dropped word", "we     ought", "       ought  to", "we ought to"),
            Seam("dropped by late and early timing", "we      ought", "      ought   to", "we ought to"),
            // Doubled: each side claims the word.
            Seam("doubled word", "we      go", "         go  on", "we go on"),
            Seam("doubled by early and late timing", "we     go", "         go on", "we go on"),
            Seam("said twice is kept twice", "very very", "     very  very good", "very very very good"),
            // Merged: the right side hears the end of a word that the left side has completely.
            Seam("glued tail", "we  something", "         ing to", "we something to"),
            // Missing clause: words of the right side after the overlap never change.
            Seam("clause behind the cut", "we", "           all go home now", "we all go home now"),
            // Missing clause: it begins with a word that the left side recognized differently, and continues after its audio.
            Seam("glued to the clause", "    detective", "        activity  hall", "detective activity hall"),
            // Missing tail: the right side has nothing where the left side withheld a word.
            Seam("right side is empty", "we       so", "", "we so"),
            // Missing head: the left side has nothing where the right side has a word before the cut.
            Seam("left side heard nothing", "we", "        so go on", "we so go on"),
            Seam("fragment at the other edge", "we", "       so go on", "we go on"),
            Seam("left side heard it a little before", "we so", "        so go on", "we so go on"),
            // Cut off at the edge of the left side's audio, so unreliable.
            Seam("fragment at the edge", "we       son~", "         something", "we something"),
        ])
    func catalogue(seam: Seam) {
        #expect(Rotation.stitch(seam.left, seam.right).joined(separator: " ") == seam.expected, "\(seam.name)")
    }

    struct Seam: Sendable {
        var name, left, right, expected, third: String

        init(_ name: String, _ left: String, _ right: String, _ expected: String, third: String = "") {
            (self.name, self.left, self.right, self.expected, self.third) = (name, left, right, expected, third)
        }
    }

    @Test(
        "without a word at the cut on either side there is a hole",
        arguments: [
            Hole("from word to word", "now go", "           we", 6...11),
            Hole("not farther than half a second beyond the overlap", "we", "                    go", 2.5...17.5),
            Hole("the left side has no word", "", "           we", 2.5...11),
            Hole("the right side has no word", "now we go", "", 9...17.5),
            Hole("the sides join", "now we  go", "          on", nil),
            Hole("no speech", "", "", nil),
        ])
    func hole(of hole: Hole) {
        var stitcher = Stitcher()
        _ = stitcher.handle(Rotation.left, Hypothesis(words: words(hole.left, from: 9)))
        let found = stitcher.hole(before: Rotation.right, Hypothesis(words: words(hole.right, from: 9)))
        let expected = hole.tenths.map {
            SampleRange(
                SamplePosition(seconds: 9 + $0.lowerBound / 10), SamplePosition(seconds: 9 + $0.upperBound / 10))
        }
        #expect(found == expected, "\(hole.name)")
    }

    struct Hole: Sendable {
        var name, left, right: String
        /// In tenths of a second after 9 s.
        var tenths: ClosedRange<Double>?

        init(_ name: String, _ left: String, _ right: String, _ tenths: ClosedRange<Double>?) {
            (self.name, self.left, self.right, self.tenths) = (name, left, right, tenths)
        }
    }

    @Test("Silence between two utterances is not a hole")
    func silenceIsNoHole() {
        var stitcher = Stitcher()
        var left = Rotation.left
        left.endedBy = .silence
        _ = stitcher.handle(left, Hypothesis(words: words("now", from: 9)))
        #expect(stitcher.hole(before: Rotation.right, Hypothesis(words: words("             go", from: 9))) == nil)
    }

    @Test(
        "a reading across the seam adds the words in the hole, and no others",
        arguments: [
            Seam("one word", "now go", "           we", "now go so we", third: "how go  so we"),
            Seam("two words", "now", "           we", "now who can we", third: "now who can we"),
            Seam("mostly beside the hole", "now go", "        we", "now go we", third: "   going  we"),
            Seam("the word before it, timed later", "now go", "            we", "now go we", third: "       go   we"),
            Seam("the word after it, timed earlier", "now go", "           we", "now go we", third: "       we"),
            Seam(
                "one that reaches into the next", "now go", "           we can", "now go to can",
                third: "          to  can"),
            Seam(
                "two, instead of one that ends with them", "now go", "           michel  was",
                "now go to show was", third: "          to show  wide"),
            Seam(
                "one that reaches into the next, and never agrees with it", "now go", "           we   can",
                "now go we can", third: "          to  candies is"),
            Seam(
                "the word before it, timed into the next", "now   go", "            we can", "now go we can",
                third: "           go can"),
            Seam("no hole", "now we  go", "          on", "now we go on", third: "now    so on"),
        ])
    func acrossTheSeam(seam: Seam) {
        let stitched = Rotation.stitch(seam.left, seam.right, third: seam.third)
        #expect(stitched.joined(separator: " ") == seam.expected, "\(seam.name)")
    }

    @Test("Swapped words come out in chronological order")
    func swapped() {
        var stitcher = Stitcher()
        let right = Array(words("            one two", from: 9).reversed())
        _ = stitcher.handle(Rotation.left, Hypothesis(words: words("we", from: 9)))
        #expect(stitcher.handle(Rotation.right, Hypothesis(words: right)).text == "one two")
    }

    @Test("A word that the left side withheld and the right side reads as two keeps its time before the cut")
    func splitAcrossTheCut() {
        var stitcher = Stitcher()
        _ = stitcher.handle(Rotation.left, Hypothesis(words: words("we      mine", from: 9)))
        let right = words("        my kind", from: 9)
        #expect(stitcher.handle(Rotation.right, Hypothesis(words: right)).words == right)
    }

    @Test("an utterance that could not be decoded does not affect its neighbor")
    func failedNeighbour() {
        var stitcher = Stitcher()
        var left = Rotation.left
        left.endedBy = .error
        let failed = stitcher.handle(left, Hypothesis())
        #expect(failed.words.isEmpty && failed.endedBy == .error)
        let next = stitcher.handle(Rotation.right, Hypothesis(words: words("        we  go on", from: 9)))
        #expect(next.text == "we go on")
        #expect(next.range.start >= failed.range.end)
    }

    @Test("speech without words is a segment without text, of the same length")
    func noWords() {
        var stitcher = Stitcher()
        let segment = stitcher.handle(Rotation.left, Hypothesis())
        #expect(segment.text.isEmpty)
        #expect(segment.confidence == 0)
        #expect(segment.range == Rotation.left.speech)
    }

    @Test("close utterances share silence; a word in it is committed once")
    func sharedSilence() {
        let second = { (value: Double) in SamplePosition(seconds: value) }
        var stitcher = Stitcher()
        let one = Utterance(
            id: 1, audio: SampleRange(.zero, second(2.25)), speech: SampleRange(second(0.25), second(2)),
            endedBy: .silence)
        let two = Utterance(
            id: 2, audio: SampleRange(second(2.1), second(4)), speech: SampleRange(second(2.35), second(3.75)),
            endedBy: .silence)
        let breath = Word("a", SampleRange(second(2.12), second(2.2)), confidence: 0.1)
        let reported = Word("told", SampleRange(second(1), second(1.5)), confidence: 1)
        let more = Word("more", SampleRange(second(2.5), second(3)), confidence: 1)
        let texts = [
            stitcher.handle(one, Hypothesis(words: [reported, breath])).text,
            stitcher.handle(two, Hypothesis(words: [breath, more])).text,
        ]
        #expect(texts == ["told a", "more"])
        #expect(stitcher.seams == 1)
    }
}
