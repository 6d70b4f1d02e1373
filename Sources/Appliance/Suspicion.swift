import Glibc
import Platform

/// Says over a restart that damage was met in a database: the next start reads all of it before it is ready, and makes it
/// anew where that is so. It is a file, `archive.sqlite.suspect`.
struct Suspicion {
    private let path: String

    /// - Parameter database: its path.
    init(of database: String) { path = "\(database).suspect" }

    var isRaised: Bool { FileStatus(path) != nil }

    func raise() throws { try durableReplace(path: path, with: "damage was met; the next start looks at all of it\n") }

    /// What cannot be removed makes later starts slower, and nothing else.
    func drop() { if isRaised { unlink(path) } }
}
