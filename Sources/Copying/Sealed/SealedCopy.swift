import Audio
import Core
import System
import Transcripts

/// Seals one recording: the folder that a copy would be, as a tar, streamed through `age` into one file. Nothing of it is on the
/// volume, or anywhere else, in the clear. Blocks; used on one thread.
struct SealedCopy {
    /// By so many bytes a sealed file is known again: they hold the keys that age made for it alone.
    static let headLength = 4_096

    let copy: RecordingCopy
    let age: Age
    let recipients: [Recipient]
    /// Files besides those that a copy has.
    var extra: [(name: String, bytes: [UInt8])] = []

    /// What is to be sealed, known before anything is written.
    struct Plan {
        var audio: EncodedAudio.Measure
        /// SHA-256 of the samples.
        var sound: String
        var texts: [(name: String, bytes: [UInt8])]
        /// Bytes of the tar.
        var bytes: Int64
    }

    /// The digest of what the copy is made of: another text, sound, name or form of it gives another.
    ///
    /// - Parameter sound: the digest of the samples; nil where it is not known yet.
    func contentDigest(sound: String? = nil) throws(DeviceError) -> String {
        let text = try copy.textDigest(sound: sound)
        var parts = [
            folderName, "\(copy.length.samples)", copy.names.sorted().joined(separator: " "), text?.digest ?? "",
        ]
        // What a person adds besides the words is not in every text, but in a pass of its own.
        if copy.timeline.annotations != nil, let pass = copy.timeline.pass { parts.append("pass \(pass)") }
        // Not in every text either.
        parts += copy.timeline.gaps.struck.map { "struck \($0.start.samples) \($0.end.samples)" }
        return Digest.of(parts.joined(separator: "\n"))
    }

    /// The digest of the public keys, in whatever order they are given.
    static func digest(of recipients: [Recipient]) -> String {
        Digest.of(recipients.map { "\($0.text)\n" }.sorted().joined())
    }

    /// Reads everything once, and renders the texts.
    func plan() throws(DeviceError) -> Plan {
        var half = copy
        let (progress, length) = (copy.progress, copy.length.samples)
        half.progress = { progress(SamplePosition($0.samples / 2)) }
        let measured = EncodedAudio()
        let (sound, peaks) = try half.encodeAudio(into: measured, named: copy.settings.audioName)
        let details = copy.details(peaks: peaks, sound: sound)
        var texts: [(name: String, bytes: [UInt8])] = []
        for format in copy.settings.formats { texts.append((format.fileName, try copy.render(format, details))) }
        texts += copy.companions
        texts += extra
        let audio = try measured.finish().measure
        progress(SamplePosition(length / 2))
        // The digests are as long whatever they are.
        let manifest = manifest(of: texts, audio: String(repeating: "0", count: 64))
        var bytes = Int64(Tar.folder(folderName, time: 0).count + Tar.end.count) + Tar.size(audio.length)
        for (_, text) in texts { bytes += Tar.size(Int64(text.count)) }
        bytes += Tar.size(Int64(manifest.text.utf8.count))
        return Plan(audio: audio, sound: sound, texts: texts, bytes: bytes)
    }

    /// Bytes that the sealed file takes at most, with what stands beside it.
    func expectedBytes(_ plan: Plan) -> Int64 {
        // A key's part of the header, 16 bytes for every 64 KiB, the signature, and whole clusters for this file and three small ones.
        plan.bytes + plan.bytes / 4_096 + Int64(recipients.count + 1) * 1_024 + 5 * 65_536
    }

    /// Writes a sealed file under a temporary name, syncs it, and reads it back past the cache.
    ///
    /// - Throws: `DeviceError`; the file may then hold a part of what is sealed.
    func write(
        _ plan: Plan, as name: String, in folder: Folder
    ) throws(DeviceError) -> (manifest: SealedManifest, isDirect: Bool) {
        let file = try NewFile(name, in: folder, shouldStop: copy.shouldStop)
        let sink = Sink(file)
        let sealer = try age.sealer(for: recipients) { bytes throws(DeviceError) in try sink.take(bytes) }
        let plain = try writeTar(plan, to: sealer)
        try sealer.finish()
        guard file.length > plan.bytes else {
            throw DeviceError(
                .failed, "age", "the program age gave less than it was given",
                remedy: "see fieldscribe recipients check")
        }
        let written = sink.digest.finish()
        let isDirect = try file.prove(written, as: name, in: folder, shouldStop: copy.shouldStop)
        let manifest = SealedManifest(
            file: written, bytes: file.length, head: Digest.of(sink.head), plain: plain,
            content: try contentDigest(sound: plan.sound), recipients: Self.digest(of: recipients))
        return (manifest, isDirect)
    }

    /// Returns the digest of the SHA256SUMS inside.
    private func writeTar(_ plan: Plan, to sealer: Sealer) throws(DeviceError) -> String {
        let time = Int64(max(0, copy.settings.now))
        try sealer.write(Tar.folder(folderName, time: time))
        for (name, bytes) in plan.texts { try write(bytes, as: name, time, to: sealer) }
        try sealer.write(Tar.file("\(folderName)/\(copy.settings.audioName)", bytes: plan.audio.length, time: time))
        let audio = EncodedAudio(expected: plan.audio) { bytes throws(DeviceError) in try sealer.write(bytes) }
        var half = copy
        let (progress, length) = (copy.progress, copy.length.samples)
        half.progress = { progress(SamplePosition(length / 2 + $0.samples / 2)) }
        try half.encodeAudioAgain(into: audio, named: copy.settings.audioName)
        let digest = try audio.finish().digest
        try sealer.write(Tar.padding(after: plan.audio.length))
        let manifest = manifest(of: plan.texts, audio: digest)
        try write(Array(manifest.text.utf8), as: CopySettings.manifestName, time, to: sealer)
        if let signature = copy.signature(of: manifest) {
            try write(Array(signature.utf8), as: CopySettings.signatureName, time, to: sealer)
        }
        try sealer.write(Tar.end)
        return manifest.digest
    }

    private func write(_ bytes: [UInt8], as name: String, _ time: Int64, to sealer: Sealer) throws(DeviceError) {
        let count = Int64(bytes.count)
        try sealer.write(Tar.file("\(folderName)/\(name)", bytes: count, time: time))
        try sealer.write(bytes)
        try sealer.write(Tar.padding(after: count))
    }

    private func manifest(of texts: [(name: String, bytes: [UInt8])], audio: String) -> Manifest {
        var digests = [copy.settings.audioName: audio]
        for (name, bytes) in texts { digests[name] = Digest.of(bytes) }
        return Manifest(digests)
    }

    private var folderName: String { CopyName(copy.summary).text }

    /// Where what is sealed goes.
    private final class Sink {
        let file: NewFile
        var digest = Digest()
        private(set) var head: [UInt8] = []

        init(_ file: NewFile) { self.file = file }

        func take(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
            digest.add(bytes)
            head += bytes.prefix(SealedCopy.headLength - head.count)
            try file.write(bytes, at: file.length)
        }
    }
}
