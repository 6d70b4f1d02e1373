import Core
import System

/// Opens archives, which are folders or databases on a PostgreSQL server.
package enum ArchiveOpener {
    /// Returns whether a text is the address of a PostgreSQL database.
    package static func isAddress(_ text: String) -> Bool {
        text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }

    /// Returns whether a folder contains an archive.
    package static func isFolder(_ path: String) -> Bool { pathExists("\(path)/\(OfficeFolder.databaseName)") }

    /// Opens the archive in a folder, or creates it. Opens it read-only if it is not writable and `creates` is false.
    ///
    /// - Parameter creates: whether to create a missing archive.
    /// - Throws: `DeviceError` with `missing` if there is no archive, `unsupported` if another program or a later
    ///   version wrote it, `denied` if this user may not read or create it.
    package static func folder(_ path: String, creates: Bool) throws(DeviceError) -> any OfficeArchive {
        try OfficeFolder(path, creates: creates)
    }

    /// Connects to an archive on a server, or creates it.
    ///
    /// - Parameters:
    ///   - address: the address for libpq, `postgresql://...`. The password may be in `~/.pgpass` instead.
    ///   - files: the folder of the copies on this machine; nil for the folder that the database specifies.
    ///   - creates: whether to create a missing archive.
    ///   - timeout: the timeout for the server.
    /// - Throws: `DeviceError` with the names of the server and the database, but never the password.
    package static func database(
        _ address: String, files: String?, creates: Bool, timeout: ServerTimeout
    ) throws(DeviceError) -> any OfficeArchive {
        try OfficeDatabase(address, files: files, creates: creates, timeout: timeout)
    }
}
