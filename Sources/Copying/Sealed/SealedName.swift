import Core
import System

/// The name of one recording's sealed copy: `000007.fieldscribe.age`, and `000007_2.fieldscribe.age` where that is taken. It tells
/// the number and nothing else.
package struct SealedName: Hashable {
    private static let ending = ".fieldscribe.age"

    /// The recording's number on its recorder.
    var recording: Int
    /// 1 is the first.
    private var turn = 1

    init(_ recording: Int) { self.recording = recording }

    var text: String {
        recording.padded(to: 6) + (turn > 1 ? "_\(turn)" : "") + Self.ending
    }

    /// The same recording's next name.
    var next: SealedName {
        var next = self
        next.turn += 1
        return next
    }

    /// Reads a name that was found somewhere; anything that is not exactly such a name is nil.
    package init?(_ text: String) {
        guard text.hasSuffix(Self.ending), text.utf8.count <= 64 else { return nil }
        let fields = text.dropLast(Self.ending.count).split(separator: "_", omittingEmptySubsequences: false)
        guard let first = fields.first, fields.count <= 2, let recording = Int(first), recording > 0 else { return nil }
        self.recording = recording
        if fields.count == 2 {
            guard let turn = Int(fields[1]), (2...CopyName.mostTurns).contains(turn) else { return nil }
            self.turn = turn
        }
        guard self.text == text else { return nil }
    }
}

/// What the ledger knows of one recorder's sealed copies on a volume, read once.
struct KnownSealedCopies: Sendable {
    struct Copy: Sendable {
        var name: SealedName
        var manifest: SealedManifest
        var entry: ExportEntry
    }

    private let prefix: String
    private var copies: [Int: [Copy]] = [:]

    init(_ entries: [ExportEntry], folder: String) {
        prefix = "\(folder)/"
        for entry in entries { add(entry) }
    }

    mutating func add(_ entry: ExportEntry) {
        guard entry.folder.hasPrefix(prefix), let manifest = SealedManifest(entry.manifest),
            let name = SealedName(String(entry.folder.dropFirst(prefix.utf8.count)))
        else { return }
        copies[entry.recording, default: []].append(Copy(name: name, manifest: manifest, entry: entry))
    }

    /// The copies of one recording, the latest first.
    func latest(of recording: Int) -> [Copy] { copies[recording, default: []].reversed() }

    /// The latest of each name.
    var all: [SealedName: SealedManifest] {
        var all: [SealedName: SealedManifest] = [:]
        for copy in copies.values.joined() { all[copy.name] = copy.manifest }
        return all
    }
}
