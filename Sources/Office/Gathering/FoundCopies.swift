import Copying
import Core
import Glibc
import System

/// The copies and corrections in a folder or on a stick, at any depth. Names are untrusted, so the search follows no
/// links and stays on one file system.
struct FoundCopies {
    /// A folder that was found. It is opened only when needed, because the number of open files is limited.
    struct Place: Sendable {
        fileprivate let top: Folder
        /// The path from `top`.
        fileprivate var names: [String] = []

        /// For messages only: open the folder with `open()`, which follows no links.
        var path: String { ([top.path] + names).joined(separator: "/") }

        /// Opens the folder without following links.
        func open() throws(DeviceError) -> Folder { try top.folder(along: names.joined(separator: "/")) }

        fileprivate func inner(_ name: String) -> Place { Place(top: top, names: names + [name]) }
    }

    /// A copy's folder, or the file of a sealed copy.
    struct Copy: Sendable {
        /// The folder; for a sealed copy, the one that contains its file.
        var place: Place
        /// The sealed file's name; nil for a readable copy.
        var sealed: String?
        /// The name of its folder.
        var name: String
        /// The recorder, according to the folder around the copies.
        var recorder: RecorderIdentity
        /// The names of corrections beside it, unsorted.
        var saved: [String] = []

        /// For messages, and to tell copies apart: open with `place.open()`, which follows no links.
        var path: String { sealed.map { "\(place.path)/\($0)" } ?? place.path }
    }

    private static let (maxDepth, maxNames) = (8, 1_000_000)

    /// Sorted by path.
    private(set) var copies: [Copy] = []
    /// Files that look like corrections and are not beside a copy.
    private(set) var corrections: [(place: Place, name: String)] = []
    /// Rejected items, one per line.
    private(set) var problems: [String] = []

    /// The archive's own folder, which is skipped.
    private let own: (device: UInt64, inode: UInt64)

    /// - Parameters:
    ///   - path: the folder of a stick, a recorder or a copy, or any folder above it.
    ///   - files: the archive's own folder, which is skipped.
    /// - Throws: `DeviceError` if the folder itself cannot be opened.
    init(in path: String, excluding files: Folder) throws(DeviceError) {
        own = try files.identity()
        let top = try Folder(opening: path)
        let name = RecorderIdentity.name(ofFolder: path)
        var around = RecorderIdentity(name: name)
        if try top.exists(CopySettings.manifestName) {
            // The folder is a copy; the folder around it is its recorder's.
            around.name = RecorderIdentity.name(ofFolder: "\(path)/..")
            if let parent = try? Folder(opening: "\(path)/.."),
                let named = try? Self.recorder(in: parent, named: around.name)
            {
                around = named
            }
        }
        look(in: top, at: Place(top: top), named: name, around)
    }

    private mutating func look(in folder: Folder, at place: Place, named name: String, _ around: RecorderIdentity) {
        do throws(DeviceError) {
            let identity = try folder.identity()
            guard identity != own else {
                if place.names.isEmpty { problems.append("\(folder.path): is the archive itself; name another folder") }
                return
            }
            let names = try folder.names(limit: Self.maxNames).sorted()
            if names.contains(CopySettings.manifestName), !names.contains(where: { SealedName($0) != nil }) {
                let saved = names.filter(SavedCorrections.isName)
                return copies.append(Copy(place: place, sealed: nil, name: name, recorder: around, saved: saved))
            }
            if CopyName(name) != nil { return problems.append(Self.incomplete(folder.path)) }
            var inside = RecorderIdentity(name: name)
            if let named = try Self.recorder(in: folder, named: name) {
                inside = named
            } else if name.hasPrefix("sealed-"), let machine = Self.machine(String(name.dropFirst("sealed-".count))) {
                inside.machine = machine
            }
            for entry in names where !entry.hasPrefix(".") {
                if SealedName(entry) != nil {
                    copies.append(Copy(place: place, sealed: entry, name: entry, recorder: inside))
                } else if entry.hasPrefix("sealing"), entry.hasSuffix(".partial") {
                    problems.append(Self.incomplete("\(folder.path)/\(entry)"))
                } else if let status = try folder.status(entry) {
                    try look(at: entry, status, in: folder, place, inside)
                } else if entry.contains("\u{FFFD}") {
                    // Such a name is lost in decoding, so the file cannot be opened.
                    problems.append(
                        "\(folder.path)/\(entry): has a name that is not in UTF-8, and was skipped; rename it"
                    )
                }
            }
        } catch { problems.append(error.message) }
    }

    private mutating func look(
        at entry: String, _ status: FileStatus, in folder: Folder, _ place: Place, _ inside: RecorderIdentity
    ) throws(DeviceError) {
        switch status.kind {
        case .folder where CopyName.isTemporary(entry): problems.append(Self.incomplete("\(folder.path)/\(entry)"))
        case .folder where place.names.count < Self.maxDepth:
            let inner: Folder
            do throws(DeviceError) { inner = try folder.folder(entry) } catch { return problems.append(error.message) }
            look(in: inner, at: place.inner(entry), named: entry, inside)
        case .file where SavedCorrections.isName(entry): corrections.append((place, entry))
        default: break
        }
    }

    private static func incomplete(_ path: String) -> String {
        "\(path): is an incomplete copy; plug the stick into its recorder again to complete it"
    }

    /// Reads RECORDER.txt: the machine's digits and, in an archive, a line with the name. Nil without the file.
    private static func recorder(in folder: Folder, named folderName: String) throws(DeviceError) -> RecorderIdentity? {
        guard try folder.exists(RecorderFolder.fileName) else { return nil }
        let bytes = try folder.openFile(RecorderFolder.fileName, O_RDONLY).bytes(count: 4_096)
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        let name = lines.first { $0.hasPrefix("name: ") }?.dropFirst("name: ".count) ?? ""
        let isName = !name.isEmpty && name.utf8.count <= 64
        return RecorderIdentity(name: isName ? String(name) : folderName, machine: lines.first.flatMap(machine))
    }

    /// Returns the first twelve digits, as in the name of a folder of sealed copies.
    private static func machine(_ text: String) -> String? {
        let digits = text.prefix(12).lowercased()
        return digits.count == 12 && digits.allSatisfy { $0.isASCII && $0.isHexDigit } ? digits : nil
    }
}
