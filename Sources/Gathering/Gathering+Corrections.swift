import Core
import Glibc
import Office
import Platform

// What people have saved from pages.
extension Gathering {
    /// What lies beside copies that are in the archive now.
    func takePending() throws(DeviceError) {
        let copies = pending
        pending = []
        for (found, digest) in copies {
            guard !found.saved.isEmpty, let folder = try? found.place.open() else { continue }
            for name in SavedCorrections.inOrder(found.saved, in: folder) {
                try takeCorrections(name, at: found.place, of: digest)
            }
        }
    }

    /// Takes what somebody has saved; what is wrong with it is told.
    ///
    /// - Parameter digest: of the copy beside which it lies; nil where it lies beside none, and tells itself of which recording it is.
    func takeCorrections(
        _ name: String, at place: FoundCopies.Place, of digest: String?
    ) throws(DeviceError) {
        let path = "\(place.path)/\(name)"
        do throws(DeviceError) {
            let bytes = try place.open().openFile(name, O_RDONLY).content(limit: SavedCorrections.largest)
            let saved = try SavedCorrections(bytes, name: path)
            let identity = saved.file.identity
            let recording =
                if let digest { try archive.recording(ofCopy: digest) } else {
                    try archive.recording(ofSound: identity.sound, number: identity.recording)
                }
            guard let recording, recording.number == identity.recording else {
                throw DeviceError(
                    .unsupported, "import", on: path,
                    "is of a recording \(identity.recording) that \(digest == nil ? "is not in the archive" : "this copy is not of")",
                    remedy: digest == nil ? "gather its copy, too" : "put it beside its own page")
            }
            if let isNew = try saved.take(into: archive, of: recording) {
                if isNew {
                    saved.keep(bytes, beside: recording, in: archive, isPage: name.hasSuffix(".html"))
                    report.corrections += 1
                }
                return
            }
            throw DeviceError(
                .unsupported, "import", on: path,
                "was made of another text of recording \(identity.recording), which is not in the archive",
                remedy: "gather that copy, too")
        } catch { try refuse(error) }
    }
}
