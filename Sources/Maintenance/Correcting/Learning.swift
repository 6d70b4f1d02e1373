import Core
import Recognition
import Settings
import Transcripts

/// Adds corrected words to `learned.txt`, which can be rebuilt from the archive.
package struct Learning: Sendable {
    /// The maximum number of words to read in corrected recordings, newest first: about twenty hours of speech.
    private static let maximumWords = 200_000

    private let configuration: Configuration
    private let archive: any ArchiveReading

    /// - Parameter configuration: specifies the storage, the dictionary, and whether words are learned or proposed.
    package init(_ configuration: Configuration, archive: any ArchiveReading) {
        self.configuration = configuration
        self.archive = archive
    }

    /// Learns words from the new corrections.
    ///
    /// - Returns: the added words, the most often corrected words first; empty if `vocabulary.learn` is no.
    /// - Throws: `DeviceError` from `LearnedVocabulary.change`, or if the archive or the dictionary cannot be read.
    package func learn() async throws -> [String] {
        guard configuration.recognizer.learn != .no else { return [] }
        let learned = configuration.learned
        let evidence = try await evidence(since: learned.file().processedPasses)
        let dictionary = configuration.model.dictionary
        let candidates = try evidence.all.worthLearning { (words) throws(DeviceError) in
            try Lexicon.known(words, inDictionary: dictionary)
        }
        let found = candidates.map { key, phrase in
            LearnedFile.CorrectedPhrase(
                key: key, text: phrase.text, times: phrase.times, recordings: evidence.recordings[key] ?? [],
                isNew: evidence.newKeys.contains(key))
        }
        let isProposing = configuration.recognizer.learn == .ask
        return try learned.change { file in
            let added = file.add(found, proposing: isProposing)
            file.markProcessed(evidence.passes)
            return added
        }
    }

    /// Returns the keys of the words and phrases that people corrected in a recording's current text.
    static func correctedKeys(in recording: Int, of archive: any ArchiveReading) async throws -> Set<String> {
        let passes = try await archive.passes(of: recording)
        guard let last = passes.last(where: { $0.correction != nil && $0.isComplete }) else { return [] }
        return Set(try await missedPhrases(in: last, of: passes, in: archive).phrases.phrases.keys)
    }

    private struct Evidence {
        var all = MissedPhrases()
        /// The IDs of the recordings in which a phrase was corrected, by the phrase's key.
        var recordings: [String: [Int]] = [:]
        /// The keys of phrases that were corrected since the last run.
        var newKeys: Set<String> = []
        /// The position of the last processed pass, from 1, by recording ID.
        var passes: [Int: Int] = [:]
    }

    private func evidence(since processedPasses: [Int: Int]) async throws -> Evidence {
        var evidence = Evidence()
        var words = 0
        for summary in try await archive.recordings().sorted(by: { $0.id > $1.id }) where words < Self.maximumWords {
            let passes = try await archive.passes(of: summary.id)
            // Only the latest correction counts: it contains earlier ones, unless they are another person's.
            guard let last = passes.lastIndex(where: { $0.correction != nil && $0.isComplete }) else { continue }
            let (phrases, count) = try await Self.missedPhrases(in: passes[last], of: passes, in: archive)
            words += count
            evidence.all = evidence.all + phrases
            evidence.passes[summary.id] = last + 1
            for key in phrases.phrases.keys { evidence.recordings[key, default: []].append(summary.id) }
            let processed = processedPasses[summary.id] ?? 0
            guard processed < last + 1 else { continue }
            var knownTimes: [String: Int] = [:]
            if passes.indices.contains(processed - 1), passes[processed - 1].correction != nil {
                let (earlier, _) = try await Self.missedPhrases(in: passes[processed - 1], of: passes, in: archive)
                knownTimes = earlier.times
            }
            for (key, times) in phrases.times where times > knownTimes[key] ?? 0 { evidence.newKeys.insert(key) }
        }
        return evidence
    }

    /// Returns the phrases that a pass corrects in the engine's text, and the number of words in the pass.
    private static func missedPhrases(
        in pass: PassSummary, of passes: [PassSummary], in archive: any ArchiveReading
    ) async throws -> (phrases: MissedPhrases, words: Int) {
        guard let enginePass = passes.enginePass(under: pass),
            let old = try await archive.transcript(of: pass.recording, pass: enginePass.id)?.1.segments,
            let new = try await archive.transcript(of: pass.recording, pass: pass.id)?.1.segments
        else { return (MissedPhrases(), 0) }
        return (MissedPhrases(recognized: old, corrected: new), new.reduce(0) { $0 + $1.words.count })
    }
}
