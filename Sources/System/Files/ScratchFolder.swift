import Core
import Glibc
import Synchronization

/// A folder for a while, in `$TMPDIR` or `/tmp` where no other is named: with a name that nobody could have taken before, for this user alone, and
/// gone with the last reference or the process.
///
/// What a process left that was killed goes when this user's next one makes one of the same purpose.
package final class ScratchFolder: Sendable {
    /// The folder's path.
    package let path: String

    /// Where what may be as large as a recording or an archive goes: `$TMPDIR` or `/var/tmp`, for from Debian 13 on `/tmp` is in memory.
    package static var roomyParent: String { parent(orElse: "/var/tmp") }

    private static func parent(orElse place: String) -> String { getenv("TMPDIR").map { String(cString: $0) } ?? place }

    /// - Parameters:
    ///   - purpose: a part of the name: `demo`.
    ///   - parent: the folder that it is made in; nil for `$TMPDIR` or `/tmp`.
    /// - Throws: `DeviceError` where none can be made.
    package init(for purpose: String, in parent: String? = nil) throws(DeviceError) {
        let parent = parent ?? Self.parent(orElse: "/tmp")
        let prefix = Self.prefix(purpose)
        Self.sweep(parent, prefix)
        var template = Array("\(parent)/\(prefix)\(getpid())-XXXXXX".utf8CString)
        // With mode 0700.
        guard mkdtemp(&template) != nil else {
            throw .system("mkdtemp", on: parent, remedy: "set TMPDIR to a folder that you may write to")
        }
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        made.withLock { made in
            if made.isEmpty { atexit { removeMade() } }
            made[path] = getpid()
        }
    }

    deinit { Self.remove(path) }

    fileprivate static func remove(_ path: String) {
        // A copy of the process has a copy of the object, and not the folder.
        guard made.withLock({ $0.removeValue(forKey: path) }) == getpid() else { return }
        try? removeFolder(path)
    }

    /// Removes what processes left that were killed, without making another.
    package static func sweep(for purpose: String, in parent: String) { sweep(parent, prefix(purpose)) }

    private static func prefix(_ purpose: String) -> String { "fieldscribe-\(purpose)-" }

    /// Removes what processes left that were killed: folders of this user's, named by a process that there is no more.
    private static func sweep(_ parent: String, _ prefix: String) {
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

/// The folders that are to go with the process, each by the process that made it.
private let made = Mutex<[String: pid_t]>([:])

private func removeMade() { for path in made.withLock({ Array($0.keys) }) { ScratchFolder.remove(path) } }
