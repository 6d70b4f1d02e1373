@testable import Core
@testable import Transcripts

private let segments = (1...3).map { id in
    let words = ["we", "crossed", "the", "river", "again"].enumerated().map { index, text in
        let start = SamplePosition(Int64(id * 100_000 + index * 10_000))
        return Word(text, SampleRange(start, start + 9_000), confidence: 0.5)
    }
    let start = SamplePosition(Int64(id * 100_000))
    return Segment(id: id, range: SampleRange(start, start + 50_000), words: words, endedBy: .silence)
}

private let timeline = Timeline(
    name: "x", length: SamplePosition(500_000), engine: EngineDescription(name: "x", version: "", model: ""),
    segments: segments)

/// Fuzzes corrections. The first byte chooses one of the transcript formats, or corrections from a page.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    guard let formatByte = bytes.first, let text = try? incomingText(Array(bytes.dropFirst()), name: "f") else {
        return 0
    }
    _ = RecordingIdentity(in: text)
    let kind = Int(formatByte) % (EditedTranscript.fileExtensions.count + 1)
    if kind == EditedTranscript.fileExtensions.count {
        guard let file = try? CorrectionsFile(text, name: "f") else { return 0 }
        for edit in file.edits { check(segments[0], edit.words) }
    } else if let edited = try? EditedTranscript(
        text, fileExtension: EditedTranscript.fileExtensions[kind], name: "f"),
        RecordingCapacity(timeline.length).excess(of: edited) == nil
    {
        var end = SamplePosition.zero
        for (index, line) in CorrectedText(edited, over: timeline).lines.enumerated() {
            precondition(line.segment.id == index + 1 && line.segment.range.start >= end)
            end = line.segment.range.end
            if line.segment.id == segments[min(index, 2)].id, line.segment.range == segments[min(index, 2)].range {
                check(segments[min(index, 2)], line.segment.words.map(\.text))
            }
        }
    }
    return 0
}

private func check(_ segment: Segment, _ words: [String]) {
    let corrected = CorrectedSegment(segment, words: words).segment
    precondition(corrected.words.map(\.text) == words)
    var end = segment.range.start
    for word in corrected.words {
        precondition(end <= word.range.start && word.range.start <= word.range.end)
        end = word.range.end
    }
    precondition(end <= segment.range.end)
}
