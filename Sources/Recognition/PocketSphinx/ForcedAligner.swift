import Core
internal import CPocketSphinx
import Glibc
import System

/// Finds where given words were said, by PocketSphinx's acoustic model: a search that can hear nothing else.
///
/// It has a decoder of its own, without a language model and with the words alone that it was asked for. One object, one
/// thread; where the library aborts, the worker process does.
package final class ForcedAligner: Timing {
    /// The decoder never forgets a word: with so many it is made anew.
    private static let mostWords = 3_000
    /// A piece has no more, written.
    private static let mostInPiece = 1_000
    /// Words are looked for within these shares of the best, the next where the graph's end was not reached. The first costs a
    /// third less than the second, and finds a word more in a hundred within 50 ms.
    private static let beams: [(sound: Double, word: Double)] = [(1e-20, 1e-20), (1e-80, 1e-60), (1e-280, 1e-280)]
    /// Gaussians that count in a frame; four tell no more.
    private static let gaussians = "2"
    /// How likely silence is between two words, against none: more than that, or the next word begins within a long pause. Of 1, 1e4, 1e8
    /// and 1e12 it finds most starts within 50 ms.
    private static let silence = "1e4"
    /// A frame hears 25.6 ms; what it tells lies in its middle. Without, starts were 20 ms early in the middle.
    private static let lag: Int64 = 205

    private let model: PocketSphinxModel
    private let pronunciations: Pronunciations
    private var decoder: DecoderHandle
    private var frontEnd: FrontEnd
    /// The decoder's names of the words that it knows.
    private var names: [String: String] = [:]
    /// What the decoder is given next.
    private var part: [Float] = []

    /// Loads the acoustic model.
    ///
    /// - Parameter model: its language model is not read.
    /// - Throws: `DeviceError` with `missing` or `denied` for a file that cannot be read, `damaged` for one that the library
    ///   refuses, `unsupported` where the library is 5.x, which keeps to itself what this needs.
    package init(model: PocketSphinxModel) throws(DeviceError) {
        guard fieldscribe_ps_can_align() != 0 else {
            throw DeviceError(
                .unsupported, "ps_set_fsg",
                "PocketSphinx \(String(cString: fieldscribe_ps_version())) cannot tell when words were said",
                remedy: "their times are estimated")
        }
        try model.check(readsText: false)
        self.model = model
        pronunciations = try Pronunciations(model: model)
        decoder = try Self.decoder(model)
        frontEnd = FrontEnd(decoder: decoder, warp: 1)
    }

    /// Sounds are heard alike whatever their neighbours are: that takes half of the time, and their places are found as well. A model whose
    /// definition cannot be rewritten, or is not taken so, is taken as it is.
    private static func decoder(_ model: PocketSphinxModel) throws(DeviceError) -> DecoderHandle {
        let settings = [
            "bestpath", "no", "lw", "1", "remove_silence", "no", "cmn", "batch", "topn", gaussians, "silprob", silence,
        ]
        let path = "\(model.acousticModel)/mdef"
        let bytes = try? content(ofFile: path, limit: 1 << 27)
        if let definition = bytes.flatMap({ ModelDefinition($0)?.withoutNeighbours }),
            let file = try? MemoryFile(definition, named: path, isSecret: false),
            // The library maps it now, and opens it no more.
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
        guard words.count <= Self.mostInPiece, samples.contains(where: { $0 != samples[0] }) else { return nil }
        let graph = WordGraph(pronunciations.choose(SpokenForm.forms(of: words)))
        guard !graph.words.isEmpty, try learn(Set(graph.words)) else { return nil }
        guard try listen(to: samples) else { return nil }
        for beam in Self.beams {
            guard let spoken = try search(graph, beam.sound, beam.word) else { continue }
            let said = spoken.map { nicknames[$0.name] ?? "" }
            guard let places = graph.places(of: said) else { continue }
            return Self.ranges(places, spoken.map(\.frames), of: samples.count)
        }
        return nil
    }

    private var nicknames: [String: String] = [:]

    /// Tells the decoder how words sound that it does not know; false for some that it cannot.
    private func learn(_ words: Set<String>) throws(DeviceError) -> Bool {
        if names.count + words.count > Self.mostWords {
            names = [:]
            nicknames = [:]
            decoder = try Self.decoder(model)
            frontEnd = FrontEnd(decoder: decoder, warp: 1)
        }
        let new = words.filter { names[$0] == nil }
        for (word, ways) in pronunciations.ways(of: new).sorted(by: { $0.key < $1.key }) {
            // Names of our own: the library reads brackets in them as numbers of ways.
            let name = "w\(names.count)"
            var count = 0
            for way in ways where ps_add_word(decoder.pointer, count == 0 ? name : "\(name)(\(count + 1))", way, 0) >= 0
            {
                count += 1
            }
            guard count > 0 else { return false }
            names[word] = name
            nicknames[name] = word
        }
        return true
    }

    /// Makes the frames of a piece, each without the mean of all; false where it has none.
    private func listen(to samples: UnsafeBufferPointer<Int16>) throws(DeviceError) -> Bool {
        frontEnd.begin()
        try frontEnd.hear(samples)
        frontEnd.end()
        guard let mean = frontEnd.mean else { return false }
        part.removeAll(keepingCapacity: true)
        part.reserveCapacity(frontEnd.cepstra.count)
        for (index, value) in frontEnd.cepstra.enumerated() { part.append(value - mean[index % mean.count]) }
        return true
    }

    /// Searches for a way through the graph; nil where there is none within the beams.
    private func search(
        _ graph: WordGraph, _ beam: Double, _ wordBeam: Double
    ) throws(DeviceError) -> [(name: String, frames: Range<Int64>)]? {
        let strings = graph.words.map { strdup(names[$0] ?? "") }
        defer { strings.forEach { free($0) } }
        try decoder.check(
            fieldscribe_ps_take_graph(
                decoder.pointer, Int32(graph.states), graph.from, graph.to, strings.map { UnsafePointer($0) },
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
        // Nothing, where the graph's end was not reached.
        let words = decoder.words()
        return words.isEmpty ? nil : words
    }

    /// From the start of the first spoken word of each to the end of its last; of one without sound, nothing between its
    /// neighbours.
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
