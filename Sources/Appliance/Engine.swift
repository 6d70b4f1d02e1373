import Core
import PocketSphinxRecognizer
import Recognizing

extension Configuration {
    /// The model that the configuration names.
    package var model: PocketSphinxModel {
        PocketSphinxModel(
            folder: recognizer.model, languageModel: recognizer.languageModel, dictionary: recognizer.dictionary)
    }

    /// How to start a decode worker: this executable again, with its hidden subcommand.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied` where the model is not whole.
    package func workerCommand(profile: DecoderProfile) throws(DeviceError) -> WorkerCommand {
        let model = model
        try model.check()
        return WorkerCommand(
            path: "/proc/self/exe",
            arguments: [
                "decode-worker", "--profile", profile.name, "--model", recognizer.model, "--language-model",
                model.languageModel, "--dictionary", model.dictionary,
            ], model: recognizer.model)
    }
}
