import Core
import Recognition
import Settings
import Transcripts

/// Writes what people have put right into `learned.txt`. All of it is in the archive, too, so that the file can be made again.
package struct Learning: Sendable {
    /// So many corrected words are looked at, those of the newest recordings: some twenty hours of speech.
    private static let mostWords = 200_000

    private let configuration: Configuration
    private let archive: any ArchiveReading

    /// - Parameter configuration: names the storage, the dictionary, and whether words are learned, or proposed.
    package init(_ configuration: Configuration, archive: any ArchiveReading) {
        self.configuration = configuration
        self.archive = archive
    }

    /// Learns from everything in the archive that was not learned from yet.
    ///
    /// - Returns: what was added, as it was written, the most often corrected first; nothing where `vocabulary.learn` is no.
    /// - Throws: `DeviceError` as `LearnedVocabulary.change`, or where the archive or the dictionary cannot be read.
    package func learn() async throws -> [String] {
        guard configuration.recognizer.learn != .no else { return [] }
        let learned = configuration.learned
        let seen = try learned.file().seen
        let evidence = try await evidence(since: seen)
        let dictionary = configuration.model.dictionary
        let worth = try evidence.all.worthLearning { (words) throws(DeviceError) in
            try Lexicon.known(words, inDictionary: dictionary)
        }
        let found = worth.map { key, phrase in
            LearnedFile.Found(
                key: key, text: phrase.text, times: phrase.times, recordings: evidence.recordings[key] ?? [],
                isNew: evidence.new.contains(key))
        }
        let isProposing = configuration.recognizer.learn == .ask
        return try learned.change { file in
            let added = file.add(found, proposing: isProposing)
            file.see(evidence.passes)
            return added
        }
    }

    /// The words and phrases that people have corrected in a recording, as its text is now, by their keys.
    static func corrected(in recording: Int, of archive: any ArchiveReading) async throws -> Set<String> {
        let passes = try await archive.passes(of: recording)
        guard let last = passes.last(where: { $0.correction != nil && $0.isComplete }) else { return [] }
        return Set(try await missed(in: last, of: passes, in: archive).phrases.phrases.keys)
    }

    private struct Evidence {
        var all = MissedPhrases()
        /// Which recordings each phrase was corrected in.
        var recordings: [String: [Int]] = [:]
        /// What was corrected since.
        var new: Set<String> = []
        /// Up to which reading of each recording this goes, counted within it.
        var passes: [Int: Int] = [:]
    }

    private func evidence(since seen: [Int: Int]) async throws -> Evidence {
        var evidence = Evidence()
        var words = 0
        for summary in try await archive.recordings().sorted(by: { $0.id > $1.id }) where words < Self.mostWords {
            let passes = try await archive.passes(of: summary.id)
            // The latest that a person has written is shown; the others are under it, or somebody else's.
            guard let last = passes.lastIndex(where: { $0.correction != nil && $0.isComplete }) else { continue }
            let (phrases, count) = try await Self.missed(in: passes[last], of: passes, in: archive)
            words += count
            evidence.all = evidence.all + phrases
            evidence.passes[summary.id] = last + 1
            for key in phrases.phrases.keys { evidence.recordings[key, default: []].append(summary.id) }
            let before = seen[summary.id] ?? 0
            guard before < last + 1 else { continue }
            var known: [String: Int] = [:]
            if passes.indices.contains(before - 1), passes[before - 1].correction != nil {
                known = try await Self.missed(in: passes[before - 1], of: passes, in: archive).phrases.times
            }
            for (key, times) in phrases.times where times > known[key] ?? 0 { evidence.new.insert(key) }
        }
        return evidence
    }

    /// What a person has put right in a reading, against what an engine heard; and how many words it has.
    private static func missed(
        in pass: PassSummary, of passes: [PassSummary], in archive: any ArchiveReading
    ) async throws -> (phrases: MissedPhrases, words: Int) {
        guard let heard = passes.heard(under: pass),
            let old = try await archive.transcript(of: pass.recording, pass: heard.id)?.1.segments,
            let new = try await archive.transcript(of: pass.recording, pass: pass.id)?.1.segments
        else { return (MissedPhrases(), 0) }
        return (MissedPhrases(heard: old, corrected: new), new.reduce(0) { $0 + $1.words.count })
    }
}
