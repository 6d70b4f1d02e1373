import Core

/// Returns an event as one line of JSON, without its newline.
package func eventJSON(_ event: Event) throws -> String { try jsonObject(EventLine(event: event)) }

private struct EventLine: Encodable {
    var event: Event

    private enum CodingKeys: CodingKey {
        case event, state, rms, peak, recording, segment, start, end, text, confidence, endedBy, words, alternatives,
            unclear, cause, time, code, message, folder, recordings
    }

    func encode(to encoder: any Encoder) throws {
        var line = encoder.container(keyedBy: CodingKeys.self)
        switch event {
        case .state(let state):
            try line.encode("state", forKey: .event)
            try line.encode(state, forKey: .state)
        case .level(let rms, let peak):
            try line.encode("level", forKey: .event)
            try line.encode(decibels(rms), forKey: .rms)
            try line.encode(decibels(peak), forKey: .peak)
        case .partial(let recording, let segment, let range, let text):
            try line.encode("partial", forKey: .event)
            try line.encode(recording, forKey: .recording)
            try line.encode(segment, forKey: .segment)
            try encode(range, into: &line)
            try line.encode(text, forKey: .text)
        case .final(let recording, let segment):
            try line.encode("final", forKey: .event)
            try line.encode(recording, forKey: .recording)
            try encode(segment, into: &line)
        case .gap(let recording, let gap):
            try line.encode("gap", forKey: .event)
            try line.encode(recording, forKey: .recording)
            try encode(gap.range, into: &line)
            try line.encode(gap.cause, forKey: .cause)
        case .mark(let recording, let mark):
            try line.encode("mark", forKey: .event)
            try line.encode(recording, forKey: .recording)
            try line.encode(mark.position.seconds, forKey: .time)
            try line.encode(mark.text, forKey: .text)
        case .rotation(let recording, let position):
            try line.encode("rotation", forKey: .event)
            try line.encode(recording, forKey: .recording)
            try line.encode(position.seconds, forKey: .time)
        case .fault(let code, let message):
            try line.encode("fault", forKey: .event)
            try line.encode(code, forKey: .code)
            try line.encode(message, forKey: .message)
        case .export(let state, let folder, let message):
            try line.encode("export", forKey: .event)
            try line.encode(state, forKey: .state)
            try line.encode(folder, forKey: .folder)
            try line.encode(message, forKey: .message)
        case .laptop(let isConnected):
            try line.encode("laptop", forKey: .event)
            try line.encode(isConnected ? "connected" : "away", forKey: .state)
        case .opened(let recordings):
            try line.encode("opened", forKey: .event)
            try line.encode(recordings.isEmpty ? "locked" : "open", forKey: .state)
            try line.encode(recordings, forKey: .recordings)
        }
    }

    private func encode(_ segment: Segment, into line: inout KeyedEncodingContainer<CodingKeys>) throws {
        let body = SegmentJSON(segment)
        try line.encode(body.id, forKey: .segment)
        try line.encode(body.start, forKey: .start)
        try line.encode(body.end, forKey: .end)
        try line.encode(body.text, forKey: .text)
        try line.encode(body.confidence, forKey: .confidence)
        try line.encode(body.endedBy, forKey: .endedBy)
        try line.encode(body.words, forKey: .words)
        try line.encode(body.alternatives, forKey: .alternatives)
        try line.encodeIfPresent(body.unclear, forKey: .unclear)
    }

    private func encode(_ range: SampleRange, into line: inout KeyedEncodingContainer<CodingKeys>) throws {
        try line.encode(range.start.seconds, forKey: .start)
        try line.encode(range.end.seconds, forKey: .end)
    }
}

/// Rounds to 0.1 dB; digital silence (minus infinity) becomes -120, below 16 bits.
private func decibels(_ level: Double) -> Double { level > -120 ? (min(level, 120) * 10).rounded() / 10 : -120 }
