import Core
import System

extension RecordingCopy {
    /// Replaces the texts of a copy that has the recording's current sound, and adds formats that the copy lacks.
    ///
    /// Writes everything under temporary names and reads it back, then renames each text and finally the manifest.
    /// If the renames are interrupted, the copy no longer matches its manifest, and the next copy run makes a new
    /// folder.
    ///
    /// - Parameter manifest: the copy's manifest.
    /// - Returns: nil, with the copy unchanged, if it differs from its manifest, for example because a person edited a
    ///   text; if it has another audio format than the settings, or more formats; or if another file has the name of a
    ///   text to add.
    func replaceTexts(in folder: Folder, _ manifest: Manifest) throws(DeviceError) -> Proof? {
        let oldNames = Self.names(in: manifest)
        guard oldNames.contains(settings.audioName), oldNames.isSubset(of: names) else { return nil }
        for name in names.subtracting(oldNames) { if try folder.exists(name) { return nil } }
        // A person's file with the same name stays.
        var companions: [(name: String, bytes: [UInt8])] = []
        for file in self.companions {
            if manifest.digests[file.name] == nil, try folder.exists(file.name) { continue }
            companions.append(file)
        }
        var peaks = Peaks(length: length.samples)
        let samplesDigest = try readSource { samples in peaks.add(samples, channels: source.channels) }
        guard var proof = try readBack(manifest, in: folder, samplesDigest: { samplesDigest }) else { return nil }
        proof.bytes = 0
        var texts = try texts(details(peaks: peaks.values, samplesDigest: samplesDigest)) + companions
        var digests = manifest.digests
        for (name, bytes) in texts { digests[name] = Digest.of(bytes) }
        proof.manifest = Manifest(digests)
        texts.append((CopySettings.manifestName, Array(proof.manifest.text.utf8)))
        if let signature = signature(of: proof.manifest) {
            texts.append((CopySettings.signatureName, Array(signature.utf8)))
        }
        do throws(DeviceError) {
            try replace(texts, in: folder, &proof)
        } catch {
            for (name, _) in texts { try? folder.remove(Self.temporaryName(name)) }
            throw error
        }
        return proof
    }

    private func replace(
        _ texts: [(name: String, bytes: [UInt8])], in folder: Folder, _ proof: inout Proof
    ) throws(DeviceError) {
        for (name, bytes) in texts {
            try folder.remove(Self.temporaryName(name))
            try write(bytes, as: Self.temporaryName(name), in: folder)
        }
        try folder.sync()
        try folder.syncFileSystem()
        for (name, bytes) in texts { try check(Self.temporaryName(name), Digest.of(bytes), in: folder, &proof) }
        // Removed before the renames, because after an interruption the old signature would make the new manifest look
        // altered.
        try folder.remove(CopySettings.signatureName)
        try folder.sync()
        for (name, _) in texts { try folder.rename(Self.temporaryName(name), replacing: name) }
        try folder.sync()
        try folder.syncFileSystem()
    }

    private static func temporaryName(_ name: String) -> String { "\(name).new" }
}
