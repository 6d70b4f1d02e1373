internal import CLinux
import Core
import Glibc

/// Forks copies of a process, which share its memory until written (copy-on-write): each model is loaded once.
///
/// Copy number i, from 0, has its standard input at descriptor 3 + 2 i and its standard output at the next.
package enum ProcessCopies {
    package static let most = 63

    private static let first: Int32 = 3
    /// The first descriptor after those of copies.
    static let lowestFree = first + 2 * Int32(most)

    static func input(_ copy: Int) -> Int32 { first + 2 * Int32(copy) }
    static func output(_ copy: Int) -> Int32 { input(copy) + 1 }

    /// Forks copies of the calling process, which have only the calling thread. Once per process.
    ///
    /// In a copy, standard input and output are its own. The copies are reparented to the nearest subreaper, which
    /// `ChildProcess` makes this program's parent.
    /// - Parameter count: Up to `most`.
    /// - Returns: The copies' process IDs, fewer if the system permits no more; nil in a copy.
    package static func make(_ count: Int) -> [Int32]? {
        let count = min(max(0, count), most)
        var made: [Int32] = []
        for copy in 0..<count {
            let id = fieldscribe_fork_away()
            if id == 0 {
                dup2(input(copy), STDIN_FILENO)
                dup2(output(copy), STDOUT_FILENO)
                // Closes the others' as well: a copy's end is noticed only once nobody holds its output.
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
