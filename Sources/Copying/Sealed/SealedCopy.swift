import Core
import System
import Transcripts

/// Encrypts one recording: streams the files of a copy as a tar archive through `age` into one file. Writes no
/// unencrypted data to any disk. Blocks; used on one thread.
struct SealedCopy {
    /// The number of bytes at the beginning that identify an encrypted file. They contain its unique file key.
    static let headLength = 4_096

    let copy: RecordingCopy
    let age: Age
    let recipients: [Recipient]
    var extra: [(name: String, bytes: [UInt8])] = []

    /// The content of the encrypted file, determined before anything is written.
    struct Plan {
        var audio: EncodedAudio.Measurement
        var samplesDigest: String
        var texts: [(name: String, bytes: [UInt8])]
        /// The size of the tar archive in bytes.
        var bytes: Int64
    }

    /// Returns a digest that changes if the copy needs to be replaced. Covers the folder's name, the length, the names
    /// of the files, the text, the corrections and the redactions.
    ///
    /// - Parameter samplesDigest: the digest of the samples; nil if it is not known yet.
    func contentDigest(samplesDigest: String? = nil) throws(DeviceError) -> String {
        var text = try copy.textDigest(samplesDigest: samplesDigest)?.digest
        // The page cannot be compared, because it contains the waveform and the history.
        if text == nil, copy.settings.formats.contains(.html) {
            text = Digest.of(try copy.render(.text, copy.details(peaks: [])))
        }
        var fields = [
            folderName, "\(copy.length.samples)", copy.names.sorted().joined(separator: " "), text ?? "",
        ]
        // Corrections are not in every text, but each creates a new pass.
        if copy.timeline.annotations != nil, let pass = copy.timeline.pass { fields.append("pass \(pass)") }
        // Redactions are not in every text either.
        fields += copy.timeline.gaps.redacted.map { "struck \($0.start.samples) \($0.end.samples)" }
        return Digest.of(fields.joined(separator: "\n"))
    }

    /// Returns a digest of the public keys, independent of their order.
    static func digest(of recipients: [Recipient]) -> String {
        Digest.of(recipients.map { "\($0.text)\n" }.sorted().joined())
    }

    /// Reads the recording once and renders the texts.
    func plan() throws(DeviceError) -> Plan {
        // Measuring is the first half of the work.
        var firstHalf = copy
        let (progress, length) = (copy.progress, copy.length.samples)
        firstHalf.progress = { progress(SamplePosition($0.samples / 2)) }
        let measured = EncodedAudio()
        let (samplesDigest, peaks) = try firstHalf.encodeAudio(into: measured, named: copy.settings.audioName)
        let texts = try copy.texts(copy.details(peaks: peaks, samplesDigest: samplesDigest)) + copy.companions + extra
        let audio = try measured.finish().measurement
        progress(SamplePosition(length / 2))
        // All digests have the same length.
        let placeholder = String(repeating: "0", count: 64)
        let manifest = manifest(of: texts, audio: placeholder, original: placeholder)
        var bytes = Int64(Tar.folder(folderName, time: 0).count + Tar.end.count) + Tar.size(audio.length)
        for (_, text) in texts { bytes += Tar.size(Int64(text.count)) }
        bytes += Tar.size(Int64(manifest.text.utf8.count))
        if let original = copy.original { bytes += Tar.size(original.bytes) }
        return Plan(audio: audio, samplesDigest: samplesDigest, texts: texts, bytes: bytes)
    }

    /// Returns an upper bound on the total size of the encrypted file and the files beside it, in bytes.
    func expectedBytes(_ plan: Plan) -> Int64 {
        // age adds a part of the header for each key, and 16 bytes per 64 KiB. The rest is for the signature, and for a
        // cluster each for this file and four small ones.
        plan.bytes + plan.bytes / 4_096 + Int64(recipients.count + 1) * 1_024 + 5 * 65_536
    }

