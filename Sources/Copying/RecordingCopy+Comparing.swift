import Core
import Glibc
import System
import Transcripts

extension RecordingCopy {
    /// The maximum number of bytes that are read of a text file. The page for three hours of speech has three million.
    private static let maximumTextBytes = 32 << 20

    /// Returns whether the texts of a copy are current, without reading any sound.
    ///
    /// Compares the text that `textDigest` chooses; if the page is the only text, compares the page instead.
    /// Corrections appear only in some formats. If there are any, also compares every format without a
    /// `RecordingIdentity`, and the pass in the first format with one.
    ///
    /// - Parameter text: the result of `textDigest`.
    func hasTexts(
        _ manifest: Manifest, in folder: Folder, text: (name: String, digest: String)?
    ) throws(DeviceError) -> Bool {
        if let text {
            guard manifest.digests[text.name] == text.digest else { return false }
        } else if settings.formats.contains(.html) {
            return try hasPage(manifest, in: folder)
        }
        guard timeline.annotations != nil else { return true }
        let formats = settings.formats.filter { manifest.digests[$0.fileName] != nil }
        for format in formats where !format.holdsIdentity {
            let digest = Digest.of(try render(format, details(peaks: [])))
            guard manifest.digests[format.fileName] == digest else { return false }
        }
        guard let format = TranscriptFormat.allCases.first(where: { $0.holdsIdentity && formats.contains($0) }) else {
            return true
        }
        let identity = RecordingIdentity(in: try Self.beginning(of: format.fileName, in: folder))
        return identity?.pass == timeline.pass
    }

    /// Returns whether the page is current. Renders it again with the copy's own waveform, which is costly to compute,
    /// and with the copy's own history, because a change in the history does not cause a new copy.
    private func hasPage(_ manifest: Manifest, in folder: Folder) throws(DeviceError) -> Bool {
        let name = TranscriptFormat.html.fileName
        let page = try Self.beginning(of: name, in: folder)
        guard let parsed = try? ParsedPage(Array(page.utf8), name: name), let identity = parsed.identity else {
            return false
        }
        var details = details(peaks: parsed.peaks, samplesDigest: identity.sound)
        if manifest.digests[historyFileName] != nil {
            let text = try Self.beginning(of: historyFileName, in: folder)
            guard let lines = historyLines(in: text) else { return false }
            details.history = lines.map(\.entry)
        }
        return manifest.digests[name] == Digest.of(try render(.html, details))
    }

    private static func beginning(of name: String, in folder: Folder) throws(DeviceError) -> String {
        let file = try folder.open(name, O_RDONLY | O_NONBLOCK)
        var bytes: [UInt8] = []
        while bytes.count < maximumTextBytes, case let block = try file.bytes(at: Int64(bytes.count), count: 1 << 20),
            !block.isEmpty
        {
            bytes += block
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
