import Audio
import Core
import System
import Transcripts

/// Finds copies in a folder and its subfolders by their content, since people rename and move them. Follows no link and
/// enters no other file system, since the names are untrusted.
struct PlacedCopies {
    private static let (deepest, most) = (8, 100_000)

    /// The relative paths, sorted; empty for the folder itself.
    private(set) var places: [String] = []
    /// What could not be searched.
    private(set) var unseen: [CopyVerification.Finding] = []
    private var count = 0

    /// - Throws: `DeviceError` if the folder itself cannot be read.
    init(in folder: Folder) throws(DeviceError) {
        let names = try folder.names(limit: CopyVerification.maxFiles)
        search(folder, names, at: [])
    }

    /// Returns whether a folder with these names in it is a copy or the remains of one.
    private static func isCopy(_ names: Set<String>, named name: String?) -> Bool {
        let signs: Set<String> = [CopySettings.manifestName, CopySettings.signatureName, historyFileName]
        if name.flatMap({ CopyName($0) }) != nil || !names.isDisjoint(with: signs) { return true }
        if names.contains(where: { SealedName($0) != nil }) { return true }
        let sounds = Set(AudioForm.allCases.map(\.fileName))
        let texts = Set(TranscriptFormat.allCases.map(\.fileName))
        return !names.isDisjoint(with: sounds) && !names.isDisjoint(with: texts)
    }

    private mutating func search(_ folder: Folder, _ names: [String], at place: [String]) {
        if Self.isCopy(Set(names), named: place.last) { places.append(place.joined(separator: "/")) }
        // Inside copies too: a copy must not hide others below it.
        for name in names.sorted() where !name.hasPrefix(".") && name != "lost+found" {
            do throws(DeviceError) { try visit(name, in: folder, place) } catch {
                report(.unchecked, "\(folder.path)/\(name)", "cannot be checked: \(error.reason)")
            }
        }
    }

    private mutating func visit(_ name: String, in folder: Folder, _ place: [String]) throws(DeviceError) {
        let path = "\(folder.path)/\(name)"
        guard let kind = try folder.status(name)?.kind else {
            if name.contains("\u{FFFD}") {
                report(.unchecked, path, "has a name that is not UTF-8, and was skipped; rename it")
            }
            return
        }
        guard kind == .folder else {
            // A file with a copy's name: opening it reports the fault.
            if CopyName(name) != nil { places.append((place + [name]).joined(separator: "/")) }
            return
        }
        if CopyName.isTemporary(name) {
            return report(
                .note, path, "is an incomplete copy; to complete it, plug the stick into its recorder again")
        }
        guard place.count < Self.deepest, count < Self.most else {
            return report(
                .unchecked, path, "is nested too deeply, or comes after too many folders; name it to have it checked")
        }
        count += 1
        let inner = try folder.folder(name)
        search(inner, try inner.names(limit: CopyVerification.maxFiles), at: place + [name])
    }

    private mutating func report(_ outcome: CopyVerification.Finding.Outcome, _ path: String, _ words: String) {
        unseen.append(CopyVerification.Finding(outcome, path, words))
    }
}
