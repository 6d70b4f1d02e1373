import Core
import System

/// An export format. Each is declared in the file that implements it, and listed in `allCases`.
package struct TranscriptFormat: Sendable {
    package let rawValue: String
    package let fileExtension: String
    package let fileName: String
    /// Whether the default value of `export.formats` contains the format.
    package let isUsual: Bool
    /// Whether a file names its recording, so that several can be concatenated without headings.
    package let namesItsRecording: Bool
    /// Whether a file contains `RecordingDetails.identity`.
    package let holdsIdentity: Bool

    /// Whether the file is a package of several files; `render` then returns the one with the transcript.
    package var isPackage: Bool { package != nil }

    private let package: (@Sendable (_ title: String, _ content: String) -> [UInt8])?
    private let renderer: @Sendable (Timeline, RecordingDetails) throws -> String

    /// - Parameters:
    ///   - name: The name in `--format` and `export.formats`, in lower case.
    ///   - fileExtension: The extension without the dot. If nil, it is the name.
    ///   - fileName: The file name in a recording's folder. If nil, it is `transcript` with the extension.
    ///   - package: Packs the content with other files, which contain the title (a single line); nil if the rendered
    ///     text is the whole file.
    ///   - renderer: See `render`.
    init(
        _ name: String, fileExtension: String? = nil, fileName: String? = nil, isUsual: Bool = true,
        namesItsRecording: Bool = false, holdsIdentity: Bool = false,
        package: (@Sendable (_ title: String, _ content: String) -> [UInt8])? = nil,
        renderer: @escaping @Sendable (Timeline, RecordingDetails) throws -> String
    ) {
        rawValue = name
        self.fileExtension = fileExtension ?? name
        self.fileName = fileName ?? "transcript.\(fileExtension ?? name)"
        self.isUsual = isUsual
        self.namesItsRecording = namesItsRecording
        self.holdsIdentity = holdsIdentity
        self.package = package
        self.renderer = renderer
    }

    /// Returns the transcript, ending with a newline; empty only if the format has no header and there is no content.
    ///
    /// - Parameter details: Additional facts for formats that contain them, such as `eaf` and `html`.
    package func render(_ timeline: Timeline, details: RecordingDetails? = nil) throws -> String {
        try renderer(timeline, details ?? RecordingDetails(timeline))
    }

    /// Returns the file's bytes: the rendered text in UTF-8, or the package.
    package func file(_ timeline: Timeline, details: RecordingDetails? = nil) throws -> [UInt8] {
        let details = details ?? RecordingDetails(timeline)
        let text = try renderer(timeline, details)
        return package?(oneLine(details.title(of: timeline)), text) ?? Array(text.utf8)
    }
}

extension TranscriptFormat: RawRepresentable, CaseIterable, Hashable, CustomStringConvertible {
    /// All formats, in the manual's order. A new format must not come first: `CopySettings.comparedFormat` would
    /// change, and all copies would be written again.
    package static let allCases: [TranscriptFormat] = [
        .text, .json, .jsonl, .srt, .vtt, .csv, .textgrid, .eaf, .labels, .html, .qda, .docx,
        .odt, .markdown,
    ]

    package static var names: [String] { allCases.map(\.rawValue) }

    /// Returns nil if no format has this name.
    package init?(rawValue: String) {
        guard let format = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = format
    }

    /// Whether a path's file name is that of a transcript in a recording's folder.
    package static func isFileName(_ path: String) -> Bool {
        let name = path.split(separator: "/").last
        return allCases.contains { $0.fileName[...] == name }
    }

    package static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }

    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    package var description: String { rawValue }
}

extension Option where Value == TranscriptFormat {
    package static var format: Self {
        choice("--format", "F", of: TranscriptFormat.allCases, named: \.rawValue, default: .text)
    }
}

extension TranscriptFormat {
    /// Writes a transcript to standard output.
    ///
    /// - Throws: `UsageError` for a binary format on a terminal.
    package func print(_ timeline: Timeline, details: RecordingDetails) throws {
        if isPackage {
            try Terminal.print(file(timeline, details: details), of: rawValue, fileExtension: fileExtension)
        } else {
            try Terminal.print(render(timeline, details: details))
        }
    }
}
