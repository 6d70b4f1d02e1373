import Core
import System

/// Returns an event as one line of JSON, without a newline.
package func eventJSON(_ event: Event) throws -> String { try jsonObject(EventLine(event: event)) }

private struct EventLine: Encodable {
    var event: Event

    private enum CodingKeys: CodingKey {
        case event, state, rms, peak, recording, segment, start, end, text, confidence, endedBy, words, alternatives,
            unclear, time, code, message, folder, recordings
    }

    func encode(to encoder: any Encoder) throws {
        var line = encoder.container(keyedBy: CodingKeys.self)
        // Members must not be optional: nil would be encoded as null instead of being left out.
        func write(_ name: String, _ members: KeyValuePairs<CodingKeys, any Encodable>) throws {
            try line.encode(name, forKey: .event)
            for (key, value) in members { try line.encode(value, forKey: key) }
        }
        switch event {
        case .state(let state): try write("state", [.state: state])
        case .level(let rms, let peak): try write("level", [.rms: decibels(rms), .peak: decibels(peak)])
        case .partial(let recording, let segment, let range, let text):
            try write(
                "partial",
                [
                    .recording: recording, .segment: segment, .start: range.start.seconds, .end: range.end.seconds,
                    .text: text,
                ])
        case .final(let recording, let segment):
            let body = SegmentJSON(segment)
            try write(
                "final",
                [
                    .recording: recording, .segment: body.id, .start: body.start, .end: body.end, .text: body.text,
                    .confidence: body.confidence, .endedBy: body.endedBy, .words: body.words,
                    .alternatives: body.alternatives,
                ])
            try line.encodeIfPresent(body.unclear, forKey: .unclear)
        case .gap(let recording, let gap):
            try write("gap", [.recording: recording])
            try GapJSON(gap).encode(to: encoder)
        case .mark(let recording, let mark):
            try write("mark", [.recording: recording, .time: mark.position.seconds, .text: mark.text])
        case .rotation(let recording, let position):
            try write("rotation", [.recording: recording, .time: position.seconds])
        case .fault(let code, let message): try write("fault", [.code: code, .message: message])
        case .export(let state, let folder, let message):
            try write("export", [.state: state, .folder: folder, .message: message])
        case .laptop(let isConnected): try write("laptop", [.state: isConnected ? "connected" : "away"])
        case .opened(let recordings):
            try write("opened", [.state: recordings.isEmpty ? "locked" : "open", .recordings: recordings])
        }
    }
}

/// Rounds to 0.1 dB. Digital silence (minus infinity) becomes -120, which is below the noise of 16-bit audio.
private func decibels(_ level: Double) -> Double { level > -120 ? (min(level, 120) * 10).rounded() / 10 : -120 }
