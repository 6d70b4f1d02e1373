import Core
import System

/// Opens archives: folders, and databases on a PostgreSQL server.
package enum ArchiveOpener {
    /// Whether a text is a PostgreSQL address.
    package static func isAddress(_ text: String) -> Bool {
        text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }

    /// Whether a folder contains an archive.
    package static func isFolder(_ path: String) -> Bool { isTaken("\(path)/\(OfficeFolder.databaseName)") }

    /// Opens the archive in a folder, or creates it. Opens it read-only if it cannot be written and `creates` is false.
    ///
    /// - Parameter creates: whether to create a missing archive.
    /// - Throws: `DeviceError` with `missing` if there is no archive, `unsupported` if another program or a later version wrote
    ///   it, `denied` without the permission to read or create it.
    package static func folder(_ path: String, creates: Bool) throws(DeviceError) -> any OfficeArchive {
        try OfficeFolder(path, creates: creates)
    }

    /// Connects to an archive on a server, or creates it.
    ///
    /// - Parameters:
    ///   - address: `postgresql://...` for libpq; the password may be in `~/.pgpass` instead.
    ///   - files: the folder of the copies as this machine sees it; nil for the one that the database names.
    ///   - creates: whether to create a missing archive.
    ///   - timeout: how long to wait for the server.
    /// - Throws: `DeviceError` in one line that names the server and the database, but never the password.
    package static func database(
        _ address: String, files: String?, creates: Bool, timeout: ServerTimeout
    ) throws(DeviceError) -> any OfficeArchive {
        try OfficeDatabase(address, files: files, creates: creates, timeout: timeout)
    }
}
