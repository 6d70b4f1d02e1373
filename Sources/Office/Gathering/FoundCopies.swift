import Copying
import Core
import Glibc
import System

/// The copies and corrections in a folder or on a stick, and in subfolders up to `maximumDepth`. Names are untrusted, so
/// the search follows no links and stays on one file system.
struct FoundCopies {
    /// The location of a folder, which is opened only when needed, because the number of open files is limited.
    struct Location: Sendable {
        fileprivate let top: Folder
        /// The path from `top`.
        fileprivate var names: [String] = []

        /// The path, for messages only. Use `open()` to open the folder, because that does not follow links.
        var path: String { ([top.path] + names).joined(separator: "/") }

        func open() throws(DeviceError) -> Folder { try top.folder(along: names.joined(separator: "/")) }

        fileprivate func appending(_ name: String) -> Location { Location(top: top, names: names + [name]) }
    }

    /// A copy's folder, or the file of a sealed copy.
    struct Copy: Sendable {
        /// The copy's folder; for a sealed copy, the folder that contains its file.
        var location: Location
        /// The sealed file's name; nil for a readable copy.
        var sealedName: String?
        var name: String
        /// The recorder according to the folder that contains the copies.
        var recorder: RecorderIdentity
        var correctionNames: [String] = []

        /// The path, for messages and to distinguish copies. Use `location.open()` to open the folder, because that
        /// does not follow links.
        var path: String { sealedName.map { "\(location.path)/\($0)" } ?? location.path }
    }

    private static let (maximumDepth, maximumNames) = (8, 1_000_000)

    /// The copies, sorted by path.
    private(set) var copies: [Copy] = []
    /// Files that look like corrections but are not beside a copy.
    private(set) var corrections: [(location: Location, name: String)] = []
    /// One line for each rejected item.
    private(set) var problems: [String] = []

    private let archiveIdentity: (device: UInt64, inode: UInt64)

    /// - Parameters:
    ///   - path: the folder of a stick, a recorder or a copy, or any folder above it.
    ///   - files: the archive's own folder, which the search skips.
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
        _ folder: Folder, at location: Location, named name: String, _ outerRecorder: RecorderIdentity
    ) {
        do throws(DeviceError) {
            let identity = try folder.identity()
            guard identity != archiveIdentity else {
                if location.names.isEmpty {
                    problems.append("\(folder.path): is the archive itself; choose another folder")
                }
                return
            }
            let names = try folder.names(limit: Self.maximumNames).sorted()
            if names.contains(CopySettings.manifestName), !names.contains(where: { SealedName($0) != nil }) {
                return copies.append(
                    Copy(
                        location: location, sealedName: nil, name: name, recorder: outerRecorder,
                        correctionNames: names.filter(SavedCorrections.isFileName)))
            }
            if CopyName(name) != nil { return problems.append(Self.incomplete(folder.path)) }
            var innerRecorder = RecorderIdentity(name: name)
            if let recorder = try Self.recorder(in: folder, named: name) {
                innerRecorder = recorder
            } else if name.hasPrefix("sealed-"), let machine = Self.machine(String(name.dropFirst("sealed-".count))) {
                innerRecorder.machine = machine
            }
            for entry in names where !entry.hasPrefix(".") {
                if SealedName(entry) != nil {
                    copies.append(Copy(location: location, sealedName: entry, name: entry, recorder: innerRecorder))
                } else if entry.hasPrefix("sealing"), entry.hasSuffix(".partial") {
                    problems.append(Self.incomplete("\(folder.path)/\(entry)"))
                } else if let status = try folder.status(entry) {
                    try visit(entry, status, in: folder, location, innerRecorder)
                } else if entry.contains("\u{FFFD}") {
                    // The decoded name differs from the real one, so the file cannot be opened.
                    problems.append(
                        "\(folder.path)/\(entry): has a name that is not in UTF-8, so it was skipped; rename it")
                }
            }
        } catch { problems.append(error.message) }
    }

    private mutating func visit(
        _ entry: String, _ status: FileStatus, in folder: Folder, _ location: Location,
        _ innerRecorder: RecorderIdentity
    ) throws(DeviceError) {
        switch status.kind {
        case .folder where CopyName.isTemporary(entry): problems.append(Self.incomplete("\(folder.path)/\(entry)"))
        case .folder where location.names.count < Self.maximumDepth:
            let subfolder: Folder
            do throws(DeviceError) { subfolder = try folder.folder(entry) } catch {
                return problems.append(error.message)
            }
            search(subfolder, at: location.appending(entry), named: entry, innerRecorder)
        case .file where SavedCorrections.isFileName(entry): corrections.append((location, entry))
        default: break
        }
    }

    private static func incomplete(_ path: String) -> String {
        "\(path): is an incomplete copy; plug the stick into its recorder again to complete it"
    }

    /// Reads RECORDER.txt, which contains the machine ID's digits and, in an archive, a line with the name. Returns nil if
    /// there is no such file.
    private static func recorder(in folder: Folder, named folderName: String) throws(DeviceError) -> RecorderIdentity? {
        guard try folder.exists(RecorderFolder.fileName) else { return nil }
        let bytes = try folder.openFile(RecorderFolder.fileName, O_RDONLY).bytes(count: 4_096)
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        let name = lines.first { $0.hasPrefix("name: ") }?.dropFirst("name: ".count) ?? ""
        let isValidName = !name.isEmpty && name.utf8.count <= 64
        return RecorderIdentity(name: isValidName ? String(name) : folderName, machine: lines.first.flatMap(machine))
    }

    /// Returns the machine ID's first twelve digits, which are also in the names of folders with sealed copies.
    private static func machine(_ text: String) -> String? {
        let digits = text.prefix(12).lowercased()
        return digits.count == 12 && digits.allSatisfy { $0.isASCII && $0.isHexDigit } ? digits : nil
    }
}
