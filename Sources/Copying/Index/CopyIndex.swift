import Core
import System
import Transcripts

/// Builds the list of all readable copies on a volume. Includes the texts of this recorder's recordings, and lists
/// other recorders' copies only by folder name. Recognizes renamed folders by their manifest.
struct CopyIndex {
    private static let entryLimit = 50_000

    let exportFolder: CopyFolder
    let known: KnownCopies<CopyName>
    let texts: IndexTexts

    /// Returns the copies, this recorder's first. Each recorder's newest copy comes first, and renamed folders last.
    func entries() throws(DeviceError) -> [IndexEntry] {
        let device = exportFolder.device
        let copiesByOwner = try Self.copiesByOwner(on: exportFolder)
        let folders = Set(copiesByOwner.first?.copies.map(\.folder) ?? [])
        let renamed = try exportFolder.folder.renamedCopies()
        // Lists only the latest copy of each recording, because earlier copies have an older text.
        var latest: [String: Int] = [:]
        for (recording, copies) in known.copies {
            let existing = copies.reversed().lazy.compactMap { copy in
                folders.contains(copy.name.text) ? copy.name.text : renamed[copy.entry.manifest]
            }
            if let last = existing.first { latest[last] = recording }
        }
        var entries: [IndexEntry] = []
        for (owner, copies) in copiesByOwner {
            for copy in copies.prefix(Self.entryLimit - entries.count) {
                let recording = owner == device ? latest[copy.folder] : nil
                if owner == device, let name = copy.name, known.names.contains(name), recording == nil { continue }
                let listed = recording.flatMap { texts.entries[$0] }
                var facts = (copy.name?.recording ?? recording).map { ["recording \($0)"] } ?? []
                if let listed { facts = Array(listed.facts.prefix(1)) + facts + Array(listed.facts.dropFirst()) }
                let title = listed?.title ?? ""
                // A title that a person entered replaces the date, which then becomes one of the facts.
                if !title.isEmpty, let name = copy.name, name.time != nil { facts.insert(name.title, at: 0) }
                entries.append(
                    IndexEntry(
                        device: owner.text, link: "\(owner.text)/\(percentEncoded(copy.folder))/index.html",
                        title: title.isEmpty ? copy.name?.title ?? copy.folder : title,
                        facts: facts, text: listed?.text ?? ""))
            }
        }
        return entries
    }

    /// Returns the recorders' folders, this recorder's first, with their copies in the order of `entries()`.
    private static func copiesByOwner(
        on exportFolder: CopyFolder
    ) throws(DeviceError) -> [(owner: DeviceName, copies: [FoundCopy])] {
        var found = [(owner: exportFolder.device, copies: try copies(in: exportFolder.folder))]
        let otherOwners = try exportFolder.top.names().compactMap { DeviceName($0) }.filter {
            $0 != exportFolder.device
        }
        for owner in otherOwners.sorted(by: { $0.text < $1.text }) {
            guard let folder = try? exportFolder.top.folder(owner.text), let copies = try? copies(in: folder) else {
                continue
            }
            if !copies.isEmpty { found.append((owner, copies)) }
        }
        return found
    }

    private struct FoundCopy {
        var folder: String
        /// Nil if a person has renamed the folder.
        var name: CopyName?
    }

    private static func copies(in folder: Folder) throws(DeviceError) -> [FoundCopy] {
        let named = try folder.names().compactMap { CopyName($0) }
            .filter { name in (try? folder.folder(name.text).exists("index.html")) == true }
            .sorted { ($0.recording, $0.text) > ($1.recording, $1.text) }
            .map { FoundCopy(folder: $0.text, name: $0) }
        return named + (try folder.renamedCopies().values.sorted().map { FoundCopy(folder: $0) })
    }
}