    /// Writes the encrypted file, syncs it, and reads it back from the volume.
    ///
    /// - Throws: `DeviceError`; the file may then be incomplete.
    func write(
        _ plan: Plan, as name: String, in folder: Folder
    ) throws(DeviceError) -> (manifest: SealedManifest, isDirect: Bool) {
        let file = try NewFile(name, in: folder, shouldStop: copy.shouldStop)
        var digest = Digest()
        var head: [UInt8] = []
        let encryptor = try age.encryptor(for: recipients) { bytes throws(DeviceError) in
            digest.add(bytes)
            head += bytes.prefix(Self.headLength - head.count)
            try file.write(bytes, at: file.length)
        }
        let plain = try writeTar(plan, to: encryptor)
        try encryptor.finish()
        guard file.length > plan.bytes else {
            throw DeviceError(
                .failed, "age", cause: .age, "the program age wrote less than it read",
                remedy: "see fieldscribe recipients check")
        }
        let fileDigest = digest.finish()
        let isDirect = try file.syncAndReadBack(fileDigest, as: name, in: folder, shouldStop: copy.shouldStop)
        let manifest = SealedManifest(
            file: fileDigest, bytes: file.length, head: Digest.of(head), plain: plain,
            content: try contentDigest(samplesDigest: plan.samplesDigest), recipients: Self.digest(of: recipients))
        return (manifest, isDirect)
    }

    /// Writes the tar archive.
    ///
    /// - Returns: the digest of the SHA256SUMS in the archive.
    private func writeTar(_ plan: Plan, to encryptor: AgeStream) throws(DeviceError) -> String {
        let time = Int64(max(0, copy.settings.now))
        try encryptor.write(Tar.folder(folderName, time: time))
        for (name, bytes) in plan.texts { try write(bytes, as: name, time, to: encryptor) }
        try encryptor.write(Tar.file("\(folderName)/\(copy.settings.audioName)", bytes: plan.audio.length, time: time))
        let audio = EncodedAudio(expected: plan.audio) { bytes throws(DeviceError) in try encryptor.write(bytes) }
        var secondHalf = copy
        let (progress, length) = (copy.progress, copy.length.samples)
        secondHalf.progress = { progress(SamplePosition(length / 2 + $0.samples / 2)) }
        try secondHalf.encodeAudioAgain(into: audio, named: copy.settings.audioName)
        let digest = try audio.finish().digest
        try encryptor.write(Tar.padding(after: plan.audio.length))
        let original = try writeOriginal(time, to: encryptor)
        let manifest = manifest(of: plan.texts, audio: digest, original: original)
        try write(Array(manifest.text.utf8), as: CopySettings.manifestName, time, to: encryptor)
        if let signature = copy.signature(of: manifest) {
            try write(Array(signature.utf8), as: CopySettings.signatureName, time, to: encryptor)
        }
        try encryptor.write(Tar.end)
        return manifest.digest
    }

    private func write(_ bytes: [UInt8], as name: String, _ time: Int64, to encryptor: AgeStream) throws(DeviceError) {
        let count = Int64(bytes.count)
        try encryptor.write(Tar.file("\(folderName)/\(name)", bytes: count, time: time))
        try encryptor.write(bytes)
        try encryptor.write(Tar.padding(after: count))
    }

    /// Writes the file that the recording was converted from. Returns its digest; nil if there is no such file.
    private func writeOriginal(_ time: Int64, to encryptor: AgeStream) throws(DeviceError) -> String? {
        guard let original = copy.original else { return nil }
        try encryptor.write(Tar.file("\(folderName)/\(original.name)", bytes: original.bytes, time: time))
        let digest = try copy.read(original) { bytes throws(DeviceError) in try encryptor.write(bytes) }
        try encryptor.write(Tar.padding(after: original.bytes))
        return digest
    }

    private func manifest(
        of texts: [(name: String, bytes: [UInt8])], audio: String, original: String?
    ) -> Manifest {
        var digests = [copy.settings.audioName: audio]
        if let name = copy.original?.name { digests[name] = original }
        for (name, bytes) in texts { digests[name] = Digest.of(bytes) }
        return Manifest(digests)
    }

    private var folderName: String { CopyName(copy.summary).text }
}
