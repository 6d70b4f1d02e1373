import Glibc
import System

/// The file `archive.sqlite.suspect`, which a process creates when the database seems damaged. At the next start,
/// the appliance checks the whole database before it is ready, and rebuilds it if necessary.
package struct DamageMarker {
    private let path: String

    /// - Parameter database: the path of the database.
    package init(of database: String) { path = "\(database).suspect" }

    /// Whether the next start checks the database.
    var exists: Bool { FileStatus(path) != nil }

    /// Requests the check at the next start.
    ///
    /// - Throws: `DeviceError` if the file cannot be written.
    package func create() throws {
        try durableReplace(path: path, with: "damage was found; the next start checks the whole database\n")
    }

    /// Removes the file. If that fails, each start still checks the whole database.
    func remove() { if exists { unlink(path) } }
}
