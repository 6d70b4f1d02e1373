import Core
import Glibc
import System
import Transcripts

extension RecordingCopy {
    /// The maximum number of bytes of a text file that are searched for the pass. The page for three hours of speech has
    /// three million.
    private static let maximumTextBytes = 32 << 20

    /// Returns whether the texts of a copy are current, without reading any sound.
    ///
    /// Compares one text (`textDigest`). If there are corrections, which appear only in some formats, also compares every
    /// format that contains no identity, and the pass in the identity of one that contains it.
    ///
    /// - Parameter text: the result of `textDigest`.
    func hasTexts(
        _ manifest: Manifest, in folder: Folder, text: (name: String, digest: String)?
    ) throws(DeviceError) -> Bool {
        guard text.map({ manifest.digests[$0.name] == $0.digest }) ?? true else { return false }
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
