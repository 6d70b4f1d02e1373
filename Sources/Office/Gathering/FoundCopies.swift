import Copying
import Core
import Glibc
import System

/// What there is to gather in a folder or on a stick, however deep it lies. Names there are a stranger's: no link is followed, and no
/// other file system is entered.
struct FoundCopies {
    /// A folder that was found: opened when it is needed, since there may be more than a process may have open.
    struct Place: Sendable {
        fileprivate let top: Folder
        /// The names that lead to it from there.
        fileprivate var names: [String] = []

        /// What errors name.
        var path: String { ([top.path] + names).joined(separator: "/") }

        /// Opens it, with no link on the way.
        func open() throws(DeviceError) -> Folder {
            var folder = top
            for name in names { folder = try folder.folder(name) }
            return folder
        }

        fileprivate func inner(_ name: String) -> Place { Place(top: top, names: names + [name]) }
    }

    /// The folder of a copy, or a sealed one's file.
    struct Copy: Sendable {
        /// Where it lies; a sealed file lies in it.
        var place: Place
        /// The sealed file's name; nil for a copy that is not sealed.
        var sealed: String?
        /// What its folder is called.
        var name: String
        /// What the folder with all of its recorder's copies tells of that.
        var recorder: RecorderIdentity
        /// The names of what people have saved beside it, in no order.
        var saved: [String] = []

        /// What a person looks for.
        var path: String { sealed.map { "\(place.path)/\($0)" } ?? place.path }
    }

    private static let (deepest, most) = (8, 1_000_000)

    /// In the order of their paths.
    private(set) var copies: [Copy] = []
    /// Files that look like corrections, and lie beside no copy.
    private(set) var corrections: [(place: Place, name: String)] = []
    /// What is refused already, a line each.
    private(set) var problems: [String] = []

    /// Where nothing is looked for: the archive's own files.
    private let own: (device: UInt64, inode: UInt64)

    /// - Parameters:
    ///   - path: a stick's, a recorder's, a copy's or any folder over such.
    ///   - files: the archive's own, which are no source of it.
    /// - Throws: `DeviceError` where the folder itself cannot be opened.
    init(in path: String, besides files: Folder) throws(DeviceError) {
        own = try files.identity()
        let top = try Folder(opening: path)
        var around = RecorderIdentity(name: Self.lastName(of: path))
        if try top.exists(CopySettings.manifestName) {
            // It is a copy itself, and the folder around it its recorder's.
            around.name = Self.lastName(of: "\(path)/..")
            if let parent = try? Folder(opening: "\(path)/.."), let told = try? Self.machine(in: parent) {
                around = RecorderIdentity(name: told.name ?? around.name, machine: told.machine)
            }
        }
        look(in: top, at: Place(top: top), named: Self.lastName(of: path), around)
    }

    private mutating func look(in folder: Folder, at place: Place, named name: String, _ around: RecorderIdentity) {
        do throws(DeviceError) {
            let identity = try folder.identity()
            guard identity != own else {
                if place.names.isEmpty { problems.append("\(folder.path): is the archive itself; name another folder") }
                return
            }
            let names = try folder.names(limit: Self.most).sorted()
            if names.contains(CopySettings.manifestName), !names.contains(where: { SealedName($0) != nil }) {
                let saved = names.filter(SavedCorrections.isName)
                return copies.append(Copy(place: place, sealed: nil, name: name, recorder: around, saved: saved))
            }
            if CopyName(name) != nil { return problems.append(Self.half(folder.path)) }
            var inside = RecorderIdentity(name: name)
            if let told = try Self.machine(in: folder) {
                inside = RecorderIdentity(name: told.name ?? name, machine: told.machine)
            } else if name.hasPrefix("sealed-"), let machine = Self.machine(String(name.dropFirst("sealed-".count))) {
                inside.machine = machine
            }
            for entry in names where !entry.hasPrefix(".") {
                if SealedName(entry) != nil {
                    copies.append(Copy(place: place, sealed: entry, name: entry, recorder: inside))
                } else if entry.hasPrefix("sealing"), entry.hasSuffix(".partial") {
                    problems.append(Self.half("\(folder.path)/\(entry)"))
                } else if let status = try folder.status(entry) {
                    try look(at: entry, status, in: folder, place, inside)
                } else if entry.contains("\u{FFFD}") {
                    // Its bytes are no text, so that nothing can be opened by it.
                    problems.append(
                        "\(folder.path)/\(entry): has a name that is not in UTF-8, so that nothing in it was looked at; rename it"
                    )
                }
            }
        } catch { problems.append(error.message) }
    }

    private mutating func look(
        at entry: String, _ status: FileStatus, in folder: Folder, _ place: Place, _ inside: RecorderIdentity
    ) throws(DeviceError) {
        switch status.kind {
        case .folder where CopyName.isTemporary(entry): problems.append(Self.half("\(folder.path)/\(entry)"))
        case .folder where place.names.count < Self.deepest:
            let inner: Folder
            do throws(DeviceError) { inner = try folder.folder(entry) } catch { return problems.append(error.message) }
            look(in: inner, at: place.inner(entry), named: entry, inside)
        case .file where SavedCorrections.isName(entry): corrections.append((place, entry))
        default: break
        }
    }

    private static func half(_ path: String) -> String {
        "\(path): is half of a copy; plug the stick into its recorder once more, which completes it"
    }

    /// What a recorder's folder tells of it: a line with a number, and in an archive another with the name.
    private static func machine(in folder: Folder) throws(DeviceError) -> (machine: String?, name: String?)? {
        guard try folder.exists(RecorderFolder.fileName) else { return nil }
        let bytes = try folder.openFile(RecorderFolder.fileName, O_RDONLY).bytes(count: 4_096)
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        let name = lines.first { $0.hasPrefix("name: ") }.map { String($0.dropFirst("name: ".count)) }
        return (lines.first.flatMap(machine), name.flatMap { $0.isEmpty || $0.utf8.count > 64 ? nil : $0 })
    }

    /// The first twelve of its digits, which is what a folder of sealed copies has, too.
    private static func machine(_ text: String) -> String? {
        let digits = text.prefix(12).lowercased()
        return digits.count == 12 && digits.allSatisfy { $0.isASCII && $0.isHexDigit } ? digits : nil
    }

    private static func lastName(of path: String) -> String {
        guard let real = try? realPath(path) else { return path.split(separator: "/").last.map(String.init) ?? path }
        return real.split(separator: "/").last.map(String.init) ?? "recorder"
    }
}
