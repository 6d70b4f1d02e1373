import Core
import Glibc

extension DeviceError {
    /// Returns the error for a system call that has just failed and set `errno`.
    ///
    /// - Parameters:
    ///   - operation: The name of the system call, as in its man page.
    ///   - subject: The file or device.
    ///   - remedy: A remedy to use instead of the default for the error number.
    package static func system(_ operation: String, on subject: String, remedy: String? = nil) -> DeviceError {
        system(operation, status: errno, on: subject, remedy: remedy)
    }

    /// Returns the error for a failed system call with a given error number.
    ///
    /// - Parameter status: The value of `errno` after the call.
    package static func system(
        _ operation: String, status: Int32, on subject: String, remedy: String? = nil
    ) -> DeviceError {
        let (code, defaultRemedy): (Code, String) =
            switch status {
            case ENOENT, ENOTDIR: (.missing, "check the path")
            case ENODEV, ENXIO: (.disconnected, "check that it is plugged in")
            case EACCES, EPERM: (.denied, "ask for permission, or choose another location")
            case EROFS: (.denied, "the file system is read-only; choose another location, or remount it")
            case EBUSY: (.busy, "close the program that uses it")
            case ENOSPC where isOutOfInodes(subject):
                (.full, "the disk has space but no free inodes; remove some files (df -i shows the inodes)")
            case ENOSPC, EDQUOT: (.full, "free space on that disk, or choose another one")
            case EFBIG:
                (
                    .full,
                    fileSizeLimit != nil
                        ? "raise the limit on file sizes (ulimit -f, LimitFSIZE= in the unit)"
                        : "the file system does not support larger files; start a new file, or choose another disk"
                )
            case EEXIST: (.failed, "existing files are not overwritten; choose another location")
            case EISDIR: (.unsupported, "name a file, not a folder")
            case ELOOP: (.failed, "name the file itself, not a link")
            case ENAMETOOLONG: (.failed, "use a shorter name")
            case EMFILE, ENFILE:
                (
                    .failed,
                    "raise the limit (ulimit -n, LimitNOFILE= in the unit), or close programs that have many files open"
                )
            case EIO: (.failed, "the disk or device reports an error; replace it")
            default: (.failed, "\(operation) failed")
            }
        let text = errorText(status)
        return DeviceError(
            code, operation, status: status, on: subject, text.prefix(1).lowercased() + text.dropFirst(),
            remedy: remedy ?? defaultRemedy)
    }
}

/// The maximum size in bytes of files that this process and its children may write (RLIMIT_FSIZE); nil if unlimited.
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

/// Returns the system's message for an error number.
package func errorText(_ status: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 128)
    return buffer.withUnsafeMutableBufferPointer { buffer in
        guard let base = buffer.baseAddress, strerror_r(status, base, buffer.count) == 0 else {
            return "error \(status)"
        }
        return String(cString: base)
    }
}

/// Repeats a system call until it is not interrupted by a signal (EINTR).
///
/// - Parameter call: Must return -1 and set `errno` on failure.
/// - Returns: The result of the last call, with the `errno` that it set.
package func uninterrupted<Number: FixedWidthInteger>(_ call: () -> Number) -> Number {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}
