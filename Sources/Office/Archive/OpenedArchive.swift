import Core

/// Opens archives: folders, and databases on a PostgreSQL server.
package enum OpenedArchive {
    /// Whether a text is a PostgreSQL address.
    package static func isAddress(_ text: String) -> Bool { OfficeDatabase.isAddress(text) }

    /// Whether a folder contains an archive.
    package static func isFolder(_ path: String) -> Bool { OfficeFolder.isArchive(path) }

    /// Opens the archive in a folder, or creates it. Opens it read-only if it may not be written and `makes` is false.
    ///
    /// - Parameter makes: whether a missing archive is created.
    /// - Throws: `DeviceError` with `missing` if there is no archive, `unsupported` if another or a later program wrote it,
    ///   `denied` if it may not be read, or not be created.
    package static func folder(_ path: String, makes: Bool) throws(DeviceError) -> any OfficeArchive {
        try OfficeFolder(path, makes: makes)
    }

    /// Connects to an archive on a server, or creates it.
    ///
    /// - Parameters:
    ///   - address: `postgresql://...` for libpq; the password may be in `~/.pgpass` instead.
    ///   - files: the folder of the copies as this machine sees it; nil for the one that the database names.
    ///   - makes: whether a missing archive is created.
    ///   - timeout: how long to wait for the server.
    /// - Throws: `DeviceError` in one line that names the server and the database, but never the password.
    package static func database(
        _ address: String, files: String?, makes: Bool, timeout: ServerTimeout
    ) throws(DeviceError) -> any OfficeArchive {
        try OfficeDatabase(address, files: files, makes: makes, timeout: timeout)
    }
}
