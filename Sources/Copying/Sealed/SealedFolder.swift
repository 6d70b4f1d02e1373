import Core
import Glibc
import System

/// The folder of one recorder's sealed copies on a volume; held against other copies while in use.
struct SealedFolder: Sendable {
    /// `Fieldscribe`, over all recorders.
    let top: Folder
    let folder: Folder
    /// Its name, which tells recorders apart and nothing of them: not even what somebody has called this one.
    let name: String

    private static let temporaries = ["sealing.partial"] + (2...9).map { "sealing-\($0).partial" }
    static let sumsName = "SHA256SUMS"

    /// Opens it below a volume's root, and makes what is missing of it.
    ///
    /// - Parameter identity: tells the recorder from others; nil where it has none.
    init(in root: Folder, identity: String?) throws(DeviceError) {
        top = try ExportFolder.folder(ExportFolder.topName, in: root)
        try top.lock()
        name = identity.map { "sealed-\($0.prefix(12).lowercased())" } ?? "sealed"
        folder = try ExportFolder.folder(name, in: top)
    }

    /// A name for a file that is being written; what a broken copy left under it is taken away.
    func freeTemporary() throws(DeviceError) -> String {
        for name in Self.temporaries where try clear(name) { return name }
        throw DeviceError(
            .failed, "open",
            "\(folder.path): \(Self.temporaries.joined(separator: ", ")) are not files of ours; move them away")
    }

    /// Takes away what broken copies left.
    func clearTemporaries() throws(DeviceError) {
        for name in Self.temporaries { _ = try clear(name) }
    }

    /// Whether the name is free now; false where something is there that is none of ours.
    private func clear(_ name: String) throws(DeviceError) -> Bool {
        guard let status = try folder.status(name) else { return true }
        guard status.kind == .file else { return false }
        try folder.remove(name)
        return true
    }

    /// Whether a sealed file is there as the ledger knows it, by its length and its beginning.
    func holds(_ name: SealedName, _ manifest: SealedManifest) throws(DeviceError) -> Bool {
        try Self.holds(name, manifest, in: folder)
    }

    static func holds(_ name: SealedName, _ manifest: SealedManifest, in folder: Folder) throws(DeviceError) -> Bool {
        guard let status = try folder.status(name.text), status.kind == .file, status.bytes == manifest.bytes else {
            return false
        }
        let bytes = try folder.openFile(name.text, O_RDONLY).bytes(count: SealedCopy.headLength)
        return Digest.of(bytes) == manifest.head
    }

    /// Keeps the digests of what is sealed here, for `sha256sum -c` and whoever copies from here.
    ///
    /// - Parameter known: of files that are here.
    func writeSums(_ known: [SealedName: SealedManifest]) throws(DeviceError) {
        var sums: [String: String] = [:]
        // What the ledger does not know of: from before, by an archive that keeps none.
        let before = (try? folder.openFile(Self.sumsName, O_RDONLY).content(limit: 1 << 22)) ?? []
        for line in String(decoding: before, as: UTF8.self).split(separator: "\n") {
            let digest = line.prefix(64)
            let file = String(line.dropFirst(66))
            guard line.utf8.count > 66, digest.allSatisfy(\.isHexDigit), SealedName(file) != nil,
                try folder.status(file)?.kind == .file
            else { continue }
            sums[file] = String(digest)
        }
        for (name, manifest) in known where try holds(name, manifest) { sums[name.text] = manifest.file }
        if sums.isEmpty { return }
        let text = sums.sorted { $0.key < $1.key }.map { "\($0.value)  \($0.key)\n" }.joined()
        _ = try folder.renewList(Self.sumsName, with: text)
    }

    /// Removes a sealed file, and what the list of digests says of it.
    static func remove(_ name: SealedName, from folder: Folder) throws(DeviceError) {
        if try folder.exists(sumsName) {
            let before = String(
                decoding: try folder.openFile(sumsName, O_RDONLY).content(limit: 1 << 22), as: UTF8.self)
            let lines = before.split(separator: "\n").filter { $0.dropFirst(66) != name.text }
            if lines.isEmpty {
                try folder.remove(sumsName)
            } else {
                _ = try folder.renewList(sumsName, with: lines.map { $0 + "\n" }.joined())
            }
        }
        try folder.remove(name.text)
        try folder.sync()
    }

    /// The numbers of this recorder's recordings that are on the volume in the clear, from before they were sealed.
    func recordingsInClear(device: DeviceName, identity: String?) throws(DeviceError) -> [Int] {
        var found: Set<Int> = []
        for other in try top.names() where DeviceName(other) != nil && other != name {
            guard RecorderFolder.belongs(other, to: device, identity, in: top), let folder = try? top.folder(other),
                let names = try? folder.names()
            else { continue }
            found.formUnion(names.compactMap { CopyName($0)?.recording })
        }
        return found.sorted()
    }
}
