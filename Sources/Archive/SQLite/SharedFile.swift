import Core
internal import CSQLite
import Synchronization

/// The SQLite VFS (`shared.h`) that this process's connections to one database share. It locks other processes out while a
/// connection is open. Freed with the last connection.
// Safety: nothing changes after `init`; the C code has its own mutex.
final class SharedFile: @unchecked Sendable {
    private static let latest = Atomic<Int>(0)

    /// The VFS's name, which SQLite keeps a pointer to.
    private let name: UnsafeMutablePointer<CChar>
    private let share: UnsafeMutablePointer<fieldscribe_share>

    init() throws(DeviceError) {
        let number = Self.latest.wrappingAdd(1, ordering: .relaxed).newValue
        let text = Array("fieldscribe-\(number)".utf8CString)
        name = .allocate(capacity: text.count)
        name.initialize(from: text, count: text.count)
        guard let share = fieldscribe_share_make(name) else {
            name.deallocate()
            throw DeviceError(.failed, "sqlite3_vfs_register", "no memory is left to open the archive")
        }
        self.share = share
    }

    deinit {
        fieldscribe_share_free(share)
        name.deallocate()
    }

    /// Opens the database; see `Connection.open`.
    func open(_ path: String) -> (status: Int32, handle: OpaquePointer?) {
        Connection.open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs: name)
    }
}
