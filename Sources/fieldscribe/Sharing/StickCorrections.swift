import Copying
import Core
import Maintenance
import Settings
import System
import Transcripts

/// The corrections saved on a stick, anywhere below its folder `Fieldscribe`. Names there may be hostile: links are not
/// followed; size, depth and number are limited.
enum StickCorrections {
    private static let deepest = 6
    private static let (maxFiles, maxNames) = (1_000, 100_000)
    /// The limits in bytes, of one file and of all texts.
    private static let (largest, most) = (16 << 20, 64 << 20)

    /// Imports all files and returns a line for each. A file that fails changes nothing and does not stop the others.
    static func importAll(from stick: String, _ place: ArchivePlace, _ configuration: Configuration) async -> [String] {
        guard let top = try? Folder(opening: stick).folder("Fieldscribe") else { return [] }
        var found: [(path: String, folder: Folder, name: String)] = []
        var lines: [String] = []
        search(in: top, path: "", depth: 0, &found, &lines)
        if found.count > maxFiles {
            found.removeLast()
            lines.append(
                "this stick has more than \(maxFiles) files of corrections, and the others were not read; remove some"
            )
        }
        // A confined process parses each; this process keeps little of it.
        var files: [(savedAt: Double, file: CorrectionImport.File)] = []
        var (seen, room): (Set<String>, Int) = ([], most)
        for (path, folder, name) in found {
            do {
                let bytes = try folder.content(ofFile: name, limit: largest)
                guard
                    case .corrections(let read) = try IncomingFile(confined: bytes, as: .corrections, name: path)
                        .content
                else {
                    continue
                }
                // A page saves its corrections twice: for itself and for the recorder.
                let text = read.text
                guard seen.insert(text).inserted else { continue }
                room -= text.utf8.count
                guard room >= 0 else {
                    lines.append(
                        "\(path): was not read: the corrections on this stick exceed \(most >> 20) MB; remove some"
                    )
                    break
                }
                files.append((read.savedAt, CorrectionImport.File(name: path, text: text)))
            } catch { lines.append(DeviceError(wrapping: error).message) }
        }
        // In the order in which they were saved, because the last one counts.
        for index in files.indices.sorted(by: { (files[$0].savedAt, $0) < (files[$1].savedAt, $1) }) {
            let file = files[index].file
            do {
                lines.append(try await place.acting { try await ImportCommand.importFile(file, place, configuration) })
            } catch { lines.append(DeviceError(wrapping: error).message) }
        }
        return lines
    }

    private static func search(
        in folder: Folder, path: String, depth: Int, _ found: inout [(path: String, folder: Folder, name: String)],
        _ lines: inout [String]
    ) {
        guard let names = try? folder.names(limit: maxNames + 1) else { return }
        if names.count > maxNames {
            let name = path.isEmpty ? "Fieldscribe" : String(path.dropLast())
            lines.append(
                "\(name): has more than \(maxNames) files, and not all were checked; put corrections into another folder"
            )
        }
        for name in names.sorted() where found.count <= maxFiles {
            switch (try? folder.status(name))?.kind {
            case .file where isCorrections(name): found.append((path + name, folder, name))
            case .folder where depth < deepest:
                guard let inner = try? folder.folder(name) else { continue }
                search(in: inner, path: "\(path)\(name)/", depth: depth + 1, &found, &lines)
            case nil where name.contains("\u{FFFD}") && (isCorrections(name) || !name.contains(".")):
                lines.append("\(path)\(name): was not read: its name is not UTF-8; rename it")
            default: break
            }
        }
    }

    /// `corrections.json`, `corrections NAME 7.html`, and a browser's second file, such as `corrections NAME 7 (1).html`.
    private static func isCorrections(_ name: String) -> Bool {
        name.hasPrefix("corrections") && (name.hasSuffix(".json") || name.hasSuffix(".html"))
    }
}
