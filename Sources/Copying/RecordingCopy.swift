import Audio
import Core
import System
import Transcripts

/// Copies one recording into a folder and reads it back. Blocks; used on one thread.
struct RecordingCopy {
    private static let blockSamples = 65_536

    let summary: RecordingSummary
    let timeline: Timeline
    let settings: CopySettings
    let source: RecordingReader
    let length: SamplePosition
    let shouldStop: @Sendable () -> Bool
    var progress: @Sendable (SamplePosition) -> Void
    /// The history for the page and for `history.json`. A change in the history alone does not cause a new copy.
    var history: [HistoryLine] = []
    /// Signs the copy; nil for an unsigned copy.
    var signer: RecorderKey?
    /// The file that the recording was converted from; nil if there is none.
    var original: OriginalFile?

    /// The result of reading a copy back.
    struct Proof {
        var manifest: Manifest
        var bytes: Int64
        var isDirect: Bool
    }

    /// Writes everything into an empty folder, syncs it, and reads it back from the volume.
    ///
    /// - Throws: `DeviceError`; the folder then holds an incomplete copy.
    func write(into folder: Folder) throws(DeviceError) -> Proof {
        var digests: [String: String] = [:]
        let file = try NewFile(settings.audioName, in: folder, shouldStop: shouldStop)
        let (samplesDigest, peaks) = try encodeAudio(into: file, named: "\(folder.path)/\(settings.audioName)")
        try file.sync()
        let details = details(peaks: peaks, samplesDigest: samplesDigest)
        // One text at a time, because the texts of a long recording need a lot of memory.
        for format in settings.formats {
            let bytes = try render(format, details)
            digests[format.fileName] = Digest.of(bytes)
            try write(bytes, as: format.fileName, in: folder)
        }
        for (name, bytes) in companions {
            digests[name] = Digest.of(bytes)
            try write(bytes, as: name, in: folder)
        }
        if let original {
            let copied = try NewFile(original.name, in: folder, shouldStop: shouldStop)
            digests[original.name] = try read(original) { bytes throws(DeviceError) in
                try copied.write(bytes, at: copied.length)
            }
            try copied.sync()
        }
        try folder.sync()
        try folder.syncFileSystem()

        let (audioDigest, audioBytes, isDirect) = try readBackAudio(in: folder, samplesDigest: samplesDigest)
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

    /// Reads a folder back. Returns nil unless it is a complete copy of this recording: its files match their manifest,
    /// and its text and samples match the recording.
    func matches(_ folder: Folder) throws(DeviceError) -> Proof? {
        guard let manifest = try Manifest(in: folder), Self.names(in: manifest) == names,
            try hasTexts(manifest, in: folder, text: try textDigest())
        else { return nil }
        return try readBack(manifest, in: folder, samplesDigest: soundDigest)
    }

    /// Reads a copy back. Returns nil unless its files match its manifest and its samples match the recording.
    ///
    /// - Parameter samplesDigest: returns the digest of the recording's samples.
    func readBack(
        _ manifest: Manifest, in folder: Folder, samplesDigest: () throws(DeviceError) -> String
    ) throws(DeviceError) -> Proof? {
        do throws(DeviceError) {
            let (digest, bytes, isDirect) = try readBackAudio(in: folder, samplesDigest: try samplesDigest())
            guard digest == manifest.digests[settings.audioName] else { return nil }
            var proof = Proof(manifest: manifest, bytes: bytes, isDirect: isDirect)
            for name in manifest.digests.keys.sorted() where name != settings.audioName {
                try check(name, manifest.digests[name], in: folder, &proof)
            }
            return proof
        } catch {
            // The copy is damaged, or is one of another recording.
            if error.code == .damaged || error.code == .missing { return nil }
            throw error
        }
    }

    /// Returns the name and digest of the file that shows whether the text has changed.
    ///
    /// - Parameter knownDigest: the digest of the samples; nil if it is not known yet.
    func textDigest(
        samplesDigest knownDigest: String? = nil
    ) throws(DeviceError) -> (name: String, digest: String)? {
        guard let format = settings.comparedFormat else { return nil }
        var samplesDigest: String?
        if format.holdsIdentity {
            samplesDigest = knownDigest
            if samplesDigest == nil { samplesDigest = try soundDigest() }
        }
        return (format.fileName, Digest.of(try render(format, details(peaks: [], samplesDigest: samplesDigest))))
    }

    /// The names of the files in a copy with these settings, except `companions`, the manifest and the signature.
    var names: Set<String> {
        Set(settings.formats.map(\.fileName) + [settings.audioName]).union(original.map { [$0.name] } ?? [])
    }

    /// Returns the same for an existing copy.
    static func names(in manifest: Manifest) -> Set<String> {
        Set(manifest.digests.keys).subtracting([historyFileName, CopySettings.publicKeyName])
    }

    /// The history and the public key, whose changes do not cause a new copy.
    var companions: [(name: String, bytes: [UInt8])] {
        [(historyFileName, Array(historyDocument(history).utf8))]
            + (signer.map { [(CopySettings.publicKeyName, Array($0.publicText.utf8))] } ?? [])
    }

    /// Returns the recorder's signature of a manifest; nil if copies are not signed.
    func signature(of manifest: Manifest) -> String? {
        signer?.sign(Array(manifest.text.utf8), comment: "fieldscribe copy of recording \(summary.id)")
    }

    /// Returns a generous estimate of the copy's size in bytes. FLAC needs about half as much as WAV for speech, and
    /// almost nothing for gaps.
    func expectedBytes() throws(DeviceError) -> Int64 {
        let whole = SampleRange(.zero, length)
        let gapSamples = timeline.gaps.reduce(Int64(0)) { sum, gap in
            min(length.samples, sum + (gap.range.intersection(whole)?.count ?? 0))
        }
        let frame = 2 * Int64(source.channels)
        let audioBytes =
            settings.audio == .wav
            ? length.samples * frame + 65_536 : max(0, length.samples - gapSamples) * frame / 10 * 6 + 65_536
        // A file occupies whole clusters, here assumed to have 64 KiB.
        var bytes = audioBytes + Int64(settings.formats.count + 5) * 65_536
        if let original { bytes += original.bytes + 65_536 }
        for format in settings.formats { bytes += Int64(try render(format, details(peaks: [])).count) }
        return bytes
    }

    func texts(_ details: RecordingDetails) throws(DeviceError) -> [(name: String, bytes: [UInt8])] {
        var texts: [(name: String, bytes: [UInt8])] = []
        for format in settings.formats { texts.append((format.fileName, try render(format, details))) }
        return texts
    }

    func render(_ format: TranscriptFormat, _ details: RecordingDetails) throws(DeviceError) -> [UInt8] {
        do { return try format.file(timeline, details: details) } catch {
            throw DeviceError(
                .failed, "render",
                "recording \(summary.id): the format \(format.rawValue) failed; remove it from export.formats")
        }
    }

    func details(peaks: [UInt8], samplesDigest: String? = nil) -> RecordingDetails {
        let start = WallTime(summary.startedAt)
        var details = RecordingDetails(
            title: CopyName(summary).title, started: start.full, startedAt: start.stamp, clock: summary.clock,
            powerOn: summary.powerOn, device: settings.device.text, audio: settings.audioName,
            index: "../../index.html", peaks: peaks,
            identity: samplesDigest.map {
                RecordingIdentity(recording: summary.id, pass: timeline.pass, sound: $0)
            })
        details.history = history.map(\.entry)
        details.pauseSeconds = settings.pauseSeconds
        details.proposals = settings.proposals[summary.id] ?? [:]
        return details
    }

    /// Encodes the recording's audio.
    ///
    /// - Parameter name: the file's path, for error messages.
    /// - Returns: the digest of the samples, and the peaks.
    func encodeAudio(
        into bytes: any SeekableBytes, named name: String
    ) throws(DeviceError) -> (samplesDigest: String, peaks: [UInt8]) {
        var peaks = Peaks(length: length.samples)
        let encoder = try encoder(into: bytes, named: name)
        let digest = try readSource { samples throws(DeviceError) in
            peaks.add(samples, channels: source.channels)
            try encoder.append(samples)
        }
        try encoder.finish()
        return (digest, peaks.values)
    }

    /// Encodes the same audio again, without computing digest and peaks.
    func encodeAudioAgain(into bytes: any SeekableBytes, named name: String) throws(DeviceError) {
        let encoder = try encoder(into: bytes, named: name)
        try readSamples { samples throws(DeviceError) in try encoder.append(samples) }
        try encoder.finish()
    }

    private func encoder(into bytes: any SeekableBytes, named name: String) throws(DeviceError) -> AudioEncoder {
        let start = WallTime(summary.startedAt)
        return try AudioEncoder(
            settings.audio, into: bytes, named: name, channels: source.channels, title: CopyName(summary).title,
            artist: settings.device.text, date: start.stamp,
            comment: "recording \(summary.id); start \(start.stamp); clock \(summary.clock.rawValue); "
                + "stopped: \(summary.stopReason.rawValue)",
            track: summary.id)
    }

    func soundDigest() throws(DeviceError) -> String { try readSource { _ in } }

    /// Reads the file that the recording was converted from, and returns its digest.
    func read(
        _ original: OriginalFile, _ body: (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) throws(DeviceError) -> String {
        var (digest, count) = (Digest(), Int64(0))
        let file = try original.open()
        try file.forEachBlock { bytes throws(DeviceError) in
            if shouldStop() { throw Copying.interrupted }
            digest.add(bytes)
            count += Int64(bytes.count)
            try body(bytes)
        }
        guard count == original.bytes else {
            throw DeviceError(
                .damaged, "read", on: file.path, "changed while it was copied", remedy: "copy the recording again")
        }
        return digest.finish()
    }

    /// Reads the recording like `readSamples`, and returns the digest of its samples.
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

    /// Reads the recording from start to end, with interleaved channels.
    private func readSamples(
        _ body: (UnsafeBufferPointer<Int16>) throws(DeviceError) -> Void
    ) throws(DeviceError) {
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: Self.blockSamples)
        defer { buffer.deallocate() }
        let channels = source.channels
        var position = SamplePosition.zero
        while position < length {
            if shouldStop() { throw Copying.interrupted }
            let target = UnsafeMutableBufferPointer(
                rebasing: buffer[..<(channels * Int(min(Int64(Self.blockSamples / channels), length - position)))])
            let count = try source.readFrames(at: position, into: target)
            guard count > 0 else {
                throw DeviceError(
                    .damaged, "read", cause: .damagedAudio,
                    "recording \(summary.id): its audio ends early; see fieldscribe verify \(summary.id)")
            }
            try body(UnsafeBufferPointer(rebasing: target[..<(count * channels)]))
            position = position + Int64(count)
            progress(position)
        }
    }

    /// Decodes the audio on the volume and compares its samples with those of the recording.
    ///
    /// - Parameter samplesDigest: the digest of the recording's samples.
    /// - Throws: `DeviceError` with `damaged` if they differ.
    func readBackAudio(
        in folder: Folder, samplesDigest: String
    ) throws(DeviceError) -> (digest: String, bytes: Int64, isDirect: Bool) {
        let file = try ReadBack(settings.audioName, in: folder, shouldStop: shouldStop)
        let path = "\(folder.path)/\(settings.audioName)"
        guard try AudioDecoder(file, named: path).soundDigest() == samplesDigest else {
            throw ReadBack.differs(path)
        }
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
        let file = try ReadBack(name, in: folder, expecting: digest, shouldStop: shouldStop)
        proof.bytes += file.length
        proof.isDirect = proof.isDirect && file.isDirect
    }
}
