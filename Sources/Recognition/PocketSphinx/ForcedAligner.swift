import Core
internal import CPocketSphinx
import System

/// Finds the times of given words with PocketSphinx's acoustic model, in a search restricted to those words.
///
/// It has its own decoder without a language model. Use each object on one thread only. The library aborts the process
/// on some internal errors, so the aligner runs in a worker process.
package final class ForcedAligner: Timing {
    /// The maximum number of words in a decoder, which cannot remove any; then the decoder is replaced.
    private static let maxWords = 3_000
    /// The maximum number of written words in a piece.
    private static let maxInPiece = 1_000
    /// The beams, tried in order until the search reaches the end of the graph. The first takes a third less time than
    /// the second, and places 1 % more words within 50 ms.
    private static let beams: [(sound: Double, word: Double)] = [(1e-20, 1e-20), (1e-80, 1e-60), (1e-280, 1e-280)]
    /// The Gaussians per frame; four give no better result.
    private static let gaussians = "2"
    /// The probability of silence between words. With higher values, words begin within the preceding long pause. Of
    /// the values 1, 1e4, 1e8 and 1e12, this one places the most starts within 50 ms.
    private static let silence = "1e4"
    /// The distance in samples from the start of a frame, which covers 25.6 ms, to its center. Without this lag, the
    /// median start was 20 ms early.
    private static let lag: Int64 = 205

    private let model: PocketSphinxModel
    private let pronunciations: Pronunciations
    private var decoder: DecoderHandle
    private var frontEnd: FrontEnd
    /// The decoder's name of each word that it has learned.
    private var names: [String: String] = [:]
    private var part: [Float] = []

    /// Loads the acoustic model.
    ///
    /// - Parameter model: the model; its language model is not read.
    /// - Throws: `DeviceError` with `missing` or `denied` for an unreadable file, `damaged` for one that the library
    ///   rejects, `unsupported` for PocketSphinx 5.x, which does not export the required functions.
    package init(model: PocketSphinxModel) throws(DeviceError) {
        guard fieldscribe_ps_can_align() != 0 else {
            throw DeviceError(
                .unsupported, "ps_set_fsg",
                "PocketSphinx \(String(cString: fieldscribe_ps_version())) cannot find the times of words",
                remedy: "their times are estimated")
        }
        try model.check(readsText: false)
        self.model = model
        pronunciations = try Pronunciations(model: model)
        decoder = try Self.decoder(model)
        frontEnd = FrontEnd(decoder: decoder, warp: 1)
    }

    /// Creates a decoder without triphones, which takes half the time with equal results. If the model's definition
    /// cannot be rewritten or is rejected, the original is used.
    private static func decoder(_ model: PocketSphinxModel) throws(DeviceError) -> DecoderHandle {
        let settings = [
            "bestpath", "no", "lw", "1", "remove_silence", "no", "cmn", "batch", "topn", gaussians, "silprob", silence,
        ]
        let path = "\(model.acousticModel)/mdef"
        let bytes = try? content(ofFile: path, limit: 1 << 27)
        if let definition = bytes.flatMap({ ModelDefinition($0)?.withoutNeighbours }),
            let file = try? MemoryFile(definition, named: path, isSecret: false),
            // The library maps the file when it opens the decoder, and does not open it again.
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
        guard words.count <= Self.maxInPiece, samples.contains(where: { $0 != samples[0] }) else { return nil }
        let ways = pronunciations.choose(SpokenForm.forms(of: words))
        let spokenWords = Set(ways.joined().joined())
        guard !spokenWords.isEmpty, try learn(spokenWords), try listen(to: samples) else { return nil }
        // Of the decoder's names, which it also reports.
        let graph = WordGraph(ways.map { ways in ways.map { words in words.map { names[$0] ?? "" } } })
        for beam in Self.beams {
            let spoken = try search(graph, beam.sound, beam.word)
            guard !spoken.isEmpty, let places = graph.places(of: spoken.map(\.name)) else { continue }
            return Self.ranges(places, spoken.map(\.frames), of: samples.count)
        }
        return nil
    }

    /// Adds the pronunciations of new words to the decoder; returns false if it rejects all pronunciations of a word.
    private func learn(_ words: Set<String>) throws(DeviceError) -> Bool {
        if names.count + words.count > Self.maxWords {
            names = [:]
            decoder = try Self.decoder(model)
            frontEnd = FrontEnd(decoder: decoder, warp: 1)
        }
        let new = words.filter { names[$0] == nil }
        for (word, ways) in pronunciations.ways(of: new).sorted(by: { $0.key < $1.key }) {
            // Generated names, because the library parses parentheses in words as pronunciation numbers.
            let name = "w\(names.count)"
            var count = 0
            for way in ways where ps_add_word(decoder.pointer, count == 0 ? name : "\(name)(\(count + 1))", way, 0) >= 0
            {
                count += 1
            }
            guard count > 0 else { return false }
            names[word] = name
        }
        return true
    }

    /// Computes the frames of a piece and subtracts their mean; returns false if there are no frames.
    private func listen(to samples: UnsafeBufferPointer<Int16>) throws(DeviceError) -> Bool {
        frontEnd.begin()
        try frontEnd.append(samples)
        frontEnd.end()
        guard let mean = frontEnd.mean else { return false }
        part.removeAll(keepingCapacity: true)
        part.reserveCapacity(frontEnd.cepstra.count)
        for (index, value) in frontEnd.cepstra.enumerated() { part.append(value - mean[index % mean.count]) }
        return true
    }

    /// Searches for a path through the graph; empty if none is within the beams.
    private func search(
        _ graph: WordGraph, _ beam: Double, _ wordBeam: Double
    ) throws(DeviceError) -> [(name: String, frames: Range<Int64>)] {
        let words = CStrings(graph.words)
        defer { withExtendedLifetime(words) {} }
        try decoder.check(
            fieldscribe_ps_take_graph(
                decoder.pointer, Int32(graph.states), graph.from, graph.to, words.pointers,
                Int32(graph.words.count), beam, wordBeam), "ps_set_fsg")
        try decoder.start()
        let width = frontEnd.width
        var status = fieldscribe_ps_search(decoder.pointer, &part, Int32(width), Int32(part.count / width))
        if status >= 0 {
            var last = Array(part.suffix(width))
            status = fieldscribe_ps_search_end(decoder.pointer, &last)
        }
        let end = ps_end_utt(decoder.pointer)
        try decoder.check(min(status, end), "ps_process_cep")
        return decoder.words()
    }

    /// Returns the range of each written word: from its first to its last spoken word. A word without sound gets an
    /// empty range between its neighbors.
    private static func ranges(_ places: [Range<Int>], _ frames: [Range<Int64>], of samples: Int) -> [SampleRange] {
        func position(_ frame: Int64) -> SamplePosition {
            let sample = frame == 0 ? 0 : frame * PocketSphinxRecognizer.samplesPerFrame + lag
            return SamplePosition(min(sample, Int64(samples)))
        }
        return places.map { place in
            guard let last = place.last else {
                let start = place.lowerBound
                let edge = start > 0 ? frames[start - 1].upperBound : frames.first?.lowerBound ?? 0
                return SampleRange(position(edge), position(edge))
            }
            return SampleRange(position(frames[place.lowerBound].lowerBound), position(frames[last].upperBound))
        }
    }
}
