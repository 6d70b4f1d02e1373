import Configuration
import Core
import Correcting
import Exporting
import Glibc
import Platform
import Upkeep

/// The corrections that somebody has saved on a stick, anywhere below its folder `Fieldscribe`. Names there are a stranger's: no link is
/// followed, and nothing is larger, deeper or more than people make it.
enum StickCorrections {
    private static let deepest = 6
    private static let most = 1_000
    private static let largest = 16 << 20

    /// Takes them all; what became of each, a line each. What fails changes nothing, and keeps no other from being taken.
    static func take(from stick: String, _ place: ArchivePlace, _ configuration: Configuration) async -> [String] {
        guard let top = try? Folder(opening: stick).folder("Fieldscribe") else { return [] }
        var found: [(path: String, folder: Folder, name: String)] = []
        look(in: top, path: "", depth: 0, &found)
        // In the order in which they were saved, since the later one counts; what cannot be read comes first.
        let times = found.map { time(of: $0.name, in: $0.folder) }
        found = found.indices.sorted { (times[$0], $0) < (times[$1], $1) }.map { found[$0] }
        var lines: [String] = []
        var seen: Set<[UInt8]> = []
        for (path, folder, name) in found {
            do {
                let bytes = try folder.openFile(name, O_RDONLY).content(limit: largest)
                // A page saves the same twice, to be read by itself and by the recorder; the other is the same again.
                let text = try incomingText(bytes, name: path)
                if let read = try? CorrectionsFile(text, name: path), !seen.insert(Array("\(read)".utf8)).inserted {
                    continue
                }
                let file = CorrectionImport.File(name: path, text: text)
                lines.append(try await place.acting { try await ImportCommand.take(file, place, configuration) })
            } catch {
                lines.append(DeviceError(wrapping: error).message)
            }
        }
        return lines
    }

    private static func time(of name: String, in folder: Folder) -> Double {
        guard let bytes = try? folder.openFile(name, O_RDONLY).content(limit: largest),
            let text = try? incomingText(bytes, name: name)
        else { return 0 }
        return (try? CorrectionsFile(text, name: name))?.savedAt ?? 0
    }

    private static func look(
        in folder: Folder, path: String, depth: Int, _ found: inout [(path: String, folder: Folder, name: String)]
    ) {
        guard let names = try? folder.names(limit: 100_000) else { return }
        for name in names.sorted() where found.count < most {
            switch (try? folder.status(name))?.kind {
            case .file where isCorrections(name): found.append((path + name, folder, name))
            case .folder where depth < deepest:
                guard let inner = try? folder.folder(name) else { continue }
                look(in: inner, path: "\(path)\(name)/", depth: depth + 1, &found)
            default: break
            }
        }
    }

    /// `corrections.json`, `corrections.html`, and what a browser makes of them where one is there: `corrections (1).html`.
    private static func isCorrections(_ name: String) -> Bool {
        name.hasPrefix("corrections") && (name.hasSuffix(".json") || name.hasSuffix(".html"))
    }
}
