import Core

/// What the ledger knows of one recorder's copies on a volume, read once.
struct KnownCopies: Sendable {
    /// Every name that a copy of ours has had.
    private(set) var names: Set<CopyName> = []

    /// The copies of each recording, in the order in which they were made.
    private(set) var copies: [Int: [(name: CopyName, entry: ExportEntry)]] = [:]

    private let prefix: String

    init(_ entries: [ExportEntry], device: DeviceName) {
        prefix = "\(device.text)/"
        for entry in entries { add(entry) }
    }

    mutating func add(_ entry: ExportEntry) {
        guard entry.folder.hasPrefix(prefix),
            let name = CopyName(String(entry.folder.dropFirst(prefix.utf8.count)))
        else { return }
        names.insert(name)
        copies[entry.recording, default: []].append((name, entry))
    }

    /// The copies of one recording, the latest first.
    func latest(of recording: Int) -> [(name: CopyName, entry: ExportEntry)] {
        copies[recording, default: []].reversed()
    }
}

extension ExportEntry {
    /// The manifest, where the copy has been found to have the text of another pass, too: what that says is to be entered as well.
    func manifest(unlessOf pass: Int?) -> String? { pass == nil || pass == self.pass ? nil : manifest }
}
