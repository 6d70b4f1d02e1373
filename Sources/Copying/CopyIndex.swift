import Core
import Exporting
import Platform

/// Gathers what the list over all recordings shows: ours with their text, other recorders' by their folders' names.
struct CopyIndex {
    /// Bytes of text that one list carries for its search; later recordings give their beginnings only.
    private static let textLimit = 8 << 20
    private static let entryLimit = 5_000

    let archive: any ArchiveReading
    let shelf: Shelf
    let device: DeviceName
    let known: [ExportEntry]
    let all: [RecordingSummary]

    /// Ours first; newest first.
    func entries() async throws -> [IndexEntry] {
        let (shelf, device) = (shelf, device)
        let found = try await onThread(named: "copy") { try Self.found(on: shelf, device: device) }
        // The latest copy of each recording; earlier ones have an earlier text.
        var latest: [Int: CopyName] = [:]
        var copies: Set<CopyName> = []
        for entry in known where entry.folder.hasPrefix("\(device.text)/") {
            guard let name = CopyName(String(entry.folder.dropFirst(device.text.utf8.count + 1))) else { continue }
            copies.insert(name)
            if found.first?.names.contains(name) == true { latest[entry.recording] = name }
        }
        let recordings = Dictionary(latest.map { ($1, $0) }) { first, _ in first }
        var entries: [IndexEntry] = []
        var room = Self.textLimit
        for (owner, names) in found {
            for name in names.prefix(Self.entryLimit - entries.count) {
                let recording = owner == device ? recordings[name] : nil
                if owner == device, copies.contains(name), recording == nil { continue }
                entries.append(try await entry(owner, name, recording, &room))
            }
        }
        return entries
    }

    private func entry(
        _ owner: DeviceName, _ name: CopyName, _ recording: Int?, _ room: inout Int
    ) async throws -> IndexEntry {
        var entry = IndexEntry(
            device: owner.text, link: "\(owner.text)/\(name.text)/index.html", title: name.title,
            facts: ["recording \(name.recording)"])
        guard let recording, let (_, timeline) = try await archive.transcript(of: recording) else { return entry }
        entry.facts.insert(lengthText(timeline.length), at: 0)
        if !name.isVerified { entry.facts.append("clock unverified") }
        if !timeline.gaps.isEmpty {
            entry.facts.append(timeline.gaps.count == 1 ? "1 gap" : "\(timeline.gaps.count) gaps")
        }
        if !timeline.marks.isEmpty {
            entry.facts.append(timeline.marks.count == 1 ? "1 mark" : "\(timeline.marks.count) marks")
        }
        let text = timeline.segments.map(\.text).filter { !$0.isEmpty }.joined(separator: " ")
        entry.text = text.utf8.count <= room ? text : String(text.prefix(200))
        room = max(0, room - entry.text.utf8.count)
        return entry
    }

    /// The recorders' folders, ours first, and in each the complete copies, the newest first.
    private static func found(
        on shelf: Shelf, device: DeviceName
    ) throws(DeviceError) -> [(owner: DeviceName, names: [CopyName])] {
        var found = [(owner: device, names: try names(in: shelf.folder))]
        let others = try shelf.top.names().compactMap { DeviceName($0) }.filter { $0 != device }
        for other in others.sorted(by: { $0.text < $1.text }) {
            // What is no folder, or cannot be read, has nothing to list.
            guard let folder = try? shelf.top.folder(other.text), let names = try? names(in: folder) else { continue }
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
