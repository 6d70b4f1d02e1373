import Core

/// Tiers, the parallel tracks of annotations in ELAN and Praat. The spans on a tier are in chronological order, do not
/// overlap and are not empty, and words are within their segments. If an engine's times break these rules, they are
/// moved as little as necessary.
struct Tiers {
    struct Span: Equatable {
        var start: Int64
        var end: Int64
        var text: String
    }

    var segments: [Span] = []
    /// The words of each segment, in the order of `segments`.
    var words: [[Span]] = []
    var gaps: [Span] = []
    /// Each speaker's turns, with the name and a unique tier name; empty if there is only one speaker.
    var speakers: [(name: String, tier: String, spans: [Span])] = []
    /// Ranges in which two people speak at once, with their names: `A, B`.
    var overlaps: [Span] = []
    /// Marks at distinct points in time.
    var marks: [(time: Int64, text: String)] = []
    /// The end of the recording, or of its content if that is later; at least 1.
    var end: Int64

    /// - Parameter unit: Converts a position to the tool's integer unit of time.
    init(_ timeline: Timeline, unit: (SamplePosition) -> Int64) {
        end = max(1, unit(timeline.length))
        addSegments(of: timeline, unit: unit)
        addSpeakers(of: timeline, unit: unit)
        let ordered = timeline.gaps.sorted { $0.range.start < $1.range.start }
        gaps = Self.separated(
            ordered.map { Span(start: unit($0.range.start), end: unit($0.range.end), text: description(of: $0)) },
            from: 0)
        for mark in timeline.marks.sorted(by: { $0.position < $1.position }) {
            let time = max(0, unit(mark.position))
            let text = oneLine(mark.text)
            if let last = marks.last, last.time == time {
                marks[marks.count - 1].text = [last.text, text].filter { !$0.isEmpty }.joined(separator: " / ")
            } else {
                marks.append((time, text))
            }
        }
        end = max(end, segments.last?.end ?? 0, gaps.last?.end ?? 0, (marks.last?.time ?? -1) + 1)
    }

    private mutating func addSegments(of timeline: Timeline, unit: (SamplePosition) -> Int64) {
        var earliestStart: Int64 = 0
        for (index, segment) in timeline.segments.enumerated() {
            let start = max(earliestStart, unit(segment.range.start))
            let spoken = segment.words.map { (oneLine($0.text), $0.range) }.filter { !$0.0.isEmpty }
            let wordSpans = Self.separated(
                spoken.map { Span(start: unit($0.1.start), end: unit($0.1.end), text: $0.0) }, from: start)
            let minEnd = max(start + 1, wordSpans.last?.end ?? 0)
            var end = max(minEnd, unit(segment.range.end))
            if index + 1 < timeline.segments.count {
                end = max(minEnd, min(end, unit(timeline.segments[index + 1].range.start)))
            }
            segments.append(Span(start: start, end: end, text: label(of: segment)))
            words.append(wordSpans)
            earliestStart = end
        }
    }

    /// Adds turns and overlaps. A turn ends with its segment at the latest.
    private mutating func addSpeakers(of timeline: Timeline, unit: (SamplePosition) -> Int64) {
        guard timeline.hasSeveralSpeakers, let count = timeline.speakers?.count else { return }
        var spans = [[Span]](repeating: [], count: count)
        for segment in timeline.segments {
            for turn in timeline.turns(of: segment) {
                let text = oneLine(turn.words.map(\.text).joined(separator: " "))
                guard let speaker = turn.speaker, !text.isEmpty, let first = turn.words.first,
                    let last = turn.words.last
                else { continue }
                spans[speaker].append(Span(start: unit(first.range.start), end: unit(last.range.end), text: text))
            }
        }
        let names = spans.indices.map { oneLine(timeline.name(ofSpeaker: $0)) }
        speakers = spans.enumerated().map { speaker, spans in
            let separated = Self.separated(spans, from: 0)
            end = max(end, separated.last?.end ?? 0)
            var tier = names[speaker]
            if names.count(where: { $0 == tier }) > 1 {
                repeat { tier += " (\(Speakers.label(speaker)))" } while names.contains(tier)
            }
            return (names[speaker], "speaker \(tier)", separated)
        }
        let overlapSpans = timeline.speakers?.alongside.compactMap { turn -> Span? in
            guard let speakers = timeline.speakers, let main = speakers.speaker(of: turn.range), main != turn.speaker
            else { return nil }
            let pair = [main, turn.speaker].sorted().map { names[$0] }
            return Span(start: unit(turn.range.start), end: unit(turn.range.end), text: pair.joined(separator: ", "))
        }
        overlaps = Self.separated(overlapSpans ?? [], from: 0)
        end = max(end, overlaps.last?.end ?? 0)
    }

    /// Shortens each span that overlaps the next. If the span would be empty, delays the next instead.
    private static func separated(_ spans: [Span], from first: Int64) -> [Span] {
        var separated: [Span] = []
        for (index, span) in spans.enumerated() {
            let start = max(span.start, separated.last?.end ?? first)
            let next = index + 1 < spans.count ? spans[index + 1].start : .max
            separated.append(Span(start: start, end: max(start + 1, min(span.end, next)), text: span.text))
        }
        return separated
    }
}

/// The text shown for a segment whose result the engine rejected as improbable.
let unclearText = "[unclear]"

extension Segment {
    /// The segment's text, or `[unclear]`.
    package var shownText: String { heldBack == nil ? text : unclearText }

    /// The segment's words, or the single word `[unclear]`.
    var shownWords: [Word] { heldBack == nil ? words : [Word(unclearText, range, confidence: 0)] }
}

/// Returns a segment's text, or a label in brackets if it has no text.
func label(of segment: Segment) -> String {
    let text = oneLine(segment.shownText)
    if !text.isEmpty { return text }
    return segment.endedBy == .error ? "[not read]" : "[no words]"
}
