import Glibc
import System

/// Says over a restart that damage was met in a database: the next start reads all of it before it is ready, and makes it
/// anew where that is so. It is a file, `archive.sqlite.suspect`.
package struct Suspicion {
    private let path: String

    /// - Parameter database: its path.
    package init(of database: String) { path = "\(database).suspect" }

    /// Whether the next start looks.
    var isRaised: Bool { FileStatus(path) != nil }

    /// Asks the next start to look.
    ///
    /// - Throws: `DeviceError` where that cannot be written.
    package func raise() throws {
        try durableReplace(path: path, with: "damage was found; the next start checks the whole database\n")
    }

    /// What cannot be removed makes later starts slower, and nothing else.
    func drop() { if isRaised { unlink(path) } }
}
