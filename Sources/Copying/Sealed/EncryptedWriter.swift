import Core

/// Writes copies encrypted for the configured public keys, one file per recording.
struct EncryptedWriter: CopyWriter {
    private let folder: CopyFolder
    private let copy: SealedCopy
    private let recipientsDigest: String
    /// The result of `SealedCopy.contentDigest`, computed when it is first needed.
    private var content: String?
    private var plan: SealedCopy.Plan?

    init(_ copy: SealedCopy, in folder: CopyFolder) {
        (self.copy, self.folder) = (copy, folder)
        recipientsDigest = SealedCopy.digest(of: copy.recipients)
    }

    var firstName: SealedName { SealedName(copy.copy.summary.id) }

    mutating func examine(_ known: KnownCopies<SealedName>.Copy) throws(DeviceError) -> ExaminedCopy<SealedName> {
        guard let manifest = try folder.folder.manifest(of: known) else { return .unusable }
        guard manifest.recipients == recipientsDigest else { return .replaceable }
        if content == nil { content = try copy.contentDigest() }
        return manifest.content == content ? .current(PlacedCopy(name: known.name, entry: known.entry)) : .replaceable
    }

    mutating func expectedBytes() throws(DeviceError) -> Int64 {
        let plan = try copy.plan()
        self.plan = plan
        return copy.expectedBytes(plan)
    }

    func write(as temporary: String) throws(DeviceError) -> WrittenCopy {
        guard let plan else { preconditionFailure("expectedBytes must be called before write") }
        let (manifest, isDirect) = try copy.write(plan, as: temporary, in: folder.folder)
        return WrittenCopy(manifest: manifest.text, bytes: manifest.bytes, isDirect: isDirect)
    }
}
