import Core
import Glibc
import System

// Adds corrections that were saved from pages.
extension Gathering {
    /// Adds the corrections beside copies that are now in the archive.
    func addPending() throws(DeviceError) {
        let copies = pending
        pending = []
        for (found, digest) in copies {
            // The stick may have been pulled out.
            guard !found.saved.isEmpty, (try? found.place.open()) != nil else { continue }
            var files: [FoundCorrections] = []
            for name in found.saved.sorted() {
                if let file = try readCorrections(name, at: found.place) { files.append(file) }
            }
            try addCorrections(files, of: digest)
        }
    }

    /// Adds corrections in the order in which they were saved, because later corrections may build on earlier ones.
    /// Reports a problem for each file that does not match a text in the archive.
    ///
    /// - Parameter digest: the digest of the copy beside the files; nil if there is none, and the files identify their
    ///   recording.
    func addCorrections(_ files: [FoundCorrections], of digest: String?) throws(DeviceError) {
        var remaining = files.indices.sorted {
            (files[$0].saved.file.savedAt, $0) < (files[$1].saved.file.savedAt, $1)
        }.map { files[$0] }
        while !remaining.isEmpty {
            var unmatched: [FoundCorrections] = []
            for file in remaining where try !addCorrections(file, of: digest) { unmatched.append(file) }
            // Tries again, because another file may have restored the text that these were made from.
            if unmatched.count < remaining.count {
                remaining = unmatched
                continue
            }
            for file in unmatched {
                try refuse(
                    DeviceError(
                        .unsupported, "import", on: file.path,
                        "was made from a different text of recording \(file.saved.file.identity.recording), which is "
                            + "not in the archive", remedy: "gather the copy with that text, too"))
            }
            return
        }
    }

    struct FoundCorrections {
        var path: String
        var bytes: [UInt8]
        var saved: SavedCorrections
    }

    /// Reads corrections. If they cannot be read, returns nil and reports a problem.
    func readCorrections(_ name: String, at place: FoundCopies.Location) throws(DeviceError) -> FoundCorrections? {
        let path = "\(place.path)/\(name)"
        do throws(DeviceError) {
            let bytes = try place.open().content(ofFile: name, limit: SavedCorrections.maximumBytes)
            return FoundCorrections(
                path: path, bytes: bytes, saved: try SavedCorrections(bytes, name: path, reader: reader))
        } catch {
            try refuse(error)
            return nil
        }
    }

    /// Adds corrections. Reports a problem if they cannot be added.
    ///
    /// - Returns: false if they do not match any text of their recording, which is not reported.
    private func addCorrections(_ found: FoundCorrections, of digest: String?) throws(DeviceError) -> Bool {
        let (path, saved) = (found.path, found.saved)
        do throws(DeviceError) {
            let identity = saved.file.identity
            let recording =
                if let digest { try archive.recording(ofCopy: digest) } else {
                    try archive.recording(ofSound: identity.sound, number: identity.recording)
                }
            guard let recording, recording.number == identity.recording else {
                throw DeviceError(
                    .unsupported, "import", on: path,
                    digest == nil
                        ? "belongs to recording \(identity.recording), which is not in the archive"
                        : "belongs to recording \(identity.recording), unlike the copy beside it",
                    remedy: digest == nil ? "gather its copy, too" : "move it to the folder of its own page")
            }
            let isNew = try saved.add(found.bytes, isPage: path.hasSuffix(".html"), to: archive, of: recording)
            if isNew == true { report.corrections += 1 }
            return isNew != nil
        } catch {
            try refuse(error)
            return true
        }
    }
}
