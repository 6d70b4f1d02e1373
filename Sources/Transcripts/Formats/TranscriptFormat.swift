import Core
import System

/// An export format. Each is declared in the file that writes it, and listed in `allCases`.
package struct TranscriptFormat: Sendable {
    /// The name in `--format` and `export.formats`.
    package let rawValue: String
    /// Without the dot.
    package let fileExtension: String
    /// The file name in a recording's folder.
    package let fileName: String
    /// Whether it is a default of `export.formats`.
    package let isUsual: Bool
    /// Whether it names its recording, so several can be concatenated without headings.
    package let namesItsRecording: Bool
    /// Whether it contains `RecordingDetails.identity`.
    package let holdsIdentity: Bool

    /// Whether the file is a package of several; `render` then returns the one with the words.
    package var isPackage: Bool { package != nil }

    private let package: (@Sendable (_ title: String, _ content: String) -> [UInt8])?
    private let form: @Sendable (Timeline, RecordingDetails) throws -> String

    /// - Parameters:
    ///   - name: The name in `--format` and `export.formats`, in lower case.
    ///   - fileExtension: Without the dot; nil: the name.
    ///   - fileName: In a recording's folder; nil: `transcript` with the extension.
    ///   - package: Packs the text into several files, for a title of one line; nil if the text is the file.
    ///   - form: See `render`.
    init(
        _ name: String, fileExtension: String? = nil, fileName: String? = nil, isUsual: Bool = true,
        namesItsRecording: Bool = false, holdsIdentity: Bool = false,
        package: (@Sendable (_ title: String, _ content: String) -> [UInt8])? = nil,
        form: @escaping @Sendable (Timeline, RecordingDetails) throws -> String
    ) {
        rawValue = name
        self.fileExtension = fileExtension ?? name
        self.fileName = fileName ?? "transcript.\(fileExtension ?? name)"
        self.isUsual = isUsual
        self.namesItsRecording = namesItsRecording
        self.holdsIdentity = holdsIdentity
        self.package = package
        self.form = form
    }

    /// Returns the file in UTF-8 with a newline at its end; empty only if the format has no header and there is no
    /// content.
    ///
    /// - Parameter details: Additional facts, used by `eaf` and `html`.
    package func render(_ timeline: Timeline, details: RecordingDetails? = nil) throws -> String {
        try form(timeline, details ?? RecordingDetails(timeline))
    }

    /// Returns the bytes of the file: those of `render`, or of the package.
    package func file(_ timeline: Timeline, details: RecordingDetails? = nil) throws -> [UInt8] {
        let details = details ?? RecordingDetails(timeline)
        let text = try form(timeline, details)
        return package?(oneLine(details.title(of: timeline)), text) ?? Array(text.utf8)
    }
}

extension TranscriptFormat: RawRepresentable, CaseIterable, Hashable, CustomStringConvertible {
    /// All formats, in the manual's order. The first of a copy's formats shows whether its text has changed
    /// (`CopySettings.tellingFormat`), so a new first format would renew every copy.
    package static let allCases: [TranscriptFormat] = [
        .text, .json, .jsonl, .srt, .vtt, .csv, .textgrid, .eaf, .labels, .html, .qda, .docx,
        .odt, .markdown,
    ]

    package static var names: [String] { allCases.map(\.rawValue) }

    /// The format with this name; nil if there is none.
    package init?(rawValue: String) {
        guard let format = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = format
    }

    /// Whether a file has the name of a transcript in a recording's folder.
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
