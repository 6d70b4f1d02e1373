import Core
import Glibc
import System

/// One recorder's folder on a volume, for readable or for encrypted copies. Locked against other copy runs.
struct CopyFolder: Sendable {
    static let topName = "Fieldscribe"

    /// The folder `Fieldscribe`, which contains the folders of all recorders.
    let top: Folder
    let folder: Folder
    /// The folder's name, which may differ from the recorder's name.
    let device: DeviceName
    let isEncrypted: Bool

    /// Opens the folder below a volume's root, or creates it.
    ///
    /// - Parameters:
    ///   - device: the recorder's name, which is preferred for the folder of readable copies.
    ///   - identity: distinguishes recorders with the same name. The folder of encrypted copies is named after the
    ///     identity, so that the folder does not reveal the recorder's name.
    init(in root: Folder, device: DeviceName, identity: String?, isEncrypted: Bool) throws(DeviceError) {
        self.isEncrypted = isEncrypted
        top = try Self.openOrCreate(Self.topName, in: root)
        try top.lock()
        if isEncrypted {
            self.device = DeviceName(madeOf: identity.map { "sealed-\($0.prefix(12))" } ?? "sealed")
            folder = try Self.openOrCreate(self.device.text, in: top)
        } else {
            self.device = try RecorderFolder.name(of: device, identity, in: top)
            folder = try Self.openOrCreate(self.device.text, in: top)
            RecorderFolder.mark(folder, as: identity)
        }
    }

    private static func openOrCreate(_ name: String, in parent: Folder) throws(DeviceError) -> Folder {
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

    // MARK: temporaries

    private var temporaries: [String] {
        isEncrypted
            ? ["sealing.partial"] + (2...9).map { "sealing-\($0).partial" }
            : ["partial"] + (2...9).map { "partial-\($0)" }
    }

    func unusedTemporaryName() throws(DeviceError) -> String {
        for name in temporaries where try clear(name) { return name }
        throw DeviceError(
            .failed, "open", on: folder.path,
            "\(temporaries.joined(separator: ", ")) are not Fieldscribe's files", remedy: "move them away")
    }

    /// Removes the files that interrupted copies left behind.
    func clearTemporaries() throws(DeviceError) {
        for name in temporaries { _ = try clear(name) }
    }

    /// Removes an incomplete copy.
    ///
    /// - Returns: whether the name is unused now. False if something else has the name, or if the folder contains other
    ///   files, which stay.
    func clear(_ name: String) throws(DeviceError) -> Bool {
        guard let kind = try folder.status(name)?.kind else { return true }
        guard kind == (isEncrypted ? .file : .folder) else { return false }
        if isEncrypted {
            try folder.remove(name)
            return true
        }
        do throws(DeviceError) {
            let temporary = try folder.folder(name)
            for file in try temporary.names() where CopySettings.isName(file) { try temporary.remove(file) }
            try folder.removeFolder(name)
        } catch {
            // The folder contains other files, or another file system is mounted there.
            if [ENOTEMPTY, EEXIST, EISDIR, EPERM, EXDEV].contains(error.status) { return false }
            throw error
        }
        return true
    }
}

extension Folder {
    /// Returns the names of renamed copies that have a page, by the digest of the copy's manifest.
    func renamedCopies() throws(DeviceError) -> [String: String] {
        var found: [String: String] = [:]
        for name in try names().sorted() where CopyName(name) == nil && !name.hasPrefix(".") {
            guard !name.hasPrefix("partial"), !name.contains("\u{FFFD}"), let copy = try? folder(name),
                (try? copy.exists("index.html")) == true, let manifest = try? Manifest(in: copy)
            else { continue }
            found[manifest.digest] = name
        }
        return found
    }

    /// Replaces a text file. After a power cut, it has either the old or the new text.
    func replaceText(_ name: String, with text: String) throws(DeviceError) {
        let temporary = "\(name).new"
        for name in [name, temporary] { try checkReplaceable(name) }
        try rethrowing { try replace(name, temporary: temporary) { try $0.write(text) } }
    }

    /// Replaces a text file if its content differs.
    ///
    /// - Returns: whether it differed.
    func replaceIfChanged(_ name: String, with text: String) throws(DeviceError) -> Bool {
        let found = try? content(ofFile: name, limit: 1 << 22)
        if found == Array(text.utf8) { return false }
        try replaceText(name, with: text)
        return true
    }
}

extension NewFile {
    func write(_ text: String) throws(DeviceError) {
        var text = text
        try rethrowing { try text.withUTF8 { try write(UnsafeRawBufferPointer($0), at: length) } }
    }
}
