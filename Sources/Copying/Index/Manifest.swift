import Core
import Glibc
import System

/// The content of a SHA256SUMS file.
package struct Manifest: Equatable {
    /// SHA-256 in hexadecimal digits, by file name.
    package private(set) var digests: [String: String]

    init(_ digests: [String: String]) { self.digests = digests }

    /// The file's content, in the format that `sha256sum -c` reads.
    var text: String {
        digests.sorted { $0.key < $1.key }.map { "\($0.value)  \($0.key)\n" }.joined()
    }

    /// The SHA-256 of the text, which identifies a copy in the ledger.
    package var digest: String { Digest.of(text) }

    /// Reads a folder's manifest; nil unless it is exactly as Fieldscribe writes it and lists only files of a copy.
    init?(in folder: Folder) throws(DeviceError) {
        guard try folder.exists(CopySettings.manifestName) else { return nil }
        let file = try folder.open(CopySettings.manifestName, O_RDONLY | O_NONBLOCK)
        let bytes: [UInt8]
        do throws(DeviceError) { bytes = try file.bytes(count: 16_384) } catch {
            // A folder, or anything else that cannot be read, is not a manifest.
            if error.status == EISDIR || error.status == EINVAL { return nil }
            throw error
        }
        self.init(reading: String(decoding: bytes, as: UTF8.self))
        guard digests.keys.allSatisfy(CopySettings.isName), Array(text.utf8) == bytes else { return nil }
    }

    /// Parses a manifest that may list any files in its own folder; nil if a line is malformed or a name occurs twice.
    package init?(reading text: String) {
        guard text.isEmpty || text.hasSuffix("\n") else { return nil }
        digests = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard fields.count == 2, fields[0].utf8.count == 64, fields[0].allSatisfy(\.isHexDigit),
                fields[1].first == " "
            else { return nil }
            let name = String(fields[1].dropFirst())
            guard !name.isEmpty, !name.contains("/"), digests[name] == nil else { return nil }
            digests[name] = String(fields[0])
        }
    }
}
