import Core
import Exporting
import Glibc
import PocketSphinxRecognizer
import Recognizing
import WhisperRecognizer

/// What reads recordings.
package enum Engine: Hashable, Sendable {
    case pocketSphinx
    case whisper(WhisperModel)
    /// A program of the person's own.
    case command
}

extension Configuration {
    /// The engine that `recognizer.engine` comes to: for `auto` whisper.cpp where it and a model for it are there.
    package var engine: Engine {
        let whisper = WhisperModel(path: recognizer.whisperModel ?? "")
        switch recognizer.engine {
        case "whisper": return .whisper(whisper)
        case "auto": return (try? whisper.check()) == nil ? .pocketSphinx : .whisper(whisper)
        default: return recognizer.engine.hasPrefix("command:") ? .command : .pocketSphinx
        }
    }

    /// Whether a second pass is wanted, and the engine would read otherwise than in the first.
    package var readsTwice: Bool {
        guard engine == .pocketSphinx else { return false }
        return switch recognizer.secondPass {
        case .automatic: plan.secondPass
        case .yes: true
        case .no: false
        }
    }

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

    /// How to start a decode worker: this executable again, with its hidden subcommand.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied` where the model is not whole.
    package func workerCommand(profile: DecoderProfile) throws(DeviceError) -> WorkerCommand {
        switch engine {
        case .pocketSphinx: return try commandOfPocketSphinx(profile: profile)
        case .whisper(let whisper):
            if recognizer.whisperModel == nil {
                throw DeviceError(
                    .missing, "recognizer.engine",
                    "whisper needs a model of its own; name its file with recognizer.whisper-model")
            }
            try whisper.check()
            return WorkerCommand(
                path: Self.ownProgram, arguments: ["decode-worker", "--whisper-model", whisper.path],
                model: whisper.path, profile: profile.name)
        case .command: return try commandOfProgram(profile: profile)
        }
    }

    private static let ownProgram = "/proc/self/exe"

    private func commandOfPocketSphinx(profile: DecoderProfile) throws(DeviceError) -> WorkerCommand {
        let (folder, model) = (modelFolder(recognizer.model), model)
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
            path: Self.ownProgram,
            arguments: [
                "decode-worker", "--profile", profile.name, "--model", folder,
                "--language-model", model.languageModel, "--dictionary", model.dictionary,
                "--hint", recognizer.hint.rawValue, "--cache", cacheFolder,
            ] + vocabulary, model: folder, profile: profile.name, makesCopies: true)
    }

    /// What puts marks into transcripts on their way out.
    ///
    /// - Throws: `DeviceError` with `missing`, `denied` or `damaged` where the language model that is asked is not whole.
    package func punctuator() throws(DeviceError) -> Punctuator {
        guard recognizer.punctuation.isAutomatic else { return Punctuator(recognizer.punctuation) }
        let model = model
        try model.check()
        let sentences = try SentenceModel(path: model.languageModel)
        return Punctuator(recognizer.punctuation) { sentences.odds(before: $0, after: $1) }
    }

    /// A program of the person's own, which hears of settings by its environment alone: it loads what it likes.
    private func commandOfProgram(profile: DecoderProfile) throws(DeviceError) -> WorkerCommand {
        let words = recognizer.engine.dropFirst("command:".count).split(separator: " ").map(String.init)
        let program = words.first ?? ""
        guard program.hasPrefix("/"), access(program, X_OK) == 0 else {
            throw DeviceError(
                .missing, "access", status: errno,
                "\(program): recognizer.engine names a program that is not there or may not be run; name it by its whole "
                    + "path, or set recognizer.engine = pocketsphinx")
        }
        return WorkerCommand(path: program, arguments: Array(words.dropFirst()), model: program, profile: profile.name)
    }
}
