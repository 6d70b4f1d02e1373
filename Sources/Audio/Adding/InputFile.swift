import Core
import Glibc
import System

/// A file that a person wants to add, opened with that person's permissions.
package final class InputFile: Sendable {
    /// The path for errors; `standard input` for `-`.
    let path: String
    /// The file's name; `standard input` for `-` or a pipe.
    package let name: String
    /// When the file was last modified, in seconds since 1970; nil for a pipe.
    let modified: Double?
    let file: FileDescriptor

    /// Opens a file or a pipe; `-` is standard input. Does not wait until a writer opens a named pipe.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied`, or with `unsupported` if this is neither a file nor a pipe.
    package init(_ path: String) throws(DeviceError) {
        let isStandardInput = path == "-"
        self.path = isStandardInput ? "standard input" : path
        if isStandardInput {
            let copy = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { throw .system("fcntl", on: self.path) }
            file = FileDescriptor(adopting: copy, named: self.path)
        } else {
            file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            _ = fcntl(file.number, F_SETFL, fcntl(file.number, F_GETFL) & ~O_NONBLOCK)
        }
        let status = try file.status()
        switch status.kind {
        case .file:
            modified = Double(status.modified)
            name = isStandardInput ? self.path : lastName(of: path)
        case .pipe, .socket:
            modified = nil
            name = "standard input"
        case .folder:
            throw DeviceError(
                .unsupported, "open", on: self.path, "is a folder",
                remedy: "choose a file, or use a pattern like \(path)/*")
        default:
            throw DeviceError(
                .unsupported, "open", on: self.path, "is a device, not an audio file",
                remedy: "choose an audio file")
        }
    }
}
