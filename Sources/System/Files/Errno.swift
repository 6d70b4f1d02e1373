import Core
import Glibc

extension DeviceError {
    /// The error of a system call, by the current `errno`.
    ///
    /// - Parameters:
    ///   - operation: The call, by its manual's name.
    ///   - subject: The file or device.
    ///   - remedy: Replaces the remedy for the error number.
    package static func system(_ operation: String, on subject: String, remedy: String? = nil) -> DeviceError {
        system(operation, status: errno, on: subject, remedy: remedy)
    }

    /// The error of a system call, by an error number.
    ///
    /// - Parameter status: `errno` after the call.
    package static func system(
        _ operation: String, status: Int32, on subject: String, remedy: String? = nil
    ) -> DeviceError {
        let (code, usual): (Code, String) =
            switch status {
            case ENOENT, ENOTDIR: (.missing, "check the path")
            case ENODEV, ENXIO: (.disconnected, "check that it is plugged in")
            case EACCES, EPERM: (.denied, "ask for permission, or name another place")
            case EROFS: (.denied, "the file system is read-only; name another place or remount it")
            case EBUSY: (.busy, "close the program that uses it")
            case ENOSPC where isOutOfInodes(subject):
                (.full, "it has space, but no free inodes: remove some files (df -i counts them)")
            case ENOSPC, EDQUOT: (.full, "free space on that disk, or name another one")
            case EFBIG:
                (
                    .full,
                    fileSizeLimit != nil
                        ? "this process may write no larger file; raise the limit (ulimit -f, LimitFSIZE= of the unit)"
                        : "the file system allows no larger file; start a new one, or name another disk"
                )
            case EEXIST: (.failed, "nothing is overwritten; name another place")
            case EISDIR: (.unsupported, "name a file, not a folder")
            case ELOOP: (.failed, "name the file itself, not a link")
            case ENAMETOOLONG: (.failed, "use a shorter name")
            case EMFILE, ENFILE:
                (
                    .failed,
                    "raise the limit (ulimit -n, LimitNOFILE= of the unit), or close the program that has many files open"
                )
            case EIO: (.failed, "the disk or device reports an error; replace it")
            default: (.failed, "\(operation) failed")
            }
        let text = errorText(status)
        return DeviceError(
            code, operation, status: status, on: subject, text.prefix(1).lowercased() + text.dropFirst(),
            remedy: remedy ?? usual)
    }
}

/// The size in bytes beyond which this process and its children may write no file (RLIMIT_FSIZE); nil if there is no limit.
package var fileSizeLimit: Int64? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max else {
        return nil
    }
    return Int64(clamping: limit.rlim_cur)
}

/// Whether a file system has free bytes but no free inodes.
private func isOutOfInodes(_ path: String) -> Bool {
    var status = statvfs()
    guard statvfs(path, &status) == 0 || statvfs(folder(of: path), &status) == 0 else { return false }
    return status.f_files > 0 && status.f_favail == 0 && status.f_bavail > 0
}

/// Returns the system's text for an error number.
package func errorText(_ status: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 128)
    return buffer.withUnsafeMutableBufferPointer { buffer in
        guard let base = buffer.baseAddress, strerror_r(status, base, buffer.count) == 0 else {
            return "error \(status)"
        }
        return String(cString: base)
    }
}

/// Repeats a system call while a signal interrupts it (EINTR).
///
/// - Parameter call: Returns -1 on failure, with the reason in `errno`.
/// - Returns: The last result; `errno` is unchanged.
package func uninterrupted<Number: FixedWidthInteger>(_ call: () -> Number) -> Number {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}
