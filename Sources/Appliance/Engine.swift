import Core
import Glibc
import PocketSphinxRecognizer
import Recognizing

extension Configuration {
    /// The model that the configuration names.
    package var model: PocketSphinxModel {
        PocketSphinxModel(
            folder: recognizer.model, languageModel: recognizer.languageModel, dictionary: recognizer.dictionary)
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
