import Core
internal import CSQLite
import Synchronization

/// The SQLite VFS (`shared.h`) that this process's connections to a database share. While a connection is open, other
/// processes are locked out. The VFS is freed with the last connection.
// Safety: nothing changes after `init`; the C code has its own mutex.
final class SharedFile: @unchecked Sendable {
    private static let lastNumber = Atomic<Int>(0)

    /// The VFS's name. SQLite keeps a pointer to it.
    private let name: UnsafeMutablePointer<CChar>
    private let share: UnsafeMutablePointer<fieldscribe_share>

    init() throws(DeviceError) {
        let number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        let characters = Array("fieldscribe-\(number)".utf8CString)
        name = .allocate(capacity: characters.count)
        name.initialize(from: characters, count: characters.count)
        guard let share = fieldscribe_share_make(name) else {
            name.deallocate()
            throw DeviceError(.failed, "sqlite3_vfs_register", "not enough memory to open the archive")
        }
        self.share = share
    }

    deinit {
        fieldscribe_share_free(share)
        name.deallocate()
    }

    func open(_ path: String) -> (status: Int32, handle: OpaquePointer?) {
        Connection.open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs: name)
    }
}
