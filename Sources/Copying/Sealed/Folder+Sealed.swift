import Core
import System

extension Folder {
    /// Returns the manifest of an encrypted copy that the ledger lists, if its file is in this folder. Compares only
    /// the file's length and first bytes.
    func manifest(of copy: KnownCopies<SealedName>.Copy) throws(DeviceError) -> SealedManifest? {
        guard let manifest = SealedManifest(copy.entry.manifest) else { return nil }
        return try RecordingSealer.exists(manifest, in: self, as: copy.name.text) ? manifest : nil
    }

    /// Writes the digests of the encrypted files in this folder, for `sha256sum -c`.
    func writeSums(_ known: KnownCopies<SealedName>) throws(DeviceError) {
        var sums: [String: String] = [:]
        // Keeps the digests of files that the ledger does not list, such as files from an earlier ledger.
        let oldSums = (try? content(ofFile: CopySettings.manifestName, limit: 1 << 22)) ?? []
        for line in String(decoding: oldSums, as: UTF8.self).split(separator: "\n") {
            let digest = line.prefix(64)
            let file = String(line.dropFirst(66))
            guard line.utf8.count > 66, digest.allSatisfy(\.isHexDigit), SealedName(file) != nil,
                try status(file)?.kind == .file
            else { continue }
            sums[file] = String(digest)
        }
        for copy in known.latestByName {
            if let manifest = try manifest(of: copy) { sums[copy.name.text] = manifest.file }
        }
        if sums.isEmpty { return }
        _ = try replaceIfChanged(CopySettings.manifestName, with: Manifest(sums).text)
    }

    /// Removes an encrypted file and its line in the list of digests.
    func removeSealed(_ name: SealedName) throws(DeviceError) {
        let sums = CopySettings.manifestName
        if try exists(sums) {
            let oldSums = String(decoding: try content(ofFile: sums, limit: 1 << 22), as: UTF8.self)
            let lines = oldSums.split(separator: "\n").filter { $0.dropFirst(66) != name.text }
            if lines.isEmpty {
                try remove(sums)
            } else {
                _ = try replaceIfChanged(sums, with: lines.map { $0 + "\n" }.joined())
            }
        }
        try remove(name.text)
        try sync()
    }
}

extension CopyFolder {
    /// Returns the IDs of the recorder's recordings that have readable copies on the volume.
    func unencryptedRecordings(device: DeviceName, identity: String?) throws(DeviceError) -> [Int] {
        var found: Set<Int> = []
        for other in try top.names() where DeviceName(other) != nil && other != self.device.text {
            guard RecorderFolder.belongs(other, to: device, identity, in: top), let folder = try? top.folder(other),
                let names = try? folder.names()
            else { continue }
            found.formUnion(names.compactMap { CopyName($0)?.recording })
        }
        return found.sorted()
    }
}
