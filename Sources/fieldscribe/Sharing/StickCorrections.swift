import Copying
import Core
import Maintenance
import Settings
import System
import Transcripts

/// The corrections saved on a stick, anywhere below its folder `Fieldscribe`. The stick is not trusted: links are not
/// followed, and the number, size and depth of files are limited.
enum StickCorrections {
    private static let maximumDepth = 6
    private static let (maxFiles, maxNames) = (1_000, 100_000)
    /// Limits in bytes, for one file and for all texts together.
    private static let (maximumFileBytes, maximumTotalBytes) = (16 << 20, 64 << 20)

    /// Imports the corrections and returns messages for the user. A file that fails changes nothing and does not stop
    /// the others.
    static func importAll(
        from stick: String, _ connection: ArchiveConnection, _ configuration: Configuration
    ) async -> [String] {
        guard let top = try? Folder(opening: stick).folder("Fieldscribe") else { return [] }
        var candidates: [(path: String, folder: Folder, name: String)] = []
        var lines: [String] = []
        search(in: top, path: "", depth: 0, &candidates, &lines)
        if candidates.count > maxFiles {
            candidates.removeLast()
            lines.append(
                "this stick has more than \(maxFiles) correction files, and the rest were not read; remove some"
            )
        }
        // A sandboxed process parses each file; this process keeps only the text and the time.
        var files: [(savedAt: Double, file: CorrectionImport.File)] = []
        var (uniqueTexts, bytesLeft): (Set<String>, Int) = ([], maximumTotalBytes)
        for (path, folder, name) in candidates {
            do {
                let bytes = try folder.content(ofFile: name, limit: maximumFileBytes)
                guard
                    case .corrections(let document) = try IncomingFile(confined: bytes, as: .corrections, name: path)
                        .content
                else {
                    continue
                }
                // A page saves its corrections in two files: for itself and for the recorder.
                let text = document.text
                guard uniqueTexts.insert(text).inserted else { continue }
                bytesLeft -= text.utf8.count
                guard bytesLeft >= 0 else {
                    lines.append(
                        "\(path): was not read: the corrections on this stick exceed \(maximumTotalBytes >> 20) MB; remove some"
                    )
                    break
                }
                files.append((document.savedAt, CorrectionImport.File(name: path, text: text)))
            } catch { lines.append(DeviceError(wrapping: error).message) }
        }
        // In the order in which they were saved, because the latest correction wins.
        for index in files.indices.sorted(by: { (files[$0].savedAt, $0) < (files[$1].savedAt, $1) }) {
            let file = files[index].file
            do {
                lines.append(
                    try await connection.asOwner { try await ImportCommand.importFile(file, connection, configuration) }
                )
            } catch { lines.append(DeviceError(wrapping: error).message) }
        }
        return lines
    }

    private static func search(
        in folder: Folder, path: String, depth: Int,
        _ candidates: inout [(path: String, folder: Folder, name: String)], _ lines: inout [String]
    ) {
        guard let names = try? folder.names(limit: maxNames + 1) else { return }
        if names.count > maxNames {
            let name = path.isEmpty ? "Fieldscribe" : String(path.dropLast())
            lines.append(
                "\(name): has more than \(maxNames) files, so not all were checked; move the corrections to another folder"
            )
        }
        for name in names.sorted() where candidates.count <= maxFiles {
            switch (try? folder.status(name))?.kind {
            case .file where isCorrections(name): candidates.append((path + name, folder, name))
            case .folder where depth < maximumDepth:
                guard let inner = try? folder.folder(name) else { continue }
                search(in: inner, path: "\(path)\(name)/", depth: depth + 1, &candidates, &lines)
            case nil where name.contains("\u{FFFD}") && (isCorrections(name) || !name.contains(".")):
                lines.append("\(path)\(name): was not read: its name is not UTF-8; rename it")
            default: break
            }
        }
    }

    /// True for `corrections.json`, `corrections NAME 7.html`, and a second download, `corrections NAME 7 (1).html`.
    private static func isCorrections(_ name: String) -> Bool {
        name.hasPrefix("corrections") && (name.hasSuffix(".json") || name.hasSuffix(".html"))
    }
}
