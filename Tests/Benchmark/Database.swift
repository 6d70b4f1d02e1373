import CSQLite
import Core

/// Runs SQL statements on a database.
func execute(_ sql: String, on path: String) throws {
    var opened: OpaquePointer?
    guard sqlite3_open(path, &opened) == SQLITE_OK, let database = opened else {
        throw DeviceError(.failed, "sqlite3_open", "\(path) cannot be opened")
    }
    defer { sqlite3_close(database) }
    guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else {
        throw DeviceError(.failed, "sqlite3_exec", "\(path): \(String(cString: sqlite3_errmsg(database)))")
    }
}
