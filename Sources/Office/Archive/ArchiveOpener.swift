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

    /// Opens the archive in a folder.
    ///
    /// - Parameter creates: whether to create a missing archive; if false, an archive that is not writable is opened
    ///   read-only.
    /// - Throws: `DeviceError` with `missing` if there is no archive, `unsupported` if another program or a later
    ///   version wrote it, `denied` if this user may not read it or, if `creates` is true, write it.
    package static func openFolder(_ path: String, creates: Bool) throws(DeviceError) -> any OfficeArchive {
        try OfficeFolder(path, creates: creates)
    }

    /// Connects to an archive on a server.
    ///
    /// - Parameters:
    ///   - address: a URI for libpq, `postgresql://...`. Without a password, libpq reads `~/.pgpass`.
    ///   - files: the path of the copies on this machine; nil for the path that the database stores.
    ///   - creates: whether to create a missing archive.
    /// - Throws: `DeviceError` that names the server and the database, but never the password.
    package static func openDatabase(
        _ address: String, files: String?, creates: Bool, timeout: ServerTimeout
    ) throws(DeviceError) -> any OfficeArchive {
        try OfficeDatabase(address, files: files, creates: creates, timeout: timeout)
    }
}
