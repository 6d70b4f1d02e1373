import Core
internal import CSQLite
import Synchronization

/// What several connections of this process to one database share; other processes are kept out as long as one is open.
///
/// It is a file system of SQLite's own kind (`shared.h`); owns it, and frees it when the last connection is gone.
// Safety: nothing changes after `init`; what C changes is behind its mutex.
final class SharedFile: @unchecked Sendable {
    private static let latest = Atomic<Int>(0)

    /// Under which SQLite knows it; stays where it is until the end.
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

    /// Opens the database; SQLite's status, and its handle where it gave one.
    func open(_ path: String) -> (status: Int32, handle: OpaquePointer?) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let status = sqlite3_open_v2(path, &opened, flags, name)
        return (status, opened)
    }
}
