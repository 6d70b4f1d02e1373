import Core
import Glibc
import Maintenance
import Recognition
import Settings
import System

enum ModelsCommand: Command {
    static let name = "models"
    static let summary = "List, check or add recognition models."
    private static let modelName = Option(
        "--name", "NAME", "the model's name; default the name of the folder or package")
    private static let language = Option.parsed(
        "--language", "TAG", "its language, such as uk or pt-BR; default from its file LANGUAGE or its name",
        "not a language tag; use two or three letters, and - with a region if needed", parse: { LanguageTag($0) })
    private static let force = Option.flag("--force", "replace the model with this name")
    static let help: [any HelpPart] = [
        """
        Models are folders in storage.directory/models, in ~/.local/share/fieldscribe/models (XDG_DATA_HOME), and in
        packages. An asterisk marks the one in use, chosen by recognizer.engine, recognizer.model and recognizer.language;
        transcribe, record and demo can use another.
        """,
        Argument("[NAME|FOLDER...]", "only these; default all", .models), Option.json,
        Form(
            """
            add checks a model and installs it in the first of these folders that is writable; root is not needed.
            """),
        Argument(
            "add WHEEL|FOLDER",
            "a moonshine_voice-*.whl file (needs unzip), a folder made by deploy/model, or a PocketSphinx model",
            .files), modelName, language, force,
        "The engines, by their recognizer.engine value:\n\n\(EngineRegistry.all.map(explanation).joined(separator: "\n\n"))",
    ]

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

    static func run(_ arguments: Arguments) async throws {
        let configuration = try arguments.configuration()
        if arguments.rest.first == "add" { return try add(arguments, configuration) }
        let addOptions = [
            (arguments[modelName] != nil, "--name"), (arguments[language] != nil, "--language"),
            (arguments[force], "--force"),
        ]
        if let option = addOptions.first(where: \.0) { throw arguments.usage("\(option.1) works only with add") }
        let engine = configuration.engine
        let chosen = configuration.modelFolder(engine.modelOrProgram(in: configuration))
        var models = EngineRegistry.all.flatMap { engine in
            engine.models(in: configuration).map { (engine: engine.name, model: $0) }
        }
        let requested = arguments.rest.map { configuration.modelFolder($0) }
        if !requested.isEmpty {
            models = requested.compactMap { EngineRegistry.model(at: $0) }
        } else if !models.contains(where: { $0.model.path == chosen }), let model = engine.model(at: chosen) {
            models.append((engine: engine.name, model: model))
        }
        let rows = try models.map {
            try row($0.engine, $0.model, isChosen: $0.model.path == chosen && $0.engine == engine.name)
        }
        try Terminal.print(arguments[.json] ? jsonText(rows) : rows.map(text).joined())
        // A model that is neither named nor in use does not affect the exit status.
        let faulty = models.filter {
            !$0.model.problems.isEmpty && ($0.model.path == chosen || !arguments.rest.isEmpty)
        }
        if let first = faulty.first { throw ExitError(status: first.model.lacksFile ? 3 : 4) }
    }

    private static func add(_ arguments: Arguments, _ configuration: Configuration) throws {
        guard arguments.rest.count == 2 else {
            throw arguments.usage("give one wheel or folder after add")
        }
        // A model beside an archive belongs to the archive's owner, like all files there.
        if geteuid() == 0 { try ArchiveOwner(of: configuration.storage.directory).switchToOwner() }
        let (engine, model) = try configuration.modelStore().add(
            arguments.rest[1], name: arguments[modelName], language: arguments[language], replaces: arguments[force]
        ) { engine, folder throws(DeviceError) in try load(folder, engine, configuration) }
        let rows = [try row(engine, model, isChosen: false)]
        try Terminal.print(arguments[.json] ? jsonText(rows) : rows.map(text).joined())
    }

    /// Tries to load a model in a separate process, as a worker does. Does nothing if the engine is incomplete, because
    /// its other files may be installed later.
    private static func load(
        _ folder: String, _ engine: String, _ configuration: Configuration
    ) throws(DeviceError) {
        guard let entry = EngineRegistry.entry(named: engine), let profile = entry.profiles.first,
            let command = try? entry.command(configuration.with(model: folder, engine: engine), profile: profile)
        else { return }
        try command.load()
    }

    private static func row(_ engine: String, _ model: InstalledModel, isChosen: Bool) throws -> Row {
        Row(
            name: model.name, path: model.path, engine: engine, language: model.language, licence: model.licence,
            sampleRate: model.sampleRate, bytes: model.bytes, sha256: try model.checksum(), isChosen: isChosen,
            problems: model.problems)
    }

    private static func explanation(of engine: any EngineEntry) -> String {
        """
        \(engine.form): \(engine.summary). Languages: \(engine.languages). Licence: \(engine.licence). Needs
        \(engine.needs.joined(separator: ", ")).
        """
    }

    private static func text(_ row: Row) -> String {
        let language = row.language.isEmpty ? "language unknown" : row.language
        let licence = row.licence ?? "licence unknown"
        let megabytes = (row.bytes + 500_000) / 1_000_000
        let firstLine =
            "\(row.isChosen ? "*" : " ") \(row.name)  \(row.engine)  \(language)  \(row.sampleRate) Hz  \(megabytes) MB  "
            + "sha256 \(row.sha256.prefix(12))  \(licence)  \(row.path)\n"
        return firstLine + row.problems.map { "    \($0)\n" }.joined()
    }
}
