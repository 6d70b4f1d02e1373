internal import CLinux
import Core
import Glibc

/// Forks copies of a process, which share its memory until it is written (copy-on-write), so that a model is loaded
/// only once.
///
/// For copy i, counted from 0, descriptor 3 + 2 i is its standard input and 4 + 2 i is its standard output.
package enum ProcessCopies {
    package static let maximumCount = 63

    private static let firstDescriptor: Int32 = 3
    /// The first descriptor after those for copies.
    static let firstUnusedDescriptor = firstDescriptor + 2 * Int32(maximumCount)

    static func input(_ copy: Int) -> Int32 { firstDescriptor + 2 * Int32(copy) }
    static func output(_ copy: Int) -> Int32 { input(copy) + 1 }

    /// Forks copies of the calling process, which have only the calling thread. Call this only once per process.
    ///
    /// Each copy has its own standard input and output. The copies are reparented to the nearest subreaper, which is
    /// the parent of this program (see `ChildProcess`).
    ///
    /// - Parameter count: The number of copies, up to `maximumCount`.
    /// - Returns: The copies' process IDs, possibly fewer than `count` if the system permits no more; nil in a copy.
    package static func make(_ count: Int) -> [Int32]? {
        let count = min(max(0, count), maximumCount)
        var ids: [Int32] = []
        for copy in 0..<count {
            let id = fieldscribe_fork_copy()
            if id == 0 {
                dup2(input(copy), STDIN_FILENO)
                dup2(output(copy), STDOUT_FILENO)
                // Closes the other copies' descriptors too, so that the parent sees the end of a copy's output when it
                // exits.
                closeAll(count)
                return nil
            }
            guard id > 0 else { break }
            ids.append(id)
        }
        closeAll(count)
        return ids
    }

    private static func closeAll(_ count: Int) {
        for copy in 0..<count {
            close(input(copy))
            close(output(copy))
        }
    }
}
