import Copying
import Core
import Glibc
import System

/// The copies and corrections in a folder or on a stick, at any depth. Names are untrusted, so the search follows no
/// links and stays on one file system.
struct FoundCopies {
    /// The location of a folder. The folder is opened only when needed, because the number of open files is limited.
    struct Location: Sendable {
        fileprivate let top: Folder
        /// The path from `top`.
        fileprivate var names: [String] = []

        /// The path, for messages only. Use `open()` to open the folder, because it does not follow links.
        var path: String { ([top.path] + names).joined(separator: "/") }

        /// Opens the folder without following links.
        func open() throws(DeviceError) -> Folder { try top.folder(along: names.joined(separator: "/")) }

        fileprivate func appending(_ name: String) -> Location { Location(top: top, names: names + [name]) }
    }

    /// A copy's folder, or the file of a sealed copy.
    struct Copy: Sendable {
        /// The copy's folder; for a sealed copy, the folder that contains its file.
        var place: Location
        /// The sealed file's name; nil for a readable copy.
        var sealed: String?
        /// The name of the copy's folder or sealed file.
        var name: String
        /// The recorder, according to the folder that contains the copies.
        var recorder: RecorderIdentity
        /// The names of files with corrections in the folder, unsorted.
        var saved: [String] = []

        /// The path, for messages and to distinguish copies. Use `place.open()` to open the folder, because it does not
        /// follow links.
        var path: String { sealed.map { "\(place.path)/\($0)" } ?? place.path }
    }

    private static let (maximumDepth, maximumNames) = (8, 1_000_000)

    /// The copies, sorted by path.
    private(set) var copies: [Copy] = []
    /// Files that look like corrections but are not beside a copy.
    private(set) var corrections: [(place: Location, name: String)] = []
    /// The rejected items, one line each.
    private(set) var problems: [String] = []

    /// The archive's own folder, which is skipped.
    private let archiveIdentity: (device: UInt64, inode: UInt64)

    /// - Parameters:
    ///   - path: the folder of a stick, a recorder or a copy, or any folder above it.
    ///   - files: the archive's own folder, which is skipped.
    /// - Throws: `DeviceError` if the folder itself cannot be opened.
    init(in path: String, excluding files: Folder) throws(DeviceError) {
        archiveIdentity = try files.identity()
        let top = try Folder(opening: path)
        let name = RecorderIdentity.name(ofFolder: path)
        var outerRecorder = RecorderIdentity(name: name)
        if try top.exists(CopySettings.manifestName) {
            // The folder is a copy, so the folder that contains it is the recorder's.
            outerRecorder.name = RecorderIdentity.name(ofFolder: "\(path)/..")
            if let parent = try? Folder(opening: "\(path)/.."),
                let recorder = try? Self.recorder(in: parent, named: outerRecorder.name)
            {
                outerRecorder = recorder
            }
        }
        search(top, at: Location(top: top), named: name, outerRecorder)
    }

    private mutating func search(
        _ folder: Folder, at place: Location, named name: String, _ outerRecorder: RecorderIdentity
    ) {
        do throws(DeviceError) {
            let identity = try folder.identity()
            guard identity != archiveIdentity else {
                if place.names.isEmpty {
                    problems.append("\(folder.path): is the archive itself; choose another folder")
                }
                return
            }
            let names = try folder.names(limit: Self.maximumNames).sorted()
            if names.contains(CopySettings.manifestName), !names.contains(where: { SealedName($0) != nil }) {
                let saved = names.filter(SavedCorrections.isName)
                return copies.append(Copy(place: place, sealed: nil, name: name, recorder: outerRecorder, saved: saved))
            }
            if CopyName(name) != nil { return problems.append(Self.incomplete(folder.path)) }
            var inside = RecorderIdentity(name: name)
            if let recorder = try Self.recorder(in: folder, named: name) {
                inside = recorder
            } else if name.hasPrefix("sealed-"), let machine = Self.machine(String(name.dropFirst("sealed-".count))) {
                inside.machine = machine
            }
            for entry in names where !entry.hasPrefix(".") {
                if SealedName(entry) != nil {
                    copies.append(Copy(place: place, sealed: entry, name: entry, recorder: inside))
                } else if entry.hasPrefix("sealing"), entry.hasSuffix(".partial") {
                    problems.append(Self.incomplete("\(folder.path)/\(entry)"))
                } else if let status = try folder.status(entry) {
                    try visit(entry, status, in: folder, place, inside)
                } else if entry.contains("\u{FFFD}") {
                    // Decoding has replaced bytes of such a name, so the file cannot be opened.
                    problems.append(
                        "\(folder.path)/\(entry): has a name that is not in UTF-8, so it was skipped; rename it")
                }
            }
        } catch { problems.append(error.message) }
    }

    private mutating func visit(
        _ entry: String, _ status: FileStatus, in folder: Folder, _ place: Location, _ inside: RecorderIdentity
    ) throws(DeviceError) {
        switch status.kind {
        case .folder where CopyName.isTemporary(entry): problems.append(Self.incomplete("\(folder.path)/\(entry)"))
        case .folder where place.names.count < Self.maximumDepth:
            let inner: Folder
            do throws(DeviceError) { inner = try folder.folder(entry) } catch { return problems.append(error.message) }
            search(inner, at: place.appending(entry), named: entry, inside)
        case .file where SavedCorrections.isName(entry): corrections.append((place, entry))
        default: break
        }
    }

    private static func incomplete(_ path: String) -> String {
        "\(path): is an incomplete copy; plug the stick into its recorder again to complete it"
    }

    /// Reads RECORDER.txt, which contains the machine's digits and, in an archive, a line with the name. Nil if there
    /// is no such file.
    private static func recorder(in folder: Folder, named folderName: String) throws(DeviceError) -> RecorderIdentity? {
        guard try folder.exists(RecorderFolder.fileName) else { return nil }
        let bytes = try folder.openFile(RecorderFolder.fileName, O_RDONLY).bytes(count: 4_096)
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        let name = lines.first { $0.hasPrefix("name: ") }?.dropFirst("name: ".count) ?? ""
        let isName = !name.isEmpty && name.utf8.count <= 64
        return RecorderIdentity(name: isName ? String(name) : folderName, machine: lines.first.flatMap(machine))
    }

    /// Returns the first twelve digits, which are also in the names of folders with sealed copies.
    private static func machine(_ text: String) -> String? {
        let digits = text.prefix(12).lowercased()
        return digits.count == 12 && digits.allSatisfy { $0.isASCII && $0.isHexDigit } ? digits : nil
    }
}
