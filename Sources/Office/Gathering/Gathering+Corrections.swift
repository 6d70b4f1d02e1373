import Core
import Glibc
import System

// Adds corrections that were saved from pages.
extension Gathering {
    /// Adds the corrections beside copies that are now in the archive.
    func addPendingCorrections() throws(DeviceError) {
        let pending = pendingCorrections
        pendingCorrections = []
        for (copy, digest) in pending {
            // The stick may have been removed.
            guard !copy.correctionNames.isEmpty, (try? copy.location.open()) != nil else { continue }
            var files: [FoundCorrections] = []
            for name in copy.correctionNames.sorted() {
                if let file = try readCorrections(name, at: copy.location) { files.append(file) }
            }
            try addCorrections(files, of: digest)
        }
    }

    /// Adds corrections in the order in which they were saved, because later corrections may build on earlier ones.
    /// Reports a problem for each file that matches no transcript in the archive.
    ///
    /// - Parameter digest: the digest of the copy beside the files; nil to find the recording by the digest of its samples.
    func addCorrections(_ files: [FoundCorrections], of digest: String?) throws(DeviceError) {
        var remaining = files.indices.sorted {
            (files[$0].saved.file.savedAt, $0) < (files[$1].saved.file.savedAt, $1)
        }.map { files[$0] }
        while !remaining.isEmpty {
            var unmatched: [FoundCorrections] = []
            for file in remaining where try !addCorrections(file, of: digest) { unmatched.append(file) }
            // Tries again, because another file may have restored the transcript that these were made from.
            if unmatched.count < remaining.count {
                remaining = unmatched
                continue
            }
            for file in unmatched {
                try handle(
                    DeviceError(
                        .unsupported, "import", on: file.path,
                        "was made from a transcript of recording \(file.saved.file.identity.recording) that is not in "
                            + "the archive", remedy: "gather the copy with that transcript, too"))
            }
            return
        }
    }

    struct FoundCorrections {
        var path: String
        var bytes: [UInt8]
        var saved: SavedCorrections
    }

    /// Reads a file with corrections. If it cannot be read, returns nil and reports a problem.
    func readCorrections(_ name: String, at location: FoundCopies.Location) throws(DeviceError) -> FoundCorrections? {
        let path = "\(location.path)/\(name)"
        do throws(DeviceError) {
            let bytes = try location.open().content(ofFile: name, limit: SavedCorrections.maximumBytes)
            return FoundCorrections(
                path: path, bytes: bytes, saved: try SavedCorrections(bytes, name: path, reader: reader))
        } catch {
            try handle(error)
            return nil
        }
    }

    /// Adds corrections. Reports a problem if they cannot be added.
    ///
    /// - Returns: false if they match no transcript of their recording, which is not reported.
    private func addCorrections(_ file: FoundCorrections, of digest: String?) throws(DeviceError) -> Bool {
        let (path, saved) = (file.path, file.saved)
        do throws(DeviceError) {
            let identity = saved.file.identity
            let recording =
                if let digest { try archive.recording(ofCopy: digest) } else {
                    try archive.recording(withSamples: identity.sound, number: identity.recording)
                }
            guard let recording, recording.number == identity.recording else {
                throw DeviceError(
                    .unsupported, "import", on: path,
                    digest == nil
                        ? "belongs to recording \(identity.recording), which is not in the archive"
                        : "belongs to recording \(identity.recording), unlike the copy beside it",
                    remedy: digest == nil ? "gather its copy, too" : "move it to the folder of its own page")
            }
            let isNew = try saved.add(file.bytes, isPage: path.hasSuffix(".html"), to: archive, of: recording)
            if isNew == true { report.corrections += 1 }
            return isNew != nil
        } catch {
            try handle(error)
            return true
        }
    }
}
