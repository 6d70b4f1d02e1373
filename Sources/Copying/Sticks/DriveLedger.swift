import Core
import Glibc
import System

/// Lists the copies in the drive's image. Stored in a file beside the image.
///
/// The archive's ledger does not list them, because `storage.after-export` deletes recordings that it lists, and a copy
/// on the same card is no replacement.
package actor DriveLedger: ExportLedger {
    private let path: String
    private var entries: [ExportEntry]

    /// Reads the latest entry for each folder. Skips malformed lines; the copies that they listed are verified again.
    ///
    /// - Throws: `DeviceError` if the file cannot be read or written.
    package init(path: String) throws(DeviceError) {
        self.path = path
        var latest: [String: ExportEntry] = [:]
        if pathExists(path) {
            for line in String(decoding: try content(ofFile: path), as: UTF8.self).split(separator: "\n") {
                if let entry = Self.entry(line) { latest[entry.folder] = entry }
            }
        }
        entries = latest.values.sorted { ($0.recording, $0.exportedAt) < ($1.recording, $1.exportedAt) }
        try durableReplace(path: path, with: entries.map(Self.line).joined())
    }

    package func exports(to volume: String) -> [ExportEntry] { entries.filter { $0.volume == volume } }

    package func exports(of recording: Int) -> [ExportEntry] { entries.filter { $0.recording == recording } }

    package func add(_ entry: ExportEntry) throws {
        let file = try FileDescriptor(opening: path, O_WRONLY | O_APPEND | O_NOFOLLOW)
        try rethrowing { try Array(Self.line(entry).utf8).withUnsafeBytes { try file.write($0) } }
        entries.append(entry)
    }

    private static func line(_ entry: ExportEntry) -> String {
        let pass = entry.pass.map(String.init) ?? "-"
        let fields = [
            "\(entry.recording)", pass, "\(entry.exportedAt)", entry.volume, entry.folder, entry.manifest,
        ]
        return fields.joined(separator: "\t") + "\n"
    }

    private static func entry(_ line: Substring) -> ExportEntry? {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 6, let recording = Int(fields[0]), recording > 0, let time = Double(fields[2]),
            fields[1] == "-" || Int(fields[1]) != nil
        else { return nil }
        return ExportEntry(
            recording: recording, pass: Int(fields[1]), volume: fields[3], folder: fields[4], manifest: fields[5],
            exportedAt: time)
    }
}
