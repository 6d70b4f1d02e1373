import Core
import Recognition
import System

/// Opens PocketSphinx with the vocabulary of an analysis.
struct PocketSphinxProvider: RecognizerProvider {
    let model: PocketSphinxModel
    let hint: TaskHint
    let vocabulary: String?
    let scratch: ScratchFolder?

    func open() throws(DeviceError) -> any Recognizer {
        let usual = hint == .search ? DecoderProfile.search : DecoderProfile.live
        guard let vocabulary, let scratch else { return try PocketSphinxRecognizer(model: model, profile: usual) }
        do throws(DeviceError) {
            let (prepared, outcome) = try model.prepare(vocabulary, keptIn: scratch.path)
            return try PocketSphinxRecognizer(
                model: prepared, profile: outcome.grammar == nil ? usual : DecoderProfile.confirmation)
        } catch {
            // Phrases without a word that can be heard prefer nothing.
            guard error.code == .unsupported else { throw error }
            Log.debug(.recognizing, "vocabulary", ["message": error.message])
            return try PocketSphinxRecognizer(model: model, profile: usual)
        }
    }
}

/// Opens Moonshine with the vocabulary of an analysis, and the aligner that times its words.
struct MoonshineProvider: RecognizerProvider {
    let model: MoonshineModel
    let timing: PocketSphinxModel
    let profile: MoonshineProfile
    let vocabulary: String?

    /// As in a worker process: the encoder's blocks go back to the system, which saves a quarter of the peak memory.
    private static let largestKept = 4 << 20

    func open() throws(DeviceError) -> any Recognizer {
        Heap.releaseBlocks(from: Self.largestKept)
        var phrases: [String] = []
        if let vocabulary {
            let text = try content(ofFile: vocabulary, limit: VocabularyFile.largest)
            phrases = VocabularyFile(String(decoding: text, as: UTF8.self)).phrases
                .map { $0.words.joined(separator: " ") }
        }
        let reader = try MoonshineReader(model, profile: profile, phrases: phrases, learned: [])
        return timed(reader, by: try ForcedAligner(model: timing))
    }
}
