import FoundationEssentials
import Glibc

/// A folder of a test's own, removed with all that is in it when the last reference goes.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() {
        let parent = FileManager.default.temporaryDirectory.path
        var template = Array("\(parent)/fieldscribe-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { template in
            guard let made = template.baseAddress.flatMap(mkdtemp) else { preconditionFailure("no folder for tests") }
            return String(cString: made)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in it.
    package func file(_ name: String) -> String { "\(path)/\(name)" }
}
