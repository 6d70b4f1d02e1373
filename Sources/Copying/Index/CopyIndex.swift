import Core
import System
import Transcripts

/// Builds the list of all recordings: this recorder's with their text, other recorders' by folder name. Finds renamed
/// folders by their manifest.
struct CopyIndex {
    private static let entryLimit = 50_000

    let exportFolder: CopyFolder
    let known: KnownCopies<CopyName>
    let texts: IndexTexts

    /// Returns this recorder's copies first, the newest first.
    func entries() throws(DeviceError) -> [IndexEntry] {
        let device = exportFolder.device
        let found = try Self.found(on: exportFolder)
        let there = Set(found.first?.copies.map(\.folder) ?? [])
        let renamed = try exportFolder.folder.renamedCopies()
        // Earlier copies have an earlier text.
        var latest: [String: Int] = [:]
        for (recording, copies) in known.copies {
            let places = copies.reversed().lazy.compactMap { copy in
                there.contains(copy.name.text) ? copy.name.text : renamed[copy.entry.manifest]
            }
            if let last = places.first { latest[last] = recording }
        }
        var entries: [IndexEntry] = []
        for (owner, copies) in found {
            for copy in copies.prefix(Self.entryLimit - entries.count) {
                let recording = owner == device ? latest[copy.folder] : nil
                if owner == device, let name = copy.name, known.names.contains(name), recording == nil { continue }
                let listed = recording.flatMap { texts.entries[$0] }
                var facts = (copy.name?.recording ?? recording).map { ["recording \($0)"] } ?? []
                if let listed { facts = Array(listed.facts.prefix(1)) + facts + Array(listed.facts.dropFirst()) }
                let own = listed?.title ?? ""
                // A person's title replaces the date, which is then listed separately.
                if !own.isEmpty, let name = copy.name, name.time != nil { facts.insert(name.title, at: 0) }
                entries.append(
                    IndexEntry(
                        device: owner.text, link: "\(owner.text)/\(percentEncoded(copy.folder))/index.html",
                        title: own.isEmpty ? copy.name?.title ?? copy.folder : own,
                        facts: facts, text: listed?.text ?? ""))
            }
        }
        return entries
    }

    /// Returns the recorders' folders, this recorder's first, with their complete copies, the newest first.
    private static func found(
        on exportFolder: CopyFolder
    ) throws(DeviceError) -> [(owner: DeviceName, copies: [Found])] {
        var found = [(owner: exportFolder.device, copies: try copies(in: exportFolder.folder))]
        let others = try exportFolder.top.names().compactMap { DeviceName($0) }.filter { $0 != exportFolder.device }
        for other in others.sorted(by: { $0.text < $1.text }) {
            guard let folder = try? exportFolder.top.folder(other.text), let copies = try? copies(in: folder) else {
                continue
            }
            if !copies.isEmpty { found.append((other, copies)) }
        }
        return found
    }

    private struct Found {
        var folder: String
        /// Nil if a person has renamed the folder.
        var name: CopyName?
    }

    private static func copies(in folder: Folder) throws(DeviceError) -> [Found] {
        let named = try folder.names().compactMap { CopyName($0) }
            .filter { name in (try? folder.folder(name.text).exists("index.html")) == true }
            .sorted { ($0.recording, $0.text) > ($1.recording, $1.text) }
            .map { Found(folder: $0.text, name: $0) }
        return named + (try folder.renamedCopies().values.sorted().map { Found(folder: $0) })
    }
}
