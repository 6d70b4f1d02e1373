import Core
import System

/// What a database says of itself in its first bytes; SQLite's own words for a wrong one are "read-only" and "unsupported".
enum DatabaseHeader {
    /// What an error in opening the database comes from: damage, where no SQLite writes such a header.
    static func explain(_ error: DeviceError, path: String) -> DeviceError {
        guard error.code == .denied || error.code == .failed, isDamaged(path) else { return error }
        return DeviceError(
            .damaged, error.operation, status: error.status,
            "\(path): the header of the database is damaged; run fieldscribe recover, which rebuilds it")
    }

    private static func isDamaged(_ path: String) -> Bool {
        guard let bytes = try? beginning(ofFile: path, count: 100), bytes.count == 100 else { return false }
        // The version for writing is 1 or 2; the schema's is at most 4, big-endian.
        return bytes[18] > 2 || bytes[44..<47].contains { $0 > 0 } || bytes[47] > 4
    }
}
