import Appliance
import AudioEncoder
import Core
import Glibc
import Platform
import PocketSphinxRecognizer

/// The models that are installed, and whether they are whole.
enum ModelsCommand: Command {
    static let name = "models"
    static let summary = "List the models that are installed, and check that they are whole."
    static let usage = "[NAME|FOLDER...] [--json]"
    static let details = """
        Models are folders in \(ModelFolder.debian) and in storage.directory/models. The star marks the one that
        recognizer.model chooses; transcribe and record can be told to take another.

          NAME|FOLDER        only these; without, all
          --json             one JSON array
        """
    static let options = (values: [String](), flags: ["--json"])

    private struct Row: Encodable {
        var name: String
        var path: String
        var language: String
        var sampleRate: Int
        var bytes: Int64
        var sha256: String
        var isChosen: Bool
        var problems: [String]
    }

    private static let blockBytes = 1 << 20

    static func run(_ arguments: Arguments) async throws {
        let configuration = try arguments.configuration()
        let chosen = configuration.modelFolder(configuration.recognizer.model)
        var models = ModelFolder.installed(in: configuration.modelFolders)
        if !models.contains(where: { $0.path == chosen }) { models.append(ModelFolder(path: chosen)) }
        if !arguments.rest.isEmpty {
            models = arguments.rest.map { ModelFolder(path: configuration.modelFolder($0)) }
        }
        let rows = try models.map { model in
            Row(
                name: model.name, path: model.path, language: model.language, sampleRate: model.sampleRate,
                bytes: model.bytes, sha256: try checksum(model), isChosen: model.path == chosen,
                problems: model.problems)
        }
        try Terminal.print(arguments.has("--json") ? jsonText(rows) : rows.map(text).joined())
        // A model that nobody asked for and nobody uses may be as it likes.
        let bad = rows.filter { !$0.problems.isEmpty && ($0.isChosen || !arguments.rest.isEmpty) }
        if let first = bad.first { throw Ending(status: lacksFile(first.path) ? 3 : 4) }
    }

    private static func lacksFile(_ path: String) -> Bool {
        do throws(DeviceError) { try ModelFolder(path: path).model.check() } catch { return error.code == .missing }
        return false
    }

    private static func text(_ row: Row) -> String {
        let language = row.language.isEmpty ? "language not told" : row.language
        let megabytes = (row.bytes + 500_000) / 1_000_000
        let head =
            "\(row.isChosen ? "*" : " ") \(row.name)  \(language)  \(row.sampleRate) Hz  \(megabytes) MB  "
            + "sha256 \(row.sha256.prefix(12))  \(row.path)\n"
        return head + row.problems.map { "    \($0)\n" }.joined()
    }

    /// As this prints it in the folder: `find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum`.
    private static func checksum(_ model: ModelFolder) throws -> String {
        let names = model.files.map { "." + $0.dropFirst(model.path.count) }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return Digest.of(try names.map { "\(try checksum("\(model.path)/\($0)"))  \($0)\n" }.joined())
    }

    private static func checksum(_ path: String) throws -> String {
        let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
        var digest = Digest()
        var block = [UInt8](repeating: 0, count: blockBytes)
        var position: Int64 = 0
        try block.withUnsafeMutableBytes { block in
            while true {
                let count = try file.read(into: block, at: position)
                if count == 0 { break }
                digest.add(UnsafeRawBufferPointer(rebasing: block[..<count]))
                position += Int64(count)
            }
        }
        return digest.finish()
    }
}
