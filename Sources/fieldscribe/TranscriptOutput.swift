import Core
import Exporting
import Platform

/// Where the transcripts of several files go: standard output, or a folder.
struct TranscriptOutput: Sendable {
    private let folder: String?
    private let format: TranscriptFormat

    /// - Throws: `UsageError` where two inputs would become one file; `DeviceError` where the folder cannot be made.
    init(folder: String?, format: TranscriptFormat, inputs: [String]) throws {
        self.folder = folder
        self.format = format
        guard let folder else { return }
        var taken: [String: String] = [:]
        for input in inputs {
            let name = Self.name(of: input)
            if let other = taken.updateValue(input, forKey: name.lowercased()) {
                throw UsageError(
                    "transcribe: \(other) and \(input) would both become \(folder)/\(name).\(format.fileExtension); "
                        + "transcribe them into folders of their own")
            }
        }
        try makeFolder(folder)
    }

    func write(_ timeline: Timeline, of input: String) throws {
        let text = try format.render(timeline)
        guard let folder else { return try Terminal.print(text) }
        try durableReplace(path: "\(folder)/\(Self.name(of: input)).\(format.fileExtension)", with: Array(text.utf8))
    }

    /// The last part of a path, without the ending.
    private static func name(of path: String) -> String {
        if path == "-" { return "stdin" }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }
}
