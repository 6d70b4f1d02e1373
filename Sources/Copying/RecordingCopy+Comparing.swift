import Core
import Glibc
import System
import Transcripts

extension RecordingCopy {
    /// The number of bytes of a text that are searched for the pass; a page of three hours has three million.
    private static let longestText = 32 << 20

    /// Returns whether the texts of a copy are current. Reads no sound. Without a person's corrections, the simplest
    /// text decides (`textDigest`). Some corrections appear only in some formats: then every format without an identity
    /// is compared, and one with an identity names its pass.
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
        let identity = RecordingIdentity(in: try Self.head(of: format.fileName, in: folder))
        return identity?.pass == timeline.pass
    }

    private static func head(of name: String, in folder: Folder) throws(DeviceError) -> String {
        let file = try folder.open(name, O_RDONLY | O_NONBLOCK)
        var bytes: [UInt8] = []
        while bytes.count < longestText, case let block = try file.bytes(at: Int64(bytes.count), count: 1 << 20),
            !block.isEmpty
        {
            bytes += block
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
