import Audio
import Core
import Glibc
import System
import Transcripts

/// Where copies lie in a folder and below: they are told by what is in them, since people rename and move them. Names there are a
/// stranger's: no link is followed, and no other file system is entered.
struct PlacedCopies {
    private static let (deepest, most) = (8, 100_000)

    /// The names that lead to each, `a/b`; empty for the folder itself. In their order.
    private(set) var places: [String] = []
    /// What could not be looked at.
    private(set) var unseen: [CopyVerification.Finding] = []
    private var count = 0

    /// - Throws: `DeviceError` if the folder itself cannot be read.
    init(in folder: Folder) throws(DeviceError) {
        let names = try folder.names(limit: CopyVerification.mostFiles)
        look(in: folder, names, at: [])
    }

    /// Whether a folder with these names in it is a copy, or what somebody has left of one.
    private static func isCopy(_ names: Set<String>, named name: String?) -> Bool {
        let signs: Set<String> = [CopySettings.manifestName, CopySettings.signatureName, historyFileName]
        if name.flatMap({ CopyName($0) }) != nil || !names.isDisjoint(with: signs) { return true }
        if names.contains(where: { SealedName($0) != nil }) { return true }
        let sounds = Set(AudioForm.allCases.map { "audio.\($0.rawValue)" })
        let texts = Set(TranscriptFormat.allCases.map(\.fileName))
        return !names.isDisjoint(with: sounds) && !names.isDisjoint(with: texts)
    }

    private mutating func look(in folder: Folder, _ names: [String], at place: [String]) {
        if Self.isCopy(Set(names), named: place.last) { places.append(place.joined(separator: "/")) }
        // In a copy, too: one that somebody has put around others is to hide none.
        for name in names.sorted() where !name.hasPrefix(".") && name != "lost+found" {
            do throws(DeviceError) { try look(at: name, in: folder, place) } catch {
                tell(.unchecked, "\(folder.path)/\(name)", "cannot be looked at: \(error.reason)")
            }
        }
    }

    private mutating func look(at name: String, in folder: Folder, _ place: [String]) throws(DeviceError) {
        let path = "\(folder.path)/\(name)"
        guard let kind = try folder.status(name)?.kind else {
            if name.contains("\u{FFFD}") {
                tell(.unchecked, path, "has a name that is not in UTF-8, and was not looked at; rename it")
            }
            return
        }
        guard kind == .folder else {
            // What has a copy's name and is none is refused by who opens it.
            if CopyName(name) != nil { places.append((place + [name]).joined(separator: "/")) }
            return
        }
        if CopyName.isTemporary(name) {
            return tell(
                .note, path, "is half of a copy; plug the stick into its recorder once more, which completes it")
        }
        guard place.count < Self.deepest, count < Self.most else {
            return tell(.unchecked, path, "lies too deep, or behind too many folders; name it to have it looked at")
        }
        count += 1
        let inner = try folder.folder(name)
        look(in: inner, try inner.names(limit: CopyVerification.mostFiles), at: place + [name])
    }

    private mutating func tell(_ outcome: CopyVerification.Finding.Outcome, _ path: String, _ words: String) {
        unseen.append(CopyVerification.Finding(outcome: outcome, file: path, words: words))
    }
}
