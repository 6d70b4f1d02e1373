import Core
import Glibc

/// Durably creates the missing folders in a file's path.
func createParentFolder(of path: String) throws(DeviceError) {
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
    try createFolder(String(path[..<slash]))
}

private func createFolder(_ folder: String) throws(DeviceError) {
    if access(folder, F_OK) == 0 { return }
    try createParentFolder(of: folder)
    // Another program may have created it meanwhile.
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
        let status = errno
        let (code, remedy): (DeviceError.Code, String) =
            switch status {
            case EACCES, EPERM, EROFS: (.denied, "ask for permission, or name another folder")
            case ENOSPC, EDQUOT: (.full, "make room on that disk")
            case ENOENT, ENOTDIR: (.missing, "check the path")
            default: (.failed, "check the disk")
            }
        throw DeviceError(
            code, "mkdir", status: status, "\(folder): the folder cannot be created (errno \(status)); \(remedy)")
    }
    sync(parentOf: folder)
}

/// A new folder survives a power cut once its parent is synced. If the parent cannot be opened for reading, the file system
/// writes it within seconds.
private func sync(parentOf folder: String) {
    let above = folder.lastIndex(of: "/").map { $0 == folder.startIndex ? "/" : String(folder[..<$0]) } ?? "."
    let descriptor = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
}
