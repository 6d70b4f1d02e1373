internal import CLinux
import Core
import Glibc

/// Copies of a process, which share its memory until they write to it: what each would load is loaded once.
///
/// Copy number i, from 0, finds its standard input at descriptor 3 + 2 i and its standard output at the next.
package enum ProcessCopies {
    /// So many can be made.
    package static let most = 63

    private static let first: Int32 = 3
    /// Below are the descriptors of copies.
    static let lowestFree = first + 2 * Int32(most)

    static func input(_ copy: Int) -> Int32 { first + 2 * Int32(copy) }
    static func output(_ copy: Int) -> Int32 { input(copy) + 1 }

    /// Copies the calling process, of which only the calling thread is in the copies. Once a process.
    ///
    /// In a copy standard input and output are its own. The copies are children of the nearest process above that has
    /// said that it takes them, as `ChildProcess` does.
    /// - Parameter count: up to `most`.
    /// - Returns: the copies' process numbers, fewer where the system allows no more; nil in a copy.
    package static func make(_ count: Int) -> [Int32]? {
        let count = min(max(0, count), most)
        var made: [Int32] = []
        for copy in 0..<count {
            let id = fieldscribe_fork_away()
            if id == 0 {
                dup2(input(copy), STDIN_FILENO)
                dup2(output(copy), STDOUT_FILENO)
                // Also those of the others: that one has ended is seen once nobody holds its output any more.
                closeAll(count)
                return nil
            }
            guard id > 0 else { break }
            made.append(id)
        }
        closeAll(count)
        return made
    }

    private static func closeAll(_ count: Int) {
        for copy in 0..<count {
            close(input(copy))
            close(output(copy))
        }
    }
}
