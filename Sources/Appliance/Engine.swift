import Core
import Glibc
import PocketSphinxRecognizer
import Recognizing

extension Configuration {
    /// The model that the configuration names.
    package var model: PocketSphinxModel {
        PocketSphinxModel(
            folder: modelFolder(recognizer.model), languageModel: recognizer.languageModel,
            dictionary: recognizer.dictionary)
    }

    /// Where models are looked for by their names: a person's own, then Debian's.
    package var modelFolders: [String] { ["\(storage.directory)/models", ModelFolder.debian] }

    /// The folder of a model that is named by its path or, in one of `modelFolders`, by its name.
    package func modelFolder(_ name: String) -> String {
        guard !name.contains("/") else { return name }
        return modelFolders.map { "\($0)/\(name)" }.first { access($0, F_OK) == 0 } ?? "\(modelFolders[0])/\(name)"
    }

    /// The same with another model, and what belongs to that, or with another vocabulary or hint; nil leaves it as it is.
    package func with(
        model name: String?, vocabulary: String? = nil, hint: Recognizer.Hint? = nil
    ) -> Configuration {
        var configuration = self
        if let hint { configuration.recognizer.hint = hint }
        if let vocabulary { configuration.recognizer.vocabulary = vocabulary }
        guard let name else { return configuration }
        configuration.recognizer.model = name
        configuration.recognizer.languageModel = nil
        configuration.recognizer.dictionary = nil
        return configuration
    }

    /// Where is kept what can be made again: in the archive's folder, or for who may not write there, in their own.
    package var cacheFolder: String {
        if access(storage.directory, W_OK) == 0 { return "\(storage.directory)/cache" }
        if let folder = getenv("XDG_CACHE_HOME"), folder.pointee != 0 {
            return String(cString: folder) + "/fieldscribe"
        }
        return (getenv("HOME").map { String(cString: $0) } ?? "/tmp") + "/.cache/fieldscribe"
    }

    /// How many decode workers: as configured, else one a core as far as the board's memory goes.
    package var workerCount: Int {
        guard recognizer.workers == 0 else { return recognizer.workers }
        let megabytes = sysconf(Int32(_SC_PHYS_PAGES)) / 1_024 * sysconf(Int32(_SC_PAGESIZE)) / 1_024
        return DecodePlan(
            for: DecodePlan.Board(
                cores: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))),
                availableMegabytes: megabytes - Self.systemMegabytes)
        ).workers
    }

    /// What the rest of a small board's system needs.
    private static let systemMegabytes = 256

    /// How to start a decode worker: this executable again, with its hidden subcommand.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied` where the model is not whole.
    package func workerCommand(profile: DecoderProfile) throws(DeviceError) -> WorkerCommand {
        // So far one engine is built in, so that `auto` is that.
        if recognizer.engine.hasPrefix("command:") { return try commandOfEngine(profile: profile) }
        let model = model
        try model.check()
        var vocabulary: [String] = []
        if let file = recognizer.vocabulary {
            guard access(file, R_OK) == 0 else {
                throw DeviceError(
                    errno == ENOENT || errno == ENOTDIR ? .missing : .denied, "access", status: errno,
                    "\(file): this vocabulary \(errno == EACCES ? "may not be read" : "is not there"); correct "
                        + "recognizer.vocabulary, or delete the line")
            }
            vocabulary = ["--vocabulary", file]
        }
        return WorkerCommand(
            path: "/proc/self/exe",
            arguments: [
                "decode-worker", "--profile", profile.name, "--model", modelFolder(recognizer.model),
                "--language-model",
                model.languageModel, "--dictionary", model.dictionary,
                "--hint", recognizer.hint.rawValue, "--cache", cacheFolder,
            ] + vocabulary, model: modelFolder(recognizer.model))
    }

    /// A program of the person's own, which hears of settings by its environment alone: it loads what it likes.
    private func commandOfEngine(profile: DecoderProfile) throws(DeviceError) -> WorkerCommand {
        let words = recognizer.engine.dropFirst("command:".count).split(separator: " ").map(String.init)
        let program = words.first ?? ""
        guard program.hasPrefix("/"), access(program, X_OK) == 0 else {
            throw DeviceError(
                .missing, "access", status: errno,
                "\(program): recognizer.engine names a program that is not there or may not be run; name it by its whole "
                    + "path, or set recognizer.engine = pocketsphinx")
        }
        return WorkerCommand(path: program, arguments: Array(words.dropFirst()), model: program)
    }
}
