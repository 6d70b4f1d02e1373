import Core
import Glibc
import System

// Corrections saved from pages.
extension Gathering {
    /// Adds corrections beside copies that are in the archive now.
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

    /// Adds corrections in the order of saving, since later ones may build on earlier ones; reports a problem for each
    /// that does not fit.
    ///
    /// - Parameter digest: of the copy beside them; nil if they are beside no copy and name their recording themselves.
    func addCorrections(_ files: [FoundCorrections], of digest: String?) throws(DeviceError) {
        var left = files.indices.sorted {
            (files[$0].saved.file.savedAt, $0) < (files[$1].saved.file.savedAt, $1)
        }.map { files[$0] }
        while !left.isEmpty {
            var unfit: [FoundCorrections] = []
            for file in left where try !addCorrections(file, of: digest) { unfit.append(file) }
            // Another file may have restored the text that these were made from.
            if unfit.count < left.count {
                left = unfit
                continue
            }
            for file in unfit {
                try refuse(
                    DeviceError(
                        .unsupported, "import", on: file.path,
                        "was made from a different text of recording \(file.saved.file.identity.recording), which is not in the archive",
                        remedy: "gather that copy, too"))
            }
            return
        }
    }

    struct FoundCorrections {
        var path: String
        var bytes: [UInt8]
        var saved: SavedCorrections
    }

    /// Reads corrections; returns nil and reports a problem if they cannot be read.
    func readCorrections(_ name: String, at place: FoundCopies.Place) throws(DeviceError) -> FoundCorrections? {
        let path = "\(place.path)/\(name)"
        do throws(DeviceError) {
            let bytes = try place.open().content(ofFile: name, limit: SavedCorrections.largest)
            return FoundCorrections(
                path: path, bytes: bytes, saved: try SavedCorrections(bytes, name: path, reader: reader))
        } catch {
            try refuse(error)
            return nil
        }
    }

    /// Adds corrections; reports a problem if they cannot be added.
    ///
    /// - Returns: whether they fit a text of their recording, or were reported.
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
                    "belongs to a recording \(identity.recording) that \(digest == nil ? "is not in the archive" : "this copy is not of")",
                    remedy: digest == nil ? "gather its copy, too" : "put it beside its own page")
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
