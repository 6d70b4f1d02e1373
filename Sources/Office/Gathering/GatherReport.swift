/// What became of a gathering.
package struct GatherReport: Sendable {
    /// Copies that were taken.
    package var taken = 0
    /// Copies that were there already.
    package var known = 0
    /// What people have put right, and was taken.
    package var corrections = 0
    /// Texts of engines that another archive had besides its copies, and were taken.
    package var texts = 0
    /// Sealed copies that nobody gave a key to.
    package var sealed = 0
    /// The folders in the archive of copies that have what was struck from their recordings later. Nothing shows them.
    package var outdated: [String] = []
    /// Bytes that were taken.
    package var bytes: Int64 = 0
    /// What was refused, a line each; everything else was taken.
    package var problems: [String] = []
    /// What is worth knowing, a line each.
    package var notes: [String] = []
}

/// From where recordings are taken.
package enum GatherSource {
    /// A folder or a stick with copies, however deep they lie; or a recorder's own archive.
    case folder(String)
    /// Another archive of this kind.
    case archive(any OfficeArchive)
}
