import Core

/// A form in which a transcript leaves the house.
package enum TranscriptFormat: String, CaseIterable, Sendable {
    case text
    case json
    case jsonl
    case srt
    case vtt
    case csv
    /// Praat.
    case textgrid
    /// ELAN.
    case eaf
    /// Audacity.
    case labels
    /// A page that plays the audio beside it.
    case html

    /// Without the dot.
    package var fileExtension: String {
        switch self {
        case .text: "txt"
        case .textgrid: "TextGrid"
        case .labels: "labels.txt"
        default: rawValue
        }
    }

    /// What the file is called in a recording's own folder.
    package var fileName: String {
        switch self {
        case .labels: "labels.txt"
        case .html: "index.html"
        default: "transcript.\(fileExtension)"
        }
    }

    /// The whole file, in UTF-8 with a newline at its end; empty only where the format has no header and there is
    /// nothing to tell.
    ///
    /// - Parameter details: what the transcript itself does not know; `eaf` and `html` show it.
    package func render(_ timeline: Timeline, details: RecordingDetails? = nil) throws -> String {
        let details = details ?? RecordingDetails(timeline)
        return switch self {
        case .text: plainText(timeline)
        case .json: try jsonDocument(timeline)
        case .jsonl: try jsonLines(timeline)
        case .srt: subRip(timeline)
        case .vtt: webVTT(timeline)
        case .csv: commaSeparated(timeline)
        case .textgrid: textGrid(timeline)
        case .eaf: annotationDocument(timeline, details)
        case .labels: audacityLabels(timeline)
        case .html: playerPage(timeline, details)
        }
    }
}
