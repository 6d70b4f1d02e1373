import Core
import FoundationEssentials
import Glibc
import Platform

/// The voices of people who were named, and who in later recordings seems to be one of them: one file beside the archive. These
/// numbers are biometric data; nothing else holds them, and who takes the file away has taken all.
package struct RememberedVoices: Codable, Hashable, Sendable {
    /// What a named person's voice was in a recording.
    package struct Voice: Codable, Hashable, Sendable {
        /// As somebody wrote it.
        package var name: String
        /// In which recording, and as which of its people.
        package var recording: Int
        /// `A`, `B` ...
        package var label: String
        /// What the network makes of it, of length 1.
        package var numbers: [Float]
    }

    /// The file's name, beside the archive.
    package static let fileName = "voices.json"

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

    /// None.
    package init() {}

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

    /// Takes all voices away, or those of some names; recordings that are there are not learned from again.
    ///
    /// - Parameters:
    ///   - names: nil: all of them.
    ///   - last: the highest number of a recording.
    /// - Returns: how many voices were taken away.
    package static func forget(_ names: [String]?, upTo last: Int, in storage: String) throws(DeviceError) -> Int {
        var known = RememberedVoices()
        // What cannot be read is taken away, too.
        let before = try? RememberedVoices(in: storage)
        if let names, let before {
            known = before
            known.voices.removeAll { names.contains($0.name) }
            known.proposals = known.proposals.mapValues { $0.filter { !names.contains($0.value) } }
        }
        known.after = max(last, known.after)
        try known.save(in: storage)
        return (before?.voices.count ?? 0) - known.voices.count
    }

    /// Takes away what came of recordings that are gone, or of which something was struck.
    mutating func drop(where isGone: (Int) -> Bool) {
        voices.removeAll { isGone($0.recording) }
        proposals = proposals.filter { !isGone($0.key) }
        looked = looked.filter { !isGone($0.key) }
    }

    /// The same in the file, where there is one. Of a file that cannot be read all is taken away: nobody knows what is in it.
    static func drop(_ recording: Int, in storage: String) throws(DeviceError) {
        var known: RememberedVoices
        do throws(DeviceError) { known = try RememberedVoices(in: storage) } catch {
            guard error.code == .damaged else { throw error }
            _ = try forget(nil, upTo: recording, in: storage)
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
        drop { $0 == recording }
        looked[recording] = pass
        var open: [(label: String, voice: [Float])] = []
        for (speaker, voice) in found.enumerated() where !voice.isEmpty {
            let label = Speakers.label(speaker)
            guard let name = names[label], !name.isEmpty else {
                open.append((label, voice))
                continue
            }
            voices.append(Voice(name: name, recording: recording, label: label, numbers: voice))
        }
        let who = Self.proposals(
            for: open, among: voices.filter { $0.recording != recording }, taken: Set(names.values))
        if !who.isEmpty { proposals[recording] = who }
        for name in Set(voices.map(\.name)) {
            let own = voices.filter { $0.name == name }
            guard own.count > Self.most else { continue }
            let oldest = own.sorted { $0.recording < $1.recording }.prefix(own.count - Self.most)
            voices.removeAll { oldest.contains($0) }
        }
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
