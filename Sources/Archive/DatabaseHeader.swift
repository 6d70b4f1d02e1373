import Core
import System

/// The first bytes of a database file. SQLite reports a wrong version there as "read-only" or "unsupported".
enum DatabaseHeader {
    /// Returns `damaged` in place of an error if SQLite never writes such a header.
    static func explain(_ error: DeviceError, path: String) -> DeviceError {
        guard error.code == .denied || error.code == .failed, isDamaged(path) else { return error }
        return DeviceError(
            .damaged, error.operation, status: error.status,
            "\(path): the header of the database is damaged; run fieldscribe recover, which rebuilds it")
    }

    private static func isDamaged(_ path: String) -> Bool {
        guard let bytes = try? beginning(ofFile: path, count: 100), bytes.count == 100 else { return false }
        // The write version is 1 or 2, the schema format at most 4, big-endian. https://www.sqlite.org/fileformat.html
        return bytes[18] > 2 || bytes[44..<47].contains { $0 > 0 } || bytes[47] > 4
    }
}
