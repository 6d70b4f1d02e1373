import Core
internal import CSQLite
import Glibc
import System

extension DeviceError {
    /// Returns the error of the last failed call on an open database.
    static func sqlite(_ operation: String, on database: OpaquePointer) -> DeviceError {
        sqlite(
            operation, status: sqlite3_extended_errcode(database), systemStatus: sqlite3_system_errno(database),
            path: sqlite3_db_filename(database, "main").map { String(cString: $0) } ?? "archive",
            detail: String(cString: sqlite3_errmsg(database)))
    }

    /// Returns the error of a failed call on the database at `path`.
    ///
    /// - Parameters:
    ///   - status: SQLite's extended result code.
    ///   - systemStatus: The errno that caused the failure, or 0.
    ///   - detail: SQLite's message.
    static func sqlite(
        _ operation: String, status: Int32, systemStatus: Int32, path: String, detail: String
    ) -> DeviceError {
        let (code, message) = explain(status, systemStatus, detail)
        return DeviceError(code, operation, status: status, "\(path): \(message)")
    }

    private static func damaged(_ detail: String) -> (Code, String) {
        (.damaged, "the database is damaged (\(detail)); run fieldscribe recover, which rebuilds it")
    }

    private static func explain(_ status: Int32, _ systemStatus: Int32, _ detail: String) -> (Code, String) {
        // The low byte is the primary result code.
        switch (status & 0xff, systemStatus) {
        case (SQLITE_BUSY, _), (SQLITE_LOCKED, _):
            (.busy, "the appliance or another fieldscribe is using this archive; stop it, or wait until it is done")
        case (SQLITE_NOTADB, _):
            (.damaged, "is not a database; run fieldscribe recover, which rebuilds it, or choose another archive")
        case (SQLITE_CORRUPT, _):
            damaged(detail)
        // FTS5 reports a damaged version number in its index as SQLITE_ERROR.
        case (SQLITE_ERROR, _) where detail.hasPrefix("invalid fts5 file format"):
            damaged(detail)
        case (SQLITE_FULL, _), (SQLITE_IOERR, ENOSPC), (SQLITE_IOERR, EDQUOT), (SQLITE_CANTOPEN, ENOSPC):
            (.full, "no space is left; free space on that disk")
        case (SQLITE_CANTOPEN, ENOENT), (SQLITE_CANTOPEN, ENOTDIR):
            (.missing, "cannot be opened or created; check the path")
        case (SQLITE_CANTOPEN, EISDIR):
            (.unsupported, "is a folder; pass a file")
        case (SQLITE_PERM, _), (SQLITE_READONLY, _), (SQLITE_AUTH, _), (SQLITE_CANTOPEN, EACCES),
            (SQLITE_CANTOPEN, EPERM), (SQLITE_CANTOPEN, EROFS):
            (.denied, "cannot be written; get write permission for the file and its folder, or choose another archive")
        case (SQLITE_CANTOPEN, EMFILE), (SQLITE_CANTOPEN, ENFILE):
            (.failed, "too many open files; raise the limit (ulimit -n, LimitNOFILE= in the unit)")
        case (SQLITE_CANTOPEN, _):
            (.failed, "cannot be opened (\(detail)); check the path")
        // If a write failed because of a limit, SQLite does not always keep the errno.
        case (SQLITE_IOERR, _) where systemStatus == EFBIG || fileSizeLimit != nil:
            (
                .full,
                "cannot grow (\(detail)); raise the limit for file sizes (ulimit -f, LimitFSIZE= in the unit), or "
                    + "check the disk"
            )
        case (SQLITE_IOERR, _):
            (.failed, "the disk reports an error (\(detail)); check it, and replace it if it happens again")
        case (SQLITE_CONSTRAINT, _) where status == fieldscribe_sqlite_foreign_key:
            (.missing, "there is no such recording or pass; list them with fieldscribe list")
        case (SQLITE_CONSTRAINT, _):
            (.failed, "the database refused the change: \(detail)")
        default:
            (.failed, "\(detail) (SQLite \(status)); run fieldscribe verify")
        }
    }
}
