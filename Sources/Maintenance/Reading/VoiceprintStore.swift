import Core
import FoundationEssentials
import System
import Transcripts

/// The voices of named people, and the names proposed in other recordings, in one file beside the archive. Voices are
/// biometric data. No other file contains them, so deleting this file deletes all voices.
package struct VoiceprintStore: Codable, Hashable, Sendable {
    /// A named person's voice in one recording.
    package struct Voice: Codable, Hashable, Sendable {
        package var name: String
        package var recording: Int
        /// The speaker's label in the recording, such as `A`.
        package var label: String
        /// The network's embedding, a unit vector.
        var numbers: [Float]
    }

    static let fileName = "voices.json"

    /// The minimum cosine similarity at which two voices may be the same.
    static let minimumSimilarity: Float = 0.70
    /// The minimum difference between the similarities of the best name and the second-best name.
    static let minimumLead: Float = 0.05

    private static let maximumBytes = 1 << 24
    /// The maximum number of voices to keep for a name. The latest voices are kept.
    private static let maximumVoicesPerName = 8

    /// The named voices, ordered by recording.
    package private(set) var voices: [Voice] = []
    /// The proposed names by recording ID and label.
    package private(set) var proposals: [Int: [String: String]] = [:]
    /// The pass that was processed, by recording ID.
    private(set) var processed: [Int: Int] = [:]
    /// The highest ID of the recordings from which no voices are learned, because a person removed all voices.
    private(set) var ignoredUpTo = 0
    /// For each removed name, the highest ID of the recordings from which its voice is not learned again.
    private(set) var forgotten: [String: Int] = [:]
    /// The number of times that names were added.
    private(set) var growth = 0
    /// For each processed recording with unnamed people, the value of `growth` at that time.
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
        // Old files lack these keys, and list recordings that were processed before there were any names.
        guard let growth = try container.decodeIfPresent(Int.self, forKey: .growth) else { return }
        self.growth = growth
        processed = try container.decode([Int: Int].self, forKey: .processed)
        forgotten = try container.decode([String: Int].self, forKey: .forgotten)
        compared = try container.decode([Int: Int].self, forKey: .compared)
    }

    /// Reads the file. The store is empty if the file is missing.
    ///
    /// - Parameter storage: the storage directory.
    /// - Throws: `DeviceError` with the file's name.
    package init(in storage: String) throws(DeviceError) {
        let path = "\(storage)/\(Self.fileName)"
        let bytes: [UInt8]? = try unlessMissing(nil) { () throws(DeviceError) in
            try Folder(opening: storage, crossesMounts: true).content(ofFile: Self.fileName, limit: Self.maximumBytes)
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

    /// Removes all voices. They are not learned again from existing recordings. Also replaces a file that cannot be
    /// read.
    ///
    /// - Parameter last: the highest recording ID.
    /// - Returns: the number of removed voices.
    package static func forgetAll(upTo last: Int, in storage: String) throws(DeviceError) -> Int {
        let before = try? VoiceprintStore(in: storage)
        var store = VoiceprintStore()
        store.ignoredUpTo = max(last, before?.ignoredUpTo ?? 0)
        try store.save(in: storage)
        return before?.voices.count ?? 0
    }

    /// Removes the voices with these names. They are not learned again from existing recordings.
    ///
    /// - Parameter last: the highest recording ID.
    /// - Returns: the number of removed voices.
    /// - Throws: `DeviceError` with `unsupported` if a name is unknown; nothing is removed then.
    package static func forget(_ names: [String], upTo last: Int, in storage: String) throws(DeviceError) -> Int {
        var store = try VoiceprintStore(in: storage)
        let saved = Set(store.voices.map(\.name)).union(store.proposals.values.flatMap(\.values))
        if let unknown = names.first(where: { !saved.contains($0) }) {
            let list = saved.sorted().map { oneLine($0) }.joined(separator: ", ")
            throw DeviceError(
                .unsupported, "forget", "no voice is saved as \(oneLine(unknown)), so nothing was removed",
                remedy: saved.isEmpty ? "no voices are saved" : "saved names: \(list)")
        }
        let before = store.voices.count
        for name in names { store.forgotten[name] = last }
        store.voices.removeAll { names.contains($0.name) }
        store.removeStaleProposals()
        try store.save(in: storage)
        return before - store.voices.count
    }

    /// Removes proposed names whose voices were removed.
    private mutating func removeStaleProposals() {
        let names = Set(voices.map(\.name))
        proposals = proposals.mapValues { $0.filter { names.contains($0.value) } }.filter { !$0.value.isEmpty }
    }

    /// Returns whether the voice with this name may be learned from a recording.
    func canLearn(_ name: String, in recording: Int) -> Bool {
        !name.isEmpty && recording > ignoredUpTo && recording > forgotten[name] ?? 0
    }

    /// Removes all data from some recordings.
    mutating func drop(where isDropped: (Int) -> Bool) {
        voices.removeAll { isDropped($0.recording) }
        proposals = proposals.filter { !isDropped($0.key) }
        processed = processed.filter { !isDropped($0.key) }
        compared = compared.filter { !isDropped($0.key) }
        removeStaleProposals()
    }

    /// Removes a recording's data from the file, if there is a file. If the file is damaged, removes all voices.
    package static func drop(_ recording: Int, in storage: String) throws(DeviceError) {
        var store: VoiceprintStore
        do throws(DeviceError) { store = try VoiceprintStore(in: storage) } catch {
            guard error.code == .damaged else { throw error }
            _ = try forgetAll(upTo: recording, in: storage)
            return
        }
        let before = store
        store.drop { $0 == recording }
        if store != before { try store.save(in: storage) }
    }

    /// Adds the voices of a recording.
    ///
    /// - Parameters:
    ///   - embeddings: a unit vector for each person; empty if the person's voice could not be computed.
    ///   - names: the people's names by label.
    ///   - pass: the pass that has these names.
    mutating func learn(_ embeddings: [[Float]], names: [String: String], recording: Int, pass: Int) {
        let before = Set(voices.map(\.name))
        drop { $0 == recording }
        processed[recording] = pass
        var unnamed: [(label: String, voice: [Float])] = []
        for (speaker, voice) in embeddings.enumerated() where !voice.isEmpty {
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
        let newProposals = Self.proposals(
            for: unnamed, among: voices.filter { $0.recording != recording }, excluding: Set(names.values))
        if !newProposals.isEmpty { proposals[recording] = newProposals }
        for name in Set(voices.map(\.name)) {
            let sameName = voices.filter { $0.name == name }
            guard sameName.count > Self.maximumVoicesPerName else { continue }
            let oldest = sameName.sorted { $0.recording < $1.recording }
                .prefix(sameName.count - Self.maximumVoicesPerName)
            voices.removeAll { oldest.contains($0) }
        }
        removeStaleProposals()
    }

    /// Returns whether to process a recording: its pass is new, or it has unnamed people and there are new names.
    func needsProcessing(_ recording: Int, pass: Int) -> Bool {
        processed[recording] != pass || compared[recording].map { $0 < growth } ?? false
    }

    /// Returns names for unnamed people by label. Each name is proposed once, for the most similar voice.
    static func proposals(
        for unnamed: [(label: String, voice: [Float])], among voices: [Voice], excluding usedNames: Set<String>
    ) -> [String: String] {
        var pairs: [(label: String, name: String, similarity: Float)] = []
        for (label, voice) in unnamed {
            var best: [String: Float] = [:]
            for saved in voices where !usedNames.contains(saved.name) && saved.numbers.count == voice.count {
                var similarity: Float = 0
                for (left, right) in zip(saved.numbers, voice) { similarity += left * right }
                best[saved.name] = max(best[saved.name] ?? -1, similarity)
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
