import Core
import Glibc

/// Returns the absolute path without links and `..`.
///
/// - Throws: `DeviceError` if it does not exist or may not be examined.
package func realPath(_ path: String) throws(DeviceError) -> String {
    guard let resolved = realpath(path, nil) else { throw .system("realpath", on: path) }
    defer { free(resolved) }
    return String(cString: resolved)
}
