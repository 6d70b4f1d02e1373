/// The result of gathering. `gather --json` prints all properties.
package struct GatherReport: Encodable, Sendable {
    package let archive: String
    /// The number of copies that were added.
    package var taken = 0
    package var known = 0
    package var corrections = 0
    /// The number of engines' transcripts that were added from another archive and are not in its copies.
    package var texts = 0
    /// The number of sealed copies that were skipped because there was no key.
    package var sealed = 0
    /// The folders of copies that contain passages redacted later. The archive does not show these copies.
    package var outdated: [String] = []
    /// The size of the added copies in bytes.
    package var bytes: Int64 = 0
    /// One line for each rejected item. Everything else was added.
    package var problems: [String] = []
    package var notes: [String] = []
}

/// A source of recordings.
package enum GatherSource {
    /// A folder or stick that contains copies, perhaps in subfolders; or a recorder's own archive.
    case folder(String)
    /// Another archive of fieldscribe-office.
    case archive(any OfficeArchive)
}
