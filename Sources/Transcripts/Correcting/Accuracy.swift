import Core

/// How well a recording was read, by what a person has put right in it. Pure.
///
/// Nobody hears all of a long recording again: so there are two figures, between which the truth lies. Words that nobody has looked at
/// count as right in one, and not at all in the other.
package struct Accuracy: Hashable, Sendable {
    /// Words of one range of confidence: how many there are, and how many a person left as they were.
    package struct Bin: Hashable, Sendable {
        /// In the segments that a person has changed or confirmed.
        package var words = 0
        /// Of these, those that stayed.
        package var right = 0
    }

    /// Against the whole text: at least so many errors.
    package private(set) var whole = WordErrors()
    /// Against the segments alone that a person has changed or confirmed: at most so many errors.
    package private(set) var heard = WordErrors()
    /// By confidence: below a quarter, a half, three quarters, and above.
    package private(set) var bins = [Bin](repeating: Bin(), count: 4)

    /// Nothing was read.
    package init() {}

    /// - Parameters:
    ///   - read: what an engine has read.
    ///   - base: what the person saw.
    ///   - corrected: what the person left, with the same segments.
    package init(of read: [Segment], base: [Segment], corrected: [Segment]) {
        // By the place: where a person has added lines, numbers are others.
        let before = Dictionary(base.map { ($0.range, $0) }) { first, _ in first }
        let words = read.flatMap(\.words)
        var next = 0
        for (index, segment) in corrected.enumerated() {
            // What was read up to the next segment, wherever the engine has cut.
            let end = index + 1 < corrected.count ? corrected[index + 1].range.start : SamplePosition(.max)
            let first = next
            while next < words.count, words[next].range.middle < end { next += 1 }
            let there = Array(words[first..<next])
            let errors = WordErrors(said: segment.text, read: there.map(\.text).joined(separator: " "))
            whole = whole + errors
            guard Self.isHeard(segment, before[segment.range]) else { continue }
            heard = heard + errors
            count(there, segment)
        }
    }

    /// The sum of both.
    package static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.whole = left.whole + right.whole
        sum.heard = left.heard + right.heard
        for (index, bin) in right.bins.enumerated() {
            sum.bins[index].words += bin.words
            sum.bins[index].right += bin.right
        }
        return sum
    }

    /// Whether a person has changed or confirmed anything in it.
    private static func isHeard(_ segment: Segment, _ before: Segment?) -> Bool {
        guard let before else { return true }
        return segment.text != before.text
            || zip(segment.words, before.words).contains { $0.confidence == 1 && $1.confidence < 1 }
    }

    private mutating func count(_ words: [Word], _ segment: Segment) {
        let steps = WordErrors.align(segment.words.map(\.key), words.map(\.key))
        for step in steps {
            let place: (index: Int, isRight: Bool)
            switch step {
            case .same(_, let index): place = (index, true)
            case .substituted(_, let index), .inserted(let index): place = (index, false)
            case .deleted: continue
            }
            let bin = min(3, Int(words[place.index].confidence * 4))
            bins[bin].words += 1
            if place.isRight { bins[bin].right += 1 }
        }
    }
}
