internal import CLinux
import Core
import Glibc
import Synchronization

/// A temporary folder in `$TMPDIR` or `/tmp` with an unpredictable name, private to this user. It is removed with the
/// last reference or when the process exits. Creating one also removes folders with the same purpose that killed
/// processes of this user have left.
package final class ScratchFolder: Sendable {
    package let path: String

    /// The parent folder for content as large as a recording: `$TMPDIR` or `/var/tmp`, since `/tmp` is in memory from
    /// Debian 13 on.
    package static var parentForLargeFiles: String { parent(default: "/var/tmp") }

    private static func parent(default path: String) -> String { environmentVariable("TMPDIR") ?? path }

    /// - Parameters:
    ///   - purpose: A part of the folder's name, such as `demo`.
    ///   - parent: The parent folder; nil for `$TMPDIR` or `/tmp`.
    /// - Throws: `DeviceError` if the folder cannot be created.
    package init(for purpose: String, in parent: String? = nil) throws(DeviceError) {
        let parent = parent ?? Self.parent(default: "/tmp")
        let prefix = Self.prefix(purpose)
        Self.sweep(for: purpose, in: parent)
        var template = Array("\(parent)/\(prefix)\(getpid())-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw .system("mkdtemp", on: parent, remedy: "set TMPDIR to a folder that you may write to")
        }
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        createdFolders.withLock { folders in
            if folders.isEmpty { atexit { removeCreatedFolders() } }
            folders[path] = getpid()
        }
    }

    deinit { Self.remove(path) }

    fileprivate static func remove(_ path: String) {
        // A forked process has a copy of the object but does not own the folder.
        guard createdFolders.withLock({ $0.removeValue(forKey: path) }) == getpid() else { return }
        try? removeFolder(path)
    }

    /// Returns whether a name is that of a scratch folder for this purpose.
    package static func isName(_ name: String, for purpose: String) -> Bool { name.hasPrefix(prefix(purpose)) }

    private static func prefix(_ purpose: String) -> String { "fieldscribe-\(purpose)-" }

    /// Removes this user's scratch folders whose processes no longer exist.
    package static func sweep(for purpose: String, in parent: String) {
        let prefix = prefix(purpose)
        guard let folder = try? Folder(opening: parent), let names = try? folder.names() else { return }
        for name in names where name.hasPrefix(prefix) {
            guard let process = name.dropFirst(prefix.count).split(separator: "-").first.flatMap({ pid_t($0) }),
                process > 0, kill(process, 0) != 0, errno == ESRCH, let status = try? folder.status(name),
                status.kind == .folder, status.owner == geteuid()
            else { continue }
            try? folder.removeAll(name)
        }
    }
}

/// The folders to remove at exit, with the process that created each.
private let createdFolders = Mutex<[String: pid_t]>([:])

private func removeCreatedFolders() {
    for path in createdFolders.withLock({ Array($0.keys) }) { ScratchFolder.remove(path) }
}

/// Creates an unnamed file in `ScratchFolder.parentForLargeFiles`. It is deleted when the descriptor is closed.
///
/// - Throws: `DeviceError` if the file cannot be created.
package func temporaryFile() throws(DeviceError) -> FileDescriptor {
    let folder = ScratchFolder.parentForLargeFiles
    var template = Array("\(folder)/fieldscribe-XXXXXX".utf8CString)
    let descriptor = mkostemp(&template, O_CLOEXEC)
    guard descriptor >= 0 else { throw .system("mkostemp", on: folder, remedy: "set TMPDIR to a folder with space") }
    unlink(template)
    return FileDescriptor(adopting: descriptor, named: "the temporary file in \(folder)")
}
