import Glibc
import System

/// Remembers across a restart that the database seemed damaged, in the file `archive.sqlite.suspect`: the next start checks
/// all of it before it is ready, and rebuilds it if it is damaged.
package struct DamageMarker {
    private let path: String

    /// - Parameter database: its path.
    package init(of database: String) { path = "\(database).suspect" }

    /// Whether the next start checks the database.
    var exists: Bool { FileStatus(path) != nil }

    /// Requests the check.
    ///
    /// - Throws: `DeviceError` if the file cannot be written.
    package func create() throws {
        try durableReplace(path: path, with: "damage was found; the next start checks the whole database\n")
    }

    /// If the file cannot be removed, later starts are only slower.
    func remove() { if exists { unlink(path) } }
}
