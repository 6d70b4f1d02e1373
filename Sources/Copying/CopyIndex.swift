import Core
import Exporting
import Platform

/// Gathers what the list over all recordings shows: ours with their text, other recorders' by their folders' names.
struct CopyIndex {
    private static let entryLimit = 50_000

    let exportFolder: ExportFolder
    let device: DeviceName
    let known: KnownCopies
    let texts: IndexTexts

    /// Ours first; newest first.
    func entries() throws(DeviceError) -> [IndexEntry] {
        let found = try Self.found(on: exportFolder, device: device)
        let there = Set(found.first?.names ?? [])
        // The latest copy of each recording; earlier ones have an earlier text.
        var latest: [CopyName: Int] = [:]
        for (recording, copies) in known.copies {
            if let last = copies.last(where: { there.contains($0.name) }) { latest[last.name] = recording }
        }
        var entries: [IndexEntry] = []
        for (owner, names) in found {
            for name in names.prefix(Self.entryLimit - entries.count) {
                let recording = owner == device ? latest[name] : nil
                if owner == device, known.names.contains(name), recording == nil { continue }
                let told = recording.flatMap { texts.entries[$0] }
                var facts = ["recording \(name.recording)"]
                if let told {
                    facts.insert(told.facts[0], at: 0)
                    facts += told.facts.dropFirst()
                }
                entries.append(
                    IndexEntry(
                        device: owner.text, link: "\(owner.text)/\(name.text)/index.html", title: name.title,
                        facts: facts, text: told?.text ?? ""))
            }
        }
        return entries
    }

    /// The recorders' folders, ours first, and in each the complete copies, the newest first.
    private static func found(
        on exportFolder: ExportFolder, device: DeviceName
    ) throws(DeviceError) -> [(owner: DeviceName, names: [CopyName])] {
        var found = [(owner: device, names: try names(in: exportFolder.folder))]
        let others = try exportFolder.top.names().compactMap { DeviceName($0) }.filter { $0 != device }
        for other in others.sorted(by: { $0.text < $1.text }) {
            // What is no folder, or cannot be read, has nothing to list.
            guard let folder = try? exportFolder.top.folder(other.text), let names = try? names(in: folder) else {
                continue
            }
            if !names.isEmpty { found.append((other, names)) }
        }
        return found
    }

    private static func names(in folder: Folder) throws(DeviceError) -> [CopyName] {
        try folder.names().compactMap { CopyName($0) }
            .filter { name in (try? folder.folder(name.text).exists("index.html")) == true }
            .sorted { ($0.recording, $0.text) > ($1.recording, $1.text) }
    }
}

/// Minutes and seconds, or hours too.
func lengthText(_ length: SamplePosition) -> String {
    let seconds = length.samples / Int64(SamplePosition.rate)
    let two = { (number: Int64) in number < 10 ? "0\(number)" : "\(number)" }
    let minutes = seconds < 3_600 ? "\(seconds / 60)" : "\(seconds / 3_600):\(two(seconds / 60 % 60))"
    return "\(minutes):\(two(seconds % 60))"
}
