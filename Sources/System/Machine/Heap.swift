internal import CLinux

/// Settings of the allocator.
package enum Heap {
    /// Returns freed blocks of this size and more to the system immediately. Otherwise glibc keeps them between other
    /// blocks.
    package static func releaseBlocks(from bytes: Int) { fieldscribe_map_blocks(bytes) }

    /// Makes all threads share one arena. By default glibc reserves 64 MB of address space per thread, too much for
    /// `ulimit -v` of 400 MB. Call it before other threads start.
    package static func useOneArena() { fieldscribe_use_one_arena() }
}
