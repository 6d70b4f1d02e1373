import Core

/// A form in which a transcript leaves the house.
package enum TranscriptFormat: String, CaseIterable, Sendable {
    case text
    case json
    case jsonl
    case srt
    case vtt

    /// Without the dot.
    package var fileExtension: String {
        switch self {
        case .text: "txt"
        default: rawValue
        }
    }

    /// The whole file, in UTF-8 with a newline at its end; empty only where the format has no header and there is
    /// nothing to tell.
    package func render(_ timeline: Timeline) throws -> String {
        switch self {
        case .text: plainText(timeline)
        case .json: try jsonDocument(timeline)
        case .jsonl: try jsonLines(timeline)
        case .srt: subRip(timeline)
        case .vtt: webVTT(timeline)
        }
    }
}
