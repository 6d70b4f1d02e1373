import Core
import Glibc

/// Where a path leads, from any folder, without links and `..`.
///
/// - Throws: `DeviceError` where nothing is there, or it may not be looked at.
package func realPath(_ path: String) throws(DeviceError) -> String {
    guard let resolved = realpath(path, nil) else { throw .system("realpath", on: path) }
    defer { free(resolved) }
    return String(cString: resolved)
}
