/// The result of gathering. `gather --json` prints these properties.
package struct GatherReport: Encodable, Sendable {
    package let archive: String
    /// The number of copies that were added.
    package var taken = 0
    /// The number of copies that were already in the archive.
    package var known = 0
    package var corrections = 0
    /// The number of transcripts that were added from another archive but are not in its copies.
    package var texts = 0
    /// The number of sealed copies that were skipped because there was no key.
    package var sealed = 0
    /// The folders of copies in the archive that contain passages redacted later. They are not shown.
    package var outdated: [String] = []
    /// The number of bytes that were added.
    package var bytes: Int64 = 0
    /// The rejected items, one line each. Everything else was added.
    package var problems: [String] = []
    /// Remarks for the user, one line each.
    package var notes: [String] = []
}

/// A source of recordings.
package enum GatherSource {
    /// A folder or stick with copies at any depth, or a recorder's own archive.
    case folder(String)
    /// Another archive of fieldscribe-office.
    case archive(any OfficeArchive)
}
