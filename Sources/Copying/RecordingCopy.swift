import Audio
import Core
import Glibc
import System
import Transcripts

/// Copies one recording into a folder, and proves that it is there. Blocks; used on one thread.
struct RecordingCopy {
    private static let block = 65_536

    let summary: RecordingSummary
    let timeline: Timeline
    let settings: CopySettings
    let source: RecordingReader
    let length: SamplePosition
    let shouldStop: @Sendable () -> Bool
    var progress: @Sendable (SamplePosition) -> Void
    /// What was done to the recording: told on the page and beside it, and no reason for another copy.
    var history: [HistoryLine] = []
    /// What signs it; nil for what is not signed.
    var signer: RecorderKey?

    /// What was written and proved.
    struct Proof {
        var manifest: Manifest
        var bytes: Int64
        var isDirect: Bool
    }

    /// Writes everything into an empty folder, syncs it, and reads it back past the cache.
    ///
    /// - Throws: `DeviceError`; the folder then holds a part.
    func write(into folder: Folder) throws(DeviceError) -> Proof {
        var digests: [String: String] = [:]
        let file = try NewFile(settings.audioName, in: folder, shouldStop: shouldStop)
        let (sound, peaks) = try encodeAudio(into: file, named: "\(folder.path)/\(settings.audioName)")
        try file.sync()
        let details = details(peaks: peaks, sound: sound)
        for format in settings.formats {
            let bytes = try render(format, details)
            digests[format.fileName] = Digest.of(bytes)
            try write(bytes, as: format.fileName, in: folder)
        }
        for (name, bytes) in companions {
            digests[name] = Digest.of(bytes)
            try write(bytes, as: name, in: folder)
        }
        try folder.sync()
        try folder.syncFileSystem()

        let (audioDigest, audioBytes, isDirect) = try readBackAudio(in: folder, sound: sound)
        var proof = Proof(manifest: Manifest([:]), bytes: audioBytes, isDirect: isDirect)
        for name in digests.keys.sorted() { try check(name, digests[name], in: folder, &proof) }
        digests[settings.audioName] = audioDigest
        proof.manifest = Manifest(digests)
        try write(Array(proof.manifest.text.utf8), as: CopySettings.manifestName, in: folder)
        try folder.sync()
        try check(CopySettings.manifestName, proof.manifest.digest, in: folder, &proof)
        if let signature = signature(of: proof.manifest) {
            try write(Array(signature.utf8), as: CopySettings.signatureName, in: folder)
            try folder.sync()
            try check(CopySettings.signatureName, Digest.of(signature), in: folder, &proof)
        }
        return proof
    }

    /// Whether a folder that was found is this very copy, whole: every file is as its manifest says, the text is this
    /// text, and the audio these samples.
    func matches(_ folder: Folder) throws(DeviceError) -> Proof? {
        guard let manifest = try Manifest(in: folder), Self.names(in: manifest) == names,
            try hasTexts(manifest, in: folder, text: try textDigest())
        else { return nil }
        do throws(DeviceError) {
            let (digest, bytes, isDirect) = try readBackAudio(in: folder, sound: try soundDigest())
            guard digest == manifest.digests[settings.audioName] else { return nil }
            var proof = Proof(manifest: manifest, bytes: bytes, isDirect: isDirect)
            for name in manifest.digests.keys.sorted() where name != settings.audioName {
                try check(name, manifest.digests[name], in: folder, &proof)
            }
            return proof
        } catch {
            // Not whole, or not this one: it stays as it is.
            if error.code == .damaged || error.code == .missing { return nil }
            throw error
        }
    }

    /// The file by which a newer text is told from an older, and its digest.
    ///
    /// - Parameter sound: the digest of the samples; nil where it is not known yet.
    func textDigest(sound known: String? = nil) throws(DeviceError) -> (name: String, digest: String)? {
        guard let format = settings.tellingFormat else { return nil }
        var sound: String?
        if format.holdsIdentity {
            sound = known
            if sound == nil { sound = try soundDigest() }
        }
        return (format.fileName, Digest.of(try render(format, details(peaks: [], sound: sound))))
    }

    /// The names that a copy by these settings has, besides its companions, which those of earlier versions lack.
    var names: Set<String> { Set(settings.formats.map(\.fileName) + [settings.audioName]) }

    /// The same of a copy that is there.
    static func names(in manifest: Manifest) -> Set<String> {
        Set(manifest.digests.keys).subtracting([historyFileName, CopySettings.publicKeyName])
    }

    /// The files beside sound and texts, with their names.
    var companions: [(name: String, bytes: [UInt8])] {
        [(historyFileName, Array(historyDocument(history).utf8))]
            + (signer.map { [(CopySettings.publicKeyName, Array($0.publicText.utf8))] } ?? [])
    }

    /// The recorder's signature of a manifest; nil where it has none.
    func signature(of manifest: Manifest) -> String? {
        signer?.sign(Array(manifest.text.utf8), comment: "fieldscribe copy of recording \(summary.id)")
    }

    /// Bytes that the copy is expected to take: speech becomes about half as long as FLAC, and gaps nothing.
    func expectedBytes() throws(DeviceError) -> Int64 {
        let whole = SampleRange(.zero, length)
        let lost = timeline.gaps.reduce(Int64(0)) { sum, gap in
            min(length.samples, sum + (gap.range.intersection(whole)?.count ?? 0))
        }
        let frame = 2 * Int64(source.channels)
        let sound =
            settings.audio == .wav
            ? length.samples * frame + 65_536 : max(0, length.samples - lost) * frame / 10 * 6 + 65_536
        // A file takes whole clusters, of 64 KiB at most on the usual sticks.
        var bytes = sound + Int64(settings.formats.count + 5) * 65_536
        for format in settings.formats { bytes += Int64(try render(format, details(peaks: [])).count) }
        return bytes
    }

