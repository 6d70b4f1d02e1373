import Audio
import Core
import System
import Transcripts

/// Finds copies in a folder and its subfolders by their content, because people rename and move them. Does not follow
/// links or enter other file systems, because the folder is untrusted.
struct CopySearch {
    private static let (maximumDepth, maximumFolders) = (8, 100_000)

    /// The copies' relative paths; an empty path stands for the folder itself. A folder comes before its subfolders.
    private(set) var paths: [String] = []
    /// The findings about folders that could not be searched, and about incomplete copies.
    private(set) var findings: [CopyVerification.Finding] = []
    private var folderCount = 0

    /// - Throws: `DeviceError` if the folder itself cannot be read.
    init(in folder: Folder) throws(DeviceError) {
        let names = try folder.names(limit: CopyVerification.maximumFiles)
        search(folder, names, at: [])
    }

    /// Returns whether a folder that contains these names is a copy or the remains of a copy.
    private static func isCopy(_ names: Set<String>, named name: String?) -> Bool {
        let copyFiles: Set<String> = [CopySettings.manifestName, CopySettings.signatureName, historyFileName]
        if name.flatMap({ CopyName($0) }) != nil || !names.isDisjoint(with: copyFiles) { return true }
        if names.contains(where: { SealedName($0) != nil }) { return true }
        let audioFiles = Set(AudioFormat.allCases.map(\.fileName))
        let transcripts = Set(TranscriptFormat.allCases.map(\.fileName))
        return !names.isDisjoint(with: audioFiles) && !names.isDisjoint(with: transcripts)
    }

    private mutating func search(_ folder: Folder, _ names: [String], at location: [String]) {
        if Self.isCopy(Set(names), named: location.last) { paths.append(location.joined(separator: "/")) }
        // Also searches inside copies, so that a copy cannot hide others below it.
        for name in names.sorted() where !name.hasPrefix(".") && name != "lost+found" {
            do throws(DeviceError) { try visit(name, in: folder, location) } catch {
                report(.unchecked, "\(folder.path)/\(name)", "cannot be checked: \(error.reason)")
            }
        }
    }

    private mutating func visit(_ name: String, in folder: Folder, _ location: [String]) throws(DeviceError) {
        let path = "\(folder.path)/\(name)"
        guard let kind = try folder.status(name)?.kind else {
            if name.contains("\u{FFFD}") {
                report(.unchecked, path, "was skipped because its name is not UTF-8; rename it")
            }
            return
        }
        guard kind == .folder else {
            // If a file has a copy's name, the verification reports that it is not a folder.
            if CopyName(name) != nil { paths.append((location + [name]).joined(separator: "/")) }
            return
        }
        if CopyName.isTemporary(name) {
            return report(
                .note, path, "is an incomplete copy; to complete it, plug the stick into its recorder again")
        }
        guard location.count < Self.maximumDepth, folderCount < Self.maximumFolders else {
            return report(
                .unchecked, path, "was skipped: nested too deeply, or too many folders; check it separately")
        }
        folderCount += 1
        let inner = try folder.folder(name)
        search(inner, try inner.names(limit: CopyVerification.maximumFiles), at: location + [name])
    }

    private mutating func report(_ outcome: CopyVerification.Finding.Outcome, _ path: String, _ detail: String) {
        findings.append(CopyVerification.Finding(outcome, path, detail))
    }
}
