import Core
import System

/// The location of a recording's file: its open folder and its name.
///
/// In an archive, `ROOT/recordings/000007/audio.wav`, nothing after ROOT may be a symbolic link, because a link could
/// redirect reads, repairs and deletions to any other file. In other paths, only the file itself may not be a link.
struct RecordingLocation: Sendable {
    let folder: Folder
    let name: String

    /// - Throws: `DeviceError` with `missing` or `denied` if the folder cannot be opened.
    init(_ path: String) throws(DeviceError) {
        var names = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        name = names.popLast() ?? path
        let number = names.last ?? ""
        guard names.count > 2, names[names.count - 2] == Self.recordings, !number.isEmpty,
            number.utf8.allSatisfy(\.isASCIIDigit)
        else {
            folder = try Folder(opening: names.isEmpty ? "." : names == [""] ? "/" : names.joined(separator: "/"))
            return
        }
        let root = names.dropLast(2).joined(separator: "/")
        folder = try Folder(opening: root.isEmpty ? "/" : root, crossesMounts: true).folder(Self.recordings).folder(
            number)
    }

    private init(_ folder: Folder, _ name: String) { (self.folder, self.name) = (folder, name) }

    /// Returns the location of another file in the folder, even if the folder was renamed.
    func sibling(_ name: String) -> RecordingLocation { RecordingLocation(folder, name) }

    func path(of name: String) -> String { "\(folder.path)/\(name)" }

    private static let recordings = "recordings"
}
