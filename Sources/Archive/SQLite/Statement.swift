import Core
internal import CSQLite

/// A prepared statement (`sqlite3_stmt`), finalized on deinit. Only one task at a time may use it.
final class Statement {
    private let handle: OpaquePointer

    init(_ sql: String, on database: OpaquePointer) throws(DeviceError) {
        var statement: OpaquePointer?
        let status = sqlite3_prepare_v3(
            database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard status == SQLITE_OK, let statement else { throw .sqlite("sqlite3_prepare_v3", on: database) }
        handle = statement
    }

    deinit { sqlite3_finalize(handle) }

    /// Runs the statement with `values` bound, and passes rows to `read` until it returns false.
    func run(with values: [SQLValue], while read: (Row) -> Bool) throws(DeviceError) {
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
        while true {
            switch sqlite3_step(handle) {
            case SQLITE_ROW: if !read(Row(handle)) { return }
            case SQLITE_DONE: return
            default: throw .sqlite("sqlite3_step", on: sqlite3_db_handle(handle))
            }
        }
    }

    private func bind(_ value: SQLValue, at index: Int32) throws(DeviceError) {
        let status: Int32
        switch value {
        case .integer(let number): status = sqlite3_bind_int64(handle, index, number)
        case .null: status = sqlite3_bind_null(handle, index)
        case .real(let number): status = sqlite3_bind_double(handle, index, number)
        case .text(var text):
            // Safety: the shim copies the bytes (SQLITE_TRANSIENT).
            status = text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    fieldscribe_sqlite_bind_text(handle, index, $0.baseAddress, $0.count)
                }
            }
        }
        guard status == SQLITE_OK else { throw .sqlite("sqlite3_bind", on: sqlite3_db_handle(handle)) }
    }
}

/// A value to bind to a statement.
package enum SQLValue {
    case integer(Int64)
    case real(Double)
    case text(String)
    case null

    /// Returns an integer value.
    package static func integer(_ number: Int) -> SQLValue { .integer(Int64(number)) }
    /// Returns an integer value, or NULL for nil.
    package static func optional(_ number: Int64?) -> SQLValue { number.map { .integer($0) } ?? .null }
    /// Returns a real value, or NULL for nil.
    package static func optional(_ number: Double?) -> SQLValue { number.map { .real($0) } ?? .null }
    /// Returns a text value, or NULL for nil.
    package static func optional(_ text: String?) -> SQLValue { text.map { .text($0) } ?? .null }
    /// Returns a position as an integer number of samples.
    package static func position(_ position: SamplePosition) -> SQLValue { .integer(position.samples) }
}

/// A row of a result. Valid only during the call that receives it.
package struct Row {
    // Safety: `Statement.run` lends it for a call to `read`, which must not keep the row.
    private let statement: OpaquePointer

    fileprivate init(_ statement: OpaquePointer) { self.statement = statement }

    /// Returns an integer, limited to ±2^53 so that sums cannot overflow.
    package func integer(_ column: Int32) -> Int { Int(min(max(integer64(column), -(1 << 53)), 1 << 53)) }

    func integer64(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    /// Returns a position from a column in samples.
    package func position(_ column: Int32) -> SamplePosition { SamplePosition(integer64(column)) }

    /// Returns a range from the columns of its start and end, in samples.
    func range(_ start: Int32, _ end: Int32) -> SampleRange { SampleRange(position(start), position(end)) }

    /// Whether a column is NULL.
    package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    /// Returns a number; 0 for NULL.
    package func real(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }

    func optionalReal(_ column: Int32) -> Double? { isNull(column) ? nil : real(column) }

    /// Returns a string; nil for NULL.
    package func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    /// Returns a string; empty for NULL.
    package func text(_ column: Int32) -> String {
        guard let bytes = sqlite3_column_text(statement, column) else { return "" }
        // Safety: the bytes are valid until the statement's next step; the string copies them.
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}
