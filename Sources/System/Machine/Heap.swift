internal import CLinux

/// What is set of the whole process's memory.
package enum Heap {
    /// Gives blocks of so many bytes and more back to the system as soon as they are freed. Else the C library keeps more and
    /// more of them, in pieces between which others lie.
    package static func releaseBlocks(from bytes: Int) { fieldscribe_map_blocks(bytes) }

    /// Has all threads allocate from one arena. By default glibc reserves 64 MB of address space for each thread, which a limit of
    /// 400 MB (`ulimit -v`) does not have. Before other threads start.
    package static func useOneArena() { fieldscribe_use_one_arena() }
}
