import Core
import System

/// Opens Moonshine and the aligner that determines the times of its words.
package struct MoonshineProvider: RecognizerProvider {
    private let options: WorkerOptions
    private var profile: MoonshineProfile

    /// - Throws: `DeviceError` with `unsupported` if Moonshine does not have the profile.
    package init(options: WorkerOptions) throws(DeviceError) {
        guard let profile = MoonshineProfile.all.first(where: { $0.name == options.profile }) else {
            throw options.missingProfileError("moonshine", MoonshineProfile.all.map(\.name))
        }
        self.init(options: options, profile: profile)
    }

    /// - Parameter profile: the profile to use instead of the one in the options.
    package init(options: WorkerOptions, profile: MoonshineProfile) {
        self.options = options
        self.profile = profile
        self.profile.prepacks = MachineMemory.totalMegabytes >= MoonshineModel.smallBoardMegabytes
    }

    package func open() throws(DeviceError) -> any Recognizer {
        let model = MoonshineModel(path: options.model ?? "\(MoonshineModel.packaged)/\(MoonshineModel.defaultName)")
        let reader = try MoonshineReader(model, profile: profile, phrases: phrases(), learned: learnedPhrases())
        let timing = PocketSphinxModel(
            folder: options.timingModel ?? PocketSphinxModel.debian, dictionary: options.dictionary)
        return MoonshineRecognizer(reader, timing: try ForcedAligner(model: timing))
    }

    /// Returns the phrases of the user's vocabulary, with classes expanded and without pronunciations.
    private func phrases() throws(DeviceError) -> [String] {
        guard let file = options.vocabulary else { return [] }
        let text = try content(ofFile: file, limit: VocabularyFile.maximumBytes)
        let vocabulary = VocabularyFile(String(decoding: text, as: UTF8.self))
        for problem in vocabulary.problems { options.report("\(file):\(problem.line): \(problem.reason)") }
        return vocabulary.phrases.map { $0.words.joined(separator: " ") }
    }

    private func learnedPhrases() -> [String] {
        VocabularyFile(options.learnedWords() ?? "").phrases.map { $0.words.joined(separator: " ") }
    }
}
