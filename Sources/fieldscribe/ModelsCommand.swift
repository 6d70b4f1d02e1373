import Appliance
import AudioEncoder
import Digests
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

        What may read, by recognizer.engine:

        \(EngineRegistry.all.map(explanation).joined(separator: "\n"))
        """
    static let options = (values: [String](), flags: ["--json"])

    private struct Row: Encodable {
        var name: String
        var path: String
        var engine: String
        var language: String
        var licence: String?
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
        var models = EngineRegistry.all.flatMap { engine in
            engine.models(in: configuration).map { (engine: engine.name, model: $0) }
        }
        let asked = arguments.rest.map { configuration.modelFolder($0) }
        if !asked.isEmpty {
            models = asked.compactMap { model(at: $0) }
        } else if !models.contains(where: { $0.model.path == chosen }), let model = model(at: chosen) {
            models.append(model)
        }
        let rows = try models.map { engine, model in
            Row(
                name: model.name, path: model.path, engine: engine, language: model.language, licence: model.licence,
                sampleRate: model.sampleRate, bytes: model.bytes, sha256: try checksum(model),
                isChosen: model.path == chosen, problems: model.problems)
        }
        try Terminal.print(arguments.has("--json") ? jsonText(rows) : rows.map(text).joined())
        // A model that nobody asked for and nobody uses may be as it likes.
        let bad = models.filter {
            !$0.model.problems.isEmpty && ($0.model.path == chosen || !arguments.rest.isEmpty)
        }
        if let first = bad.first { throw Ending(status: first.model.lacksFile ? 3 : 4) }
    }

    /// The model in a folder, by the first engine that knows its form.
    private static func model(at path: String) -> (engine: String, model: InstalledModel)? {
        for engine in EngineRegistry.all {
            if let model = engine.model(at: path) { return (engine.name, model) }
        }
        return nil
    }

    private static func explanation(of engine: any EngineEntry) -> String {
        let margin = String(repeating: " ", count: 21)
        let name = "  \(engine.form)"
        return """
            \(name)\(margin.dropFirst(name.count))\(engine.summary)
            \(margin)languages: \(engine.languages); licence: \(engine.licence)
            \(margin)needs \(engine.needs.joined(separator: ", "))
            """
    }

    private static func text(_ row: Row) -> String {
        let language = row.language.isEmpty ? "language not told" : row.language
        let megabytes = (row.bytes + 500_000) / 1_000_000
        let head =
            "\(row.isChosen ? "*" : " ") \(row.name)  \(language)  \(row.sampleRate) Hz  \(megabytes) MB  "
            + "sha256 \(row.sha256.prefix(12))  \(row.licence.map { "\($0)  " } ?? "")\(row.path)\n"
        return head + row.problems.map { "    \($0)\n" }.joined()
    }

    /// As this prints it in the folder: `find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum`.
    private static func checksum(_ model: InstalledModel) throws -> String {
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
