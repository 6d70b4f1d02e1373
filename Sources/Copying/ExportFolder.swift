import Core
import Glibc
import System

/// The folder of one recorder on a volume, where complete copies stand; held against other copies while in use.
struct ExportFolder: Sendable {
    /// `Fieldscribe`, over all recorders.
    let top: Folder
    let folder: Folder
    /// The folder's name, which may be another than the recorder's.
    let device: DeviceName
    private let temporaries = ["partial"] + (2...9).map { "partial-\($0)" }

    static let topName = "Fieldscribe"

    /// Opens it below a volume's root, and makes what is missing of it.
    ///
    /// - Parameter identity: tells the recorder from others of its name; nil where it has none.
    init(in root: Folder, device: DeviceName, identity: String? = nil) throws(DeviceError) {
        top = try Self.folder(Self.topName, in: root)
        try top.lock()
        self.device = try RecorderFolder.name(of: device, identity, in: top)
        folder = try Self.folder(self.device.text, in: top)
        RecorderFolder.tell(identity, in: folder)
    }

    /// The copies whose folders a person has given other names, by the digests of their manifests.
    func renamed() throws(DeviceError) -> [String: String] { try Self.renamed(in: folder) }

    static func renamed(in folder: Folder) throws(DeviceError) -> [String: String] {
        var found: [String: String] = [:]
        for name in try folder.names().sorted() where CopyName(name) == nil && !name.hasPrefix(".") {
            guard !name.hasPrefix("partial"), !name.contains("\u{FFFD}"), let copy = try? folder.folder(name),
                (try? copy.exists("index.html")) == true, let manifest = try? Manifest(in: copy)
            else { continue }
            found[manifest.digest] = name
        }
        return found
    }

    /// A folder in another, which is made where it is missing.
    static func folder(_ name: String, in parent: Folder) throws(DeviceError) -> Folder {
        if try !parent.exists(name) {
            do throws(DeviceError) {
                try parent.makeFolder(name)
                try parent.sync()
            } catch {
                guard error.status == EEXIST else { throw error }
            }
        }
        return try parent.folder(name)
    }

    /// An empty folder under a temporary name; what a broken copy left under it is taken away, and what somebody else
    /// put there stays.
    func makeTemporary() throws(DeviceError) -> (name: String, folder: Folder) {
        for name in temporaries {
            if try folder.exists(name), try !clear(name) { continue }
            try folder.makeFolder(name)
            try folder.sync()
            return (name, try folder.folder(name))
        }
        throw DeviceError(
            .failed, "mkdir",
            "\(folder.path): \(temporaries.joined(separator: ", ")) contain files that are not ours; move them away")
    }

    /// Takes away what broken copies left.
    func clearTemporaries() throws(DeviceError) {
        for name in temporaries where try folder.exists(name) { _ = try clear(name) }
    }

    /// Removes a temporary folder with the files of ours in it; false where something else is in it.
    func clear(_ name: String) throws(DeviceError) -> Bool {
        let temporary: Folder
        do throws(DeviceError) { temporary = try folder.folder(name) } catch {
            // A file or a link of that name is not ours.
            if [ELOOP, ENOTDIR, EXDEV].contains(error.status) { return false }
            throw error
        }
        do throws(DeviceError) {
            for file in CopySettings.allNames { try temporary.remove(file) }
            try folder.removeFolder(name)
        } catch {
            if [ENOTEMPTY, EEXIST, EISDIR, EPERM].contains(error.status) { return false }
            throw error
        }
        return true
    }

    /// Gives a complete copy its final name, durably.
    func finish(_ temporary: String, as name: CopyName) throws(DeviceError) {
        try folder.rename(temporary, toFree: name.text)
        try folder.sync()
        try folder.syncFileSystem()
    }
}

extension Folder {
    /// Replaces a text, such as one of the lists that stand over all copies; it is whole at any moment.
    func replaceList(_ name: String, with text: String) throws(DeviceError) {
        let temporary = "\(name).new"
        for name in [name, temporary] { try checkReplaceable(name) }
        try remove(temporary)
        do throws(DeviceError) {
            let file = try NewFile(temporary, in: self, shouldStop: { false })
            try file.write(text)
            try file.sync()
            try rename(temporary, replacing: name)
        } catch {
            try? remove(temporary)
            throw error
        }
        try sync()
    }

    /// The same, where another text is there; whether it was written.
    func renewList(_ name: String, with text: String) throws(DeviceError) -> Bool {
        let found = try? openFile(name, O_RDONLY).content(limit: 1 << 22)
        if found == Array(text.utf8) { return false }
        try replaceList(name, with: text)
        return true
    }
}

extension NewFile {
    func write(_ text: String) throws(DeviceError) {
        var text = text
        try rethrowing { try text.withUTF8 { try write(UnsafeRawBufferPointer($0), at: length) } }
    }
}
