import Core
import FoundationEssentials
import System
import Transcripts

/// The voices of named people, and proposals for later recordings: one file beside the archive. Voices are biometric data.
/// No other file contains them, so deleting this one deletes all.
package struct VoiceprintStore: Codable, Hashable, Sendable {
    /// A named person's voice in one recording.
    package struct Voice: Codable, Hashable, Sendable {
        /// As a person wrote it.
        package var name: String
        package var recording: Int
        /// `A`, `B` ...
        package var label: String
        /// The network's embedding, a unit vector.
        var numbers: [Float]
    }

    static let fileName = "voices.json"

    /// The cosine similarity from which two voices may be the same, and how much less similar a second name must be.
    static let minimumSimilarity: Float = 0.70
    static let minimumLead: Float = 0.05

    private static let largest = 1 << 24
    /// The number of latest voices to keep for one name.
    private static let most = 8

    /// Named voices, in the order of their recordings.
    package private(set) var voices: [Voice] = []
    /// For each recording its labels, and the names proposed for them.
    package private(set) var proposals: [Int: [String: String]] = [:]
    /// For each recording the pass that was processed.
    private(set) var processed: [Int: Int] = [:]
    /// Recordings up to this number are not learned from, because a person removed all voices.
    private(set) var ignoredUpTo = 0
    /// Removed names, each with the number of the last recording that must not be learned from.
    private(set) var forgotten: [String: Int] = [:]
    /// Counts the new names.
    private(set) var growth = 0
    /// For each processed recording with unnamed people: `growth` at that time.
    private(set) var compared: [Int: Int] = [:]

    // The raw values are the file's keys.
    private enum CodingKeys: String, CodingKey {
        case voices, proposals
        case processed = "looked"
        case ignoredUpTo = "after"
        case forgotten, growth, compared
    }

    init() {}

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        voices = try container.decode([Voice].self, forKey: .voices)
        proposals = try container.decode([Int: [String: String]].self, forKey: .proposals)
        ignoredUpTo = try container.decode(Int.self, forKey: .ignoredUpTo)
        // Old files lack these, and list recordings that were processed before any name was known.
        guard let growth = try container.decodeIfPresent(Int.self, forKey: .growth) else { return }
        self.growth = growth
        processed = try container.decode([Int: Int].self, forKey: .processed)
        forgotten = try container.decode([String: Int].self, forKey: .forgotten)
        compared = try container.decode([Int: Int].self, forKey: .compared)
    }

    /// Reads the file; empty if it is missing.
    ///
    /// - Parameter storage: the archive's folder.
    /// - Throws: `DeviceError` with `damaged`, `denied` or another, naming the file.
    package init(in storage: String) throws(DeviceError) {
        let path = "\(storage)/\(Self.fileName)"
        let bytes: [UInt8]? = try unlessMissing(nil) { () throws(DeviceError) in
            try Folder(opening: storage, crosses: true).content(ofFile: Self.fileName, limit: Self.largest)
        }
        guard let bytes else { return }
        do { self = try decodedJSON(Self.self, from: bytes) } catch {
            throw DeviceError(
                .damaged, "read", on: path, "does not contain saved voices",
                remedy: "run fieldscribe speakers forget, or set speakers.remember = no")
        }
    }

    /// Writes the file with mode 0600.
    func save(in storage: String) throws(DeviceError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let data = try? encoder.encode(self) else {
            throw DeviceError(.failed, "encode", on: "\(storage)/\(Self.fileName)", "cannot be written")
        }
        try durableReplace(path: "\(storage)/\(Self.fileName)", with: Array(data) + [0x0A], mode: 0o600)
    }

    /// Removes all voices; they are not learned again from existing recordings. Also removes a file that cannot be read.
    ///
    /// - Parameter last: the highest number of a recording.
    /// - Returns: how many voices were removed.
    package static func forgetAll(upTo last: Int, in storage: String) throws(DeviceError) -> Int {
        let before = try? VoiceprintStore(in: storage)
        var known = VoiceprintStore()
        known.ignoredUpTo = max(last, before?.ignoredUpTo ?? 0)
        try known.save(in: storage)
        return before?.voices.count ?? 0
    }

    /// Removes the voices with these names; they are not learned again from existing recordings.
    ///
    /// - Parameter last: the highest number of a recording.
    /// - Returns: how many voices were removed.
    /// - Throws: `DeviceError` with `unsupported` if a name is unknown; nothing was removed then.
    package static func forget(_ names: [String], upTo last: Int, in storage: String) throws(DeviceError) -> Int {
        var known = try VoiceprintStore(in: storage)
        let saved = Set(known.voices.map(\.name)).union(known.proposals.values.flatMap(\.values))
        if let unknown = names.first(where: { !saved.contains($0) }) {
            let list = saved.sorted().map { oneLine($0) }.joined(separator: ", ")
            throw DeviceError(
                .unsupported, "forget", "no voice is saved as \(oneLine(unknown)), so nothing was removed",
                remedy: saved.isEmpty ? "no voices are saved" : "saved names: \(list)")
        }
        let before = known.voices.count
        for name in names { known.forgotten[name] = last }
        known.voices.removeAll { names.contains($0.name) }
        known.removeStaleProposals()
        try known.save(in: storage)
        return before - known.voices.count
    }

    /// Removes proposals whose voice was removed.
    private mutating func removeStaleProposals() {
        let there = Set(voices.map(\.name))
        proposals = proposals.mapValues { $0.filter { there.contains($0.value) } }.filter { !$0.value.isEmpty }
    }

    /// Whether the voice with this name may be learned from a recording.
    func canLearn(_ name: String, in recording: Int) -> Bool {
        !name.isEmpty && recording > ignoredUpTo && recording > forgotten[name] ?? 0
    }

    /// Removes what came from recordings that are gone or were redacted.
    mutating func drop(where isGone: (Int) -> Bool) {
        voices.removeAll { isGone($0.recording) }
        proposals = proposals.filter { !isGone($0.key) }
        processed = processed.filter { !isGone($0.key) }
        compared = compared.filter { !isGone($0.key) }
        removeStaleProposals()
    }

    /// Does the same in the file, if there is one. Removes the contents of a file that cannot be read.
    package static func drop(_ recording: Int, in storage: String) throws(DeviceError) {
        var known: VoiceprintStore
        do throws(DeviceError) { known = try VoiceprintStore(in: storage) } catch {
            guard error.code == .damaged else { throw error }
            _ = try forgetAll(upTo: recording, in: storage)
            return
        }
        let before = known
        known.drop { $0 == recording }
        if known != before { try known.save(in: storage) }
    }

    /// Adds the voices of a recording.
    ///
    /// - Parameters:
    ///   - found: a voice for each person; empty if none was found.
    ///   - names: by label.
    ///   - pass: the pass that has these names.
    mutating func learn(_ found: [[Float]], names: [String: String], recording: Int, pass: Int) {
        let before = Set(voices.map(\.name))
        drop { $0 == recording }
        processed[recording] = pass
        var unnamed: [(label: String, voice: [Float])] = []
        for (speaker, voice) in found.enumerated() where !voice.isEmpty {
            let label = Speakers.label(speaker)
            guard let name = names[label], !name.isEmpty else {
                unnamed.append((label, voice))
                continue
            }
            guard canLearn(name, in: recording) else { continue }
            voices.append(Voice(name: name, recording: recording, label: label, numbers: voice))
        }
        voices.sort { ($0.recording, $0.label) < ($1.recording, $1.label) }
        if !before.isSuperset(of: voices.map(\.name)) { growth += 1 }
        if !unnamed.isEmpty { compared[recording] = growth }
        let who = Self.proposals(
            for: unnamed, among: voices.filter { $0.recording != recording }, taken: Set(names.values))
        if !who.isEmpty { proposals[recording] = who }
        for name in Set(voices.map(\.name)) {
            let own = voices.filter { $0.name == name }
            guard own.count > Self.most else { continue }
            let oldest = own.sorted { $0.recording < $1.recording }.prefix(own.count - Self.most)
            voices.removeAll { oldest.contains($0) }
        }
        removeStaleProposals()
    }

    /// Whether to process a recording: this pass is new, or it has unnamed people and there are new names.
    func needsProcessing(_ recording: Int, pass: Int) -> Bool {
        processed[recording] != pass || compared[recording].map { $0 < growth } ?? false
    }

    /// Names proposed for unnamed people: the most similar first, each name once.
    static func proposals(
        for unnamed: [(label: String, voice: [Float])], among voices: [Voice], taken: Set<String>
    ) -> [String: String] {
        var pairs: [(label: String, name: String, similarity: Float)] = []
        for (label, voice) in unnamed {
            var best: [String: Float] = [:]
            for known in voices where !taken.contains(known.name) && known.numbers.count == voice.count {
                var similarity: Float = 0
                for (one, other) in zip(known.numbers, voice) { similarity += one * other }
                best[known.name] = max(best[known.name] ?? -1, similarity)
            }
            let ordered = best.sorted { $0.value != $1.value ? $0.value > $1.value : $0.key < $1.key }
            guard let first = ordered.first, first.value >= minimumSimilarity else { continue }
            if ordered.count > 1, first.value - ordered[1].value < minimumLead { continue }
            pairs.append((label, first.key, first.value))
        }
        var proposals: [String: String] = [:]
        let ordered = pairs.sorted {
            $0.similarity != $1.similarity ? $0.similarity > $1.similarity : $0.label < $1.label
        }
        for pair in ordered where !proposals.values.contains(pair.name) { proposals[pair.label] = pair.name }
        return proposals
    }
}
