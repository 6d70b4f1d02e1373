import Core
import System

/// Where a recording's file lies: its folder, opened, and its name in it.
///
/// In an archive, `ROOT/recordings/000007/audio.wav`, nothing behind ROOT may be a link: who can write there could lead
/// whoever reads, repairs or erases to any other file. Of any other path, that holds for the file's own name.
struct RecordingPlace: Sendable {
    let folder: Folder
    let name: String

    /// - Throws: `DeviceError` with `missing` or `denied` of its folder.
    init(_ path: String) throws(DeviceError) {
        var names = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        name = names.popLast() ?? path
        let number = names.last ?? ""
        guard names.count > 2, names[names.count - 2] == Self.recordings, !number.isEmpty,
            number.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else {
            folder = try Folder(opening: names.isEmpty ? "." : names == [""] ? "/" : names.joined(separator: "/"))
            return
        }
        let root = names.dropLast(2).joined(separator: "/")
        folder = try Folder(opening: root.isEmpty ? "/" : root, crosses: true).folder(Self.recordings).folder(number)
    }

    /// The path of a file of that name beside it.
    func path(of name: String) -> String { "\(folder.path)/\(name)" }

    private static let recordings = "recordings"
}