    func render(_ format: TranscriptFormat, _ details: RecordingDetails) throws(DeviceError) -> [UInt8] {
        do { return try format.file(timeline, details: details) } catch {
            throw DeviceError(
                .failed, "render",
                "recording \(summary.id): its \(format.rawValue) cannot be written; leave it out of export.formats")
        }
    }

    func details(peaks: [UInt8], sound: String? = nil) -> RecordingDetails {
        let start = WallTime(summary.startedAt)
        var details = RecordingDetails(
            title: CopyName(summary).title, started: start.sentence, startedAt: start.stamp, clock: summary.clock,
            powerOn: summary.powerOn, device: settings.device.text, audio: settings.audioName,
            index: "../../index.html", peaks: peaks,
            identity: sound.map { RecordingIdentity(recording: summary.id, pass: timeline.pass, sound: $0) })
        details.history = history.map(\.entry)
        details.pauseSeconds = settings.pauseSeconds
        details.proposals = settings.proposals[summary.id] ?? [:]
        return details
    }

    /// Writes the audio; returns the digest of the samples that were read for it.
    ///
    /// - Parameter name: what errors name.
    func encodeAudio(
        into bytes: any SeekableBytes, named name: String
    ) throws(DeviceError) -> (sound: String, peaks: [UInt8]) {
        var peaks = Peaks(length: length.samples)
        let encoder = try encoder(into: bytes, named: name)
        let digest = try readSource { samples throws(DeviceError) in
            peaks.add(samples, channels: source.channels)
            try encoder.append(samples)
        }
        try encoder.finish()
        return (digest, peaks.values)
    }

    /// Writes the audio once more, where what comes of it is compared with the first time.
    ///
    /// - Parameter name: what errors name.
    func encodeAudioAgain(into bytes: any SeekableBytes, named name: String) throws(DeviceError) {
        let encoder = try encoder(into: bytes, named: name)
        try readSamples { samples throws(DeviceError) in try encoder.append(samples) }
        try encoder.finish()
    }

    private func encoder(into bytes: any SeekableBytes, named name: String) throws(DeviceError) -> AudioEncoder {
        let start = WallTime(summary.startedAt)
        return try AudioEncoder(
            settings.audio, into: bytes, named: name, channels: source.channels,
            tags: AudioTags(
                title: CopyName(summary).title, artist: settings.device.text, date: start.stamp,
                comment: "recording \(summary.id); start \(start.stamp); clock \(summary.clock.rawValue); "
                    + "stopped: \(summary.stopReason.rawValue)",
                track: summary.id))
    }

    func soundDigest() throws(DeviceError) -> String { try readSource { _ in } }

    /// Reads the recording as `readSamples` does; returns the digest of its samples.
    func readSource(
        _ body: (UnsafeBufferPointer<Int16>) throws(DeviceError) -> Void
    ) throws(DeviceError) -> String {
        var digest = Digest()
        try readSamples { samples throws(DeviceError) in
            digest.add(UnsafeRawBufferPointer(samples))
            try body(samples)
        }
        return digest.finish()
    }

    /// Reads the recording from its start to its end, both channels of two interleaved.
    private func readSamples(
        _ body: (UnsafeBufferPointer<Int16>) throws(DeviceError) -> Void
    ) throws(DeviceError) {
        let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: Self.block)
        defer { room.deallocate() }
        let channels = source.channels
        var position = SamplePosition.zero
        while position < length {
            if shouldStop() { throw Copying.interrupted }
            let wanted = UnsafeMutableBufferPointer(
                rebasing: room[..<(channels * Int(min(Int64(Self.block / channels), length - position)))])
            let count = try source.readFrames(at: position, into: wanted)
            guard count > 0 else {
                throw DeviceError(
                    .damaged, "read",
                    "recording \(summary.id): its audio ends early; see fieldscribe verify \(summary.id)")
            }
            try body(UnsafeBufferPointer(rebasing: wanted[..<(count * channels)]))
            position = position + Int64(count)
            progress(position)
        }
    }

    /// Decodes the audio from the volume, and compares its samples with those of the source.
    func readBackAudio(
        in folder: Folder, sound: String
    ) throws(DeviceError) -> (digest: String, bytes: Int64, isDirect: Bool) {
        let file = try ReadBack(settings.audioName, in: folder, shouldStop: shouldStop)
        let path = "\(folder.path)/\(settings.audioName)"
        let decoder = try AudioDecoder(file, named: path)
        let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: Self.block)
        defer { room.deallocate() }
        var digest = Digest()
        while case let count = try decoder.read(into: room), count > 0 {
            digest.add(UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: room[..<count])))
        }
        guard digest.finish() == sound else { throw Self.differs(path) }
        return (try file.finish(), file.length, file.isDirect)
    }

    func write(_ bytes: [UInt8], as name: String, in folder: Folder) throws(DeviceError) {
        let file = try NewFile(name, in: folder, shouldStop: shouldStop)
        try rethrowing { try bytes.withUnsafeBytes { try file.write($0, at: 0) } }
        try file.sync()
    }

    func check(
        _ name: String, _ digest: String?, in folder: Folder, _ proof: inout Proof
    ) throws(DeviceError) {
        let file = try ReadBack(name, in: folder, shouldStop: shouldStop)
        guard try file.finish() == digest else { throw Self.differs("\(folder.path)/\(name)") }
        proof.bytes += file.length
        proof.isDirect = proof.isDirect && file.isDirect
    }

    private static func differs(_ path: String) -> DeviceError {
        DeviceError(
            .damaged, "compare", "\(path): what was read back is not what was written; use another stick")
    }
}
