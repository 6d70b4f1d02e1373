import Core
import Glibc
import System

/// The content of a SHA256SUMS.
package struct Manifest: Equatable {
    /// SHA-256 in hexadecimal digits, by file name.
    package private(set) var digests: [String: String]

    init(_ digests: [String: String]) { self.digests = digests }

    /// The format that `sha256sum -c` reads.
    var text: String {
        digests.sorted { $0.key < $1.key }.map { "\($0.value)  \($0.key)\n" }.joined()
    }

    /// SHA-256 of the text, which identifies a copy in the ledger.
    package var digest: String { Digest.of(text) }

    /// Reads a folder's manifest; nil unless it is exactly as Fieldscribe writes it, without foreign names.
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

    /// Parses a manifest with any names in the same folder; nil if a line has another format or a name occurs twice.
    package init?(reading text: String) {
        guard text.isEmpty || text.hasSuffix("\n") else { return nil }
        digests = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].utf8.count == 64, parts[0].allSatisfy(\.isHexDigit), parts[1].first == " "
            else { return nil }
            let name = String(parts[1].dropFirst())
            guard !name.isEmpty, !name.contains("/"), digests[name] == nil else { return nil }
            digests[name] = String(parts[0])
        }
    }
}
