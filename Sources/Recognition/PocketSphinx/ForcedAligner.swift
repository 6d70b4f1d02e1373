import Core
internal import CPocketSphinx
import System

/// Finds the times of given words with PocketSphinx's acoustic model, in a search restricted to those words.
///
/// The aligner has its own decoder, which has no language model. Use each object on one thread only. The library aborts
/// the process on some internal errors, so the aligner runs in a worker process.
package final class ForcedAligner: AlignmentEngine {
    /// The maximum number of words in a decoder. A decoder cannot remove words, so it is replaced beyond this limit.
    private static let maxWords = 3_000
    /// The maximum number of written words in a piece of audio.
    private static let maxWordsInPiece = 1_000
    /// The beams, tried in order until the search reaches the end of the graph. The first one takes a third less time
    /// than the second and puts 1 % more words within 50 ms of their true time.
    private static let beams: [(phone: Double, word: Double)] = [(1e-20, 1e-20), (1e-80, 1e-60), (1e-280, 1e-280)]
    /// The number of Gaussians per frame; four give no better results.
    private static let gaussians = "2"
    /// The weight of silence between words (`silprob`). With higher values, words begin too early, in the preceding
    /// pause. Of the values 1, 1e4, 1e8 and 1e12, this one puts the most starts within 50 ms of their true time.
    private static let silence = "1e4"
    /// The number of samples from the start of a frame to its center. A frame covers 25.6 ms. Without this correction,
    /// the median start was 20 ms early.
    private static let frameCenter: Int64 = 205

    private let model: PocketSphinxModel
    private let pronunciations: Pronunciations
    private var decoder: DecoderHandle
    private var frontEnd: FrontEnd
    /// The decoder's names for the words that were added to it.
    private var names: [String: String] = [:]
    private var normalizedCepstra: [Float] = []

    /// Loads the acoustic model.
    ///
    /// - Parameter model: the model, whose language model is not read.
    /// - Throws: `DeviceError` with `missing` or `denied` for an unreadable file, `damaged` for one that the library
    ///   rejects, `unsupported` for PocketSphinx 5.x, which does not export the required functions.
    package init(model: PocketSphinxModel) throws(DeviceError) {
        guard fieldscribe_ps_can_align() != 0 else {
            throw DeviceError(
                .unsupported, "ps_set_fsg",
                "PocketSphinx \(String(cString: fieldscribe_ps_version())) cannot find the times of words",
                remedy: "word times will be estimated")
        }
        try model.check(needsLanguageModel: false)
        self.model = model
        pronunciations = try Pronunciations(model: model)
        decoder = try Self.decoder(model)
        frontEnd = FrontEnd(decoder: decoder, warp: 1)
    }

    /// Creates a decoder without triphones, which takes half the time for equal results. If the model's definition
    /// cannot be rewritten or is rejected, the decoder uses the original.
    private static func decoder(_ model: PocketSphinxModel) throws(DeviceError) -> DecoderHandle {
        let settings = [
            "bestpath", "no", "lw", "1", "remove_silence", "no", "cmn", "batch", "topn", gaussians, "silprob", silence,
        ]
        let path = "\(model.acousticModel)/mdef"
        let bytes = try? content(ofFile: path, limit: 1 << 27)
        if let definition = bytes.flatMap({ ModelDefinition($0)?.withoutTriphones }),
            let file = try? MemoryFile(definition, named: path, isSecret: false),
            // The library maps the file while it creates the decoder, and does not need the path again.
            let decoder = withExtendedLifetime(
                file, { try? DecoderHandle(acousticsOf: model, settings: settings + ["mdef", file.path]) })
        {
            return decoder
        }
        return try DecoderHandle(acousticsOf: model, settings: settings)
    }

    package func times(
        of words: [String], in samples: UnsafeBufferPointer<Int16>
    ) throws(DeviceError) -> [SampleRange]? {
        guard !words.isEmpty else { return [] }
        guard words.count <= Self.maxWordsInPiece, samples.contains(where: { $0 != samples[0] }) else { return nil }
        let variants = pronunciations.choose(SpokenForm.forms(of: words))
        let spokenWords = Set(variants.joined().joined())
        guard !spokenWords.isEmpty, try addWords(spokenWords), try computeFrames(of: samples) else { return nil }
        // The graph contains the decoder's names for the words, because the decoder reports these names.
        let graph = WordGraph(variants.map { variants in variants.map { words in words.map { names[$0] ?? "" } } })
        for beam in Self.beams {
            let pathWords = try search(graph, beam.phone, beam.word)
            guard !pathWords.isEmpty, let wordRanges = graph.ranges(of: pathWords.map(\.name)) else { continue }
            return Self.ranges(wordRanges, pathWords.map(\.frames), of: samples.count)
        }
        return nil
    }

    /// Adds the pronunciations of new words to the decoder. Returns false if it rejects all pronunciations of a word.
    private func addWords(_ words: Set<String>) throws(DeviceError) -> Bool {
        if names.count + words.count > Self.maxWords {
            names = [:]
            decoder = try Self.decoder(model)
            frontEnd = FrontEnd(decoder: decoder, warp: 1)
        }
        let new = words.filter { names[$0] == nil }
        for (word, wordPronunciations) in pronunciations.pronunciations(of: new).sorted(by: { $0.key < $1.key }) {
            // The name is generated, because the library parses parentheses in words as pronunciation numbers.
            let name = "w\(names.count)"
            var count = 0
            for pronunciation in wordPronunciations {
                let entry = count == 0 ? name : "\(name)(\(count + 1))"
                if ps_add_word(decoder.pointer, entry, pronunciation, 0) >= 0 { count += 1 }
            }
            guard count > 0 else { return false }
            names[word] = name
        }
        return true
    }

    /// Computes the frames of a piece of audio and subtracts their mean. Returns false if there are no frames.
    private func computeFrames(of samples: UnsafeBufferPointer<Int16>) throws(DeviceError) -> Bool {
        frontEnd.begin()
        try frontEnd.append(samples)
        frontEnd.end()
        guard let mean = frontEnd.mean else { return false }
        normalizedCepstra.removeAll(keepingCapacity: true)
        normalizedCepstra.reserveCapacity(frontEnd.cepstra.count)
        for (index, value) in frontEnd.cepstra.enumerated() {
            normalizedCepstra.append(value - mean[index % mean.count])
        }
        return true
    }

    /// Returns the words on the best path through the graph; empty if no path is within the beams.
    private func search(
        _ graph: WordGraph, _ beam: Double, _ wordBeam: Double
    ) throws(DeviceError) -> [(name: String, frames: Range<Int64>)] {
        let words = CStrings(graph.words)
        defer { withExtendedLifetime(words) {} }
        try decoder.check(
            fieldscribe_ps_set_graph(
                decoder.pointer, Int32(graph.states), graph.from, graph.to, words.pointers,
                Int32(graph.words.count), beam, wordBeam), "ps_set_fsg")
        try decoder.start()
        let width = frontEnd.width
        let frameCount = normalizedCepstra.count / width
        var status = fieldscribe_ps_search(decoder.pointer, &normalizedCepstra, Int32(width), Int32(frameCount))
        if status >= 0 {
            var last = Array(normalizedCepstra.suffix(width))
            status = fieldscribe_ps_search_end(decoder.pointer, &last)
        }
        let end = ps_end_utt(decoder.pointer)
        try decoder.check(min(status, end), "ps_process_cep")
        return decoder.words()
    }

    /// Returns the range of each written word, from its first to its last spoken word. A word that is not spoken gets
    /// an empty range between its neighbors.
    private static func ranges(_ wordRanges: [Range<Int>], _ frames: [Range<Int64>], of samples: Int) -> [SampleRange] {
        func position(_ frame: Int64) -> SamplePosition {
            let sample = frame == 0 ? 0 : frame * PocketSphinxRecognizer.samplesPerFrame + frameCenter
            return SamplePosition(min(sample, Int64(samples)))
        }
        return wordRanges.map { wordRange in
            guard let last = wordRange.last else {
                let start = wordRange.lowerBound
                let edge = start > 0 ? frames[start - 1].upperBound : frames.first?.lowerBound ?? 0
                return SampleRange(position(edge), position(edge))
            }
            return SampleRange(position(frames[wordRange.lowerBound].lowerBound), position(frames[last].upperBound))
        }
    }
}
