import Core

/// The ledger's entries for one recorder's copies on a volume, in order of creation.
struct KnownCopies<Name: CopyNaming>: Sendable {
    struct Copy: Sendable {
        var name: Name
        var entry: ExportEntry
    }

    private(set) var names: Set<Name> = []
    private(set) var copies: [Int: [Copy]] = [:]
    private let prefix: String

    init(_ entries: [ExportEntry], device: DeviceName) {
        prefix = "\(device.text)/"
        for entry in entries { add(entry) }
    }

    mutating func add(_ entry: ExportEntry) {
        guard entry.folder.hasPrefix(prefix), let name = Name(String(entry.folder.dropFirst(prefix.utf8.count)))
        else { return }
        names.insert(name)
        copies[entry.recording, default: []].append(Copy(name: name, entry: entry))
    }

    /// Returns the copies of a recording, the latest first.
    func latest(of recording: Int) -> [Copy] { copies[recording, default: []].reversed() }

    var latestByName: [Copy] {
        var latest: [Name: Copy] = [:]
        for copy in copies.values.joined() { latest[copy.name] = copy }
        return Array(latest.values)
    }
}

extension ExportEntry {
    /// Returns the manifest if the ledger needs another entry for this copy, because `pass` is a different pass.
    func manifest(unlessOf pass: Int?) -> String? { pass == nil || pass == self.pass ? nil : manifest }
}
