import Core

/// A form in which a transcript leaves the house. Each is told in the file that writes it, and listed in `allCases`.
package struct TranscriptFormat: Sendable {
    /// As `--format` and `export.formats` name it.
    package let rawValue: String

    /// Without the dot.
    package let fileExtension: String

    /// What the file is called in a recording's own folder.
    package let fileName: String

    /// Whether `export.formats` has it by default.
    package let isUsual: Bool

    /// Whether it says itself which recording it is of, so that several may follow each other without a heading.
    package let namesItsRecording: Bool

    /// Whether it says in itself of which recording it is, where that is known (`RecordingDetails.identity`).
    package let holdsIdentity: Bool

    /// Whether the file is no text, but a package of several; `render` then gives the one with the words.
    package var isPackage: Bool { package != nil }

    private let package: (@Sendable (RecordingDetails, String) -> [UInt8])?
    private let form: @Sendable (Timeline, RecordingDetails) throws -> String

    /// - Parameters:
    ///   - name: as `--format` and `export.formats` name it: lower-case letters.
    ///   - fileExtension: without the dot; nil: the name.
    ///   - fileName: in a recording's own folder; nil: `transcript` with the extension.
    ///   - package: puts what `form` gives into a package of several files; nil where that is the file.
    ///   - form: gives the whole file, with a newline at its end; empty only where the format has no header and there is
    ///     nothing to tell. Throws where the transcript cannot be written so.
    init(
        _ name: String, fileExtension: String? = nil, fileName: String? = nil, isUsual: Bool = true,
        namesItsRecording: Bool = false, holdsIdentity: Bool = false,
        package: (@Sendable (RecordingDetails, String) -> [UInt8])? = nil,
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

    /// The whole file, in UTF-8 with a newline at its end; empty only where the format has no header and there is
    /// nothing to tell.
    ///
    /// - Parameter details: what the transcript itself does not know; `eaf` and `html` show it.
    package func render(_ timeline: Timeline, details: RecordingDetails? = nil) throws -> String {
        try form(timeline, details ?? RecordingDetails(timeline))
    }

    /// The bytes of the file: those of `render`, or of the package around it.
    package func file(_ timeline: Timeline, details: RecordingDetails? = nil) throws -> [UInt8] {
        let details = details ?? RecordingDetails(timeline)
        let text = try form(timeline, details)
        return package?(details, text) ?? Array(text.utf8)
    }
}

extension TranscriptFormat: RawRepresentable, CaseIterable, Hashable, CustomStringConvertible {
    /// Every format there is, in the order of the manual.
    package static let allCases: [TranscriptFormat] = [
        .text, .json, .jsonl, .srt, .vtt, .csv, .textgrid, .eaf, .labels, .html, .qda, .odt,
        .markdown,
    ]

    /// The format of that name; nil where there is none.
    package init?(rawValue: String) {
        guard let format = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = format
    }

    /// Whether a file is called as a transcript is in a recording's own folder.
    package static func isFileName(_ path: String) -> Bool {
        let name = path.split(separator: "/").last
        return allCases.contains { $0.fileName[...] == name }
    }

    package static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }

    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    package var description: String { rawValue }
}
