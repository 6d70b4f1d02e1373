import Core
import Glibc
import System
import Transcripts

extension RecordingCopy {
    /// The longest text in which the pass of a copy is looked for, in bytes: a page of three hours takes three million.
    private static let longestText = 32 << 20

    /// Whether the texts of a copy are those that would be written now, as far as its manifest and its texts tell; no sound is read.
    ///
    /// Without a person's pass the plainest of them tells that (`textDigest`). What a person adds besides the words stands in some
    /// formats only: then all that name no recording are compared, and another one tells which pass it was made of.
    /// - Parameter text: as `textDigest` gives it.
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
        while bytes.count < longestText {
            let block = try rethrowing {
                try [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, count in
                    count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: Int64(bytes.count))
                }
            }
            if block.isEmpty { break }
            bytes += block
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
