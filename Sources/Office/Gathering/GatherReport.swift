/// The result of a gathering. `gather --json` prints these properties.
package struct GatherReport: Encodable, Sendable {
    package let archive: String
    /// Copies that were added.
    package var taken = 0
    /// Copies that were already in the archive.
    package var known = 0
    package var corrections = 0
    /// Added transcripts from another archive that are not in its copies.
    package var texts = 0
    /// Sealed copies that were skipped without a key.
    package var sealed = 0
    /// The folders of copies in the archive that contain passages redacted later. They are not shown.
    package var outdated: [String] = []
    /// The bytes that were added.
    package var bytes: Int64 = 0
    /// Rejected items, one per line; everything else was added.
    package var problems: [String] = []
    /// Remarks for the user, one per line.
    package var notes: [String] = []
}

/// A source of recordings.
package enum GatherSource {
    /// A folder or stick with copies at any depth; or a recorder's own archive.
    case folder(String)
    /// Another archive of this kind.
    case archive(any OfficeArchive)
}
