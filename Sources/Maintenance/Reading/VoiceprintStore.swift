import Core
import FoundationEssentials
import Glibc
import System
import Transcripts

/// The voices of people who were named, and who in later recordings seems to be one of them: one file beside the archive. These
/// numbers are biometric data; nothing else holds them, and who takes the file away has taken all.
package struct VoiceprintStore: Codable, Hashable, Sendable {
    /// What a named person's voice was in a recording.
    package struct Voice: Codable, Hashable, Sendable {
        /// As somebody wrote it.
        package var name: String
        /// In which recording, and as which of its people.
        package var recording: Int
        /// `A`, `B` ...
        package var label: String
        /// What the network makes of it, of length 1.
        var numbers: [Float]
    }

    /// The file's name, beside the archive.
    static let fileName = "voices.json"

    /// From this similarity on, the cosine of two voices, one may be the other; a second name has to be clearly less alike.
    static let alike: Float = 0.70
    static let clearly: Float = 0.05

    private static let largest = 1 << 24
    /// Of one name no more are kept, the latest.
    private static let most = 8

    /// Named voices, in the order of their recordings.
    package private(set) var voices: [Voice] = []
    /// For each recording its labels, and who that may be.
    package private(set) var proposals: [Int: [String: String]] = [:]
    /// For each recording the reading of it that was looked at.
    private(set) var looked: [Int: Int] = [:]
    /// Nothing up to this recording is learned from: what was forgotten stays so.
    private(set) var after = 0
    /// Names that were forgotten, and up to which recording nobody is learned by them.
    private(set) var forgotten: [String: Int] = [:]
    /// How often a name came that was not there before.
    private(set) var growth = 0
    /// For each recording that was looked at and has people without a name: `growth` as it was then.
    private(set) var compared: [Int: Int] = [:]

    /// None.
    init() {}

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        voices = try container.decode([Voice].self, forKey: .voices)
        proposals = try container.decode([Int: [String: String]].self, forKey: .proposals)
        after = try container.decode(Int.self, forKey: .after)
        // Files of before have none of these, and say of recordings that they were looked at where nobody was known yet.
        guard let growth = try container.decodeIfPresent(Int.self, forKey: .growth) else { return }
        self.growth = growth
        looked = try container.decode([Int: Int].self, forKey: .looked)
        forgotten = try container.decode([String: Int].self, forKey: .forgotten)
        compared = try container.decode([Int: Int].self, forKey: .compared)
    }

    /// Reads the file; where there is none, nobody is remembered.
    ///
    /// - Parameter storage: the archive's folder.
    /// - Throws: `DeviceError` with `damaged`, `denied` or another, naming the file.
    package init(in storage: String) throws(DeviceError) {
        let path = "\(storage)/\(Self.fileName)"
        let bytes: [UInt8]
        do throws(DeviceError) {
            bytes = try Folder(opening: storage, crosses: true).openFile(Self.fileName, O_RDONLY)
                .content(limit: Self.largest)
        } catch {
            guard error.status == ENOENT else { throw error }
            return
        }
        do { self = try JSONDecoder().decode(Self.self, from: Data(JSONStrings.check(bytes))) } catch {
            throw DeviceError(
                .damaged, "read", on: path, "does not hold remembered voices",
                remedy: "take them away with fieldscribe speakers forget, or set speakers.remember = no")
        }
    }

    /// Writes the file, which nobody but its owner may read.
    func save(in storage: String) throws(DeviceError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let data = try? encoder.encode(self) else {
            throw DeviceError(.failed, "encode", on: "\(storage)/\(Self.fileName)", "cannot be written")
        }
        try durableReplace(path: "\(storage)/\(Self.fileName)", with: Array(data) + [0x0A], mode: 0o600)
    }

    /// Takes all voices away; recordings that are there are not learned from again. What cannot be read is taken away, too.
    ///
    /// - Parameter last: the highest number of a recording.
    /// - Returns: how many voices were taken away.
    package static func forgetAll(upTo last: Int, in storage: String) throws(DeviceError) -> Int {
        let before = try? VoiceprintStore(in: storage)
        var known = VoiceprintStore()
        known.after = max(last, before?.after ?? 0)
        try known.save(in: storage)
        return before?.voices.count ?? 0
    }

    /// Takes the voices of some names away; from recordings that are there nobody is learned by these names again.
    ///
    /// - Parameter last: the highest number of a recording.
    /// - Returns: how many voices were taken away.
    /// - Throws: `DeviceError` with `unsupported` where a name is nobody's; then nothing was taken away.
    package static func forget(_ names: [String], upTo last: Int, in storage: String) throws(DeviceError) -> Int {
        var known = try VoiceprintStore(in: storage)
        let there = Set(known.voices.map(\.name)).union(known.proposals.values.flatMap(\.values))
        if let unknown = names.first(where: { !there.contains($0) }) {
            let names = there.sorted().map { oneLine($0) }.joined(separator: ", ")
            let told = there.isEmpty ? "nobody is" : "those who are: \(names)"
            throw DeviceError(
                .unsupported, "forget", "nobody is remembered as \(oneLine(unknown)); \(told)",
                remedy: "nothing was taken away")
        }
        let before = known.voices.count
        for name in names { known.forgotten[name] = last }
        known.voices.removeAll { names.contains($0.name) }
        known.propose()
        try known.save(in: storage)
        return before - known.voices.count
    }

    /// Proposes nobody any more whose voice is not there.
    private mutating func propose() {
        let there = Set(voices.map(\.name))
        proposals = proposals.mapValues { $0.filter { there.contains($0.value) } }.filter { !$0.value.isEmpty }
    }

    /// Whether somebody is learned by a name in a recording.
    func learns(_ name: String, in recording: Int) -> Bool {
        !name.isEmpty && recording > after && recording > forgotten[name] ?? 0
    }

    /// Takes away what came of recordings that are gone, or of which something was struck.
    mutating func drop(where isGone: (Int) -> Bool) {
        voices.removeAll { isGone($0.recording) }
        proposals = proposals.filter { !isGone($0.key) }
        looked = looked.filter { !isGone($0.key) }
        compared = compared.filter { !isGone($0.key) }
        propose()
    }

    /// The same in the file, where there is one. Of a file that cannot be read all is taken away: nobody knows what is in it.
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

    /// Takes in what a recording's people sound like.
    ///
    /// - Parameters:
    ///   - found: a voice for each person, empty where there is none.
    ///   - names: by label, of those who have one.
    ///   - pass: the reading that has these names.
    mutating func learn(_ found: [[Float]], names: [String: String], recording: Int, pass: Int) {
        let before = Set(voices.map(\.name))
        drop { $0 == recording }
        looked[recording] = pass
        var open: [(label: String, voice: [Float])] = []
        for (speaker, voice) in found.enumerated() where !voice.isEmpty {
            let label = Speakers.label(speaker)
            guard let name = names[label], !name.isEmpty else {
                open.append((label, voice))
                continue
            }
            guard learns(name, in: recording) else { continue }
            voices.append(Voice(name: name, recording: recording, label: label, numbers: voice))
        }
        voices.sort { ($0.recording, $0.label) < ($1.recording, $1.label) }
        if !before.isSuperset(of: voices.map(\.name)) { growth += 1 }
        if !open.isEmpty { compared[recording] = growth }
        let who = Self.proposals(
            for: open, among: voices.filter { $0.recording != recording }, taken: Set(names.values))
        if !who.isEmpty { proposals[recording] = who }
        for name in Set(voices.map(\.name)) {
            let own = voices.filter { $0.name == name }
            guard own.count > Self.most else { continue }
            let oldest = own.sorted { $0.recording < $1.recording }.prefix(own.count - Self.most)
            voices.removeAll { oldest.contains($0) }
        }
        propose()
    }

    /// Whether a recording is to be looked at: this reading of it was not yet, or it has people without a name, and there are new names.
    func isToBeLookedAt(_ recording: Int, pass: Int) -> Bool {
        looked[recording] != pass || compared[recording].map { $0 < growth } ?? false
    }

    /// Who people without a name may be: the most alike first, each name once.
    static func proposals(
        for open: [(label: String, voice: [Float])], among voices: [Voice], taken: Set<String>
    ) -> [String: String] {
        var pairs: [(label: String, name: String, similarity: Float)] = []
        for (label, voice) in open {
            var best: [String: Float] = [:]
            for known in voices where !taken.contains(known.name) && known.numbers.count == voice.count {
                var similarity: Float = 0
                for (one, other) in zip(known.numbers, voice) { similarity += one * other }
                best[known.name] = max(best[known.name] ?? -1, similarity)
            }
            let ordered = best.sorted { $0.value != $1.value ? $0.value > $1.value : $0.key < $1.key }
            guard let first = ordered.first, first.value >= alike else { continue }
            if ordered.count > 1, first.value - ordered[1].value < clearly { continue }
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
