/// The result of a gathering.
package struct GatherReport: Sendable {
    /// The number of copies that were added.
    package var taken = 0
    /// The number of copies that the archive had already.
    package var known = 0
    /// The number of corrections that were added.
    package var corrections = 0
    /// The number of transcripts of another archive, beyond its copies, that were added.
    package var texts = 0
    /// The number of sealed copies that were skipped without a key.
    package var sealed = 0
    /// The folders of copies in the archive that contain passages redacted later. They are not shown.
    package var outdated: [String] = []
    /// The bytes that were added.
    package var bytes: Int64 = 0
    /// What was refused, a line each; everything else was added.
    package var problems: [String] = []
    /// Remarks for the user, a line each.
    package var notes: [String] = []
}

/// A source of recordings.
package enum GatherSource {
    /// A folder or stick with copies, however deep; or a recorder's own archive.
    case folder(String)
    /// Another archive of this kind.
    case archive(any OfficeArchive)
}
