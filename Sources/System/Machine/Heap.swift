internal import CLinux

/// Settings of the allocator.
package enum Heap {
    /// Makes all threads share one arena. By default glibc reserves 64 MB of address space per thread, too much for
    /// `ulimit -v` of 400 MB. Call it before other threads start.
    package static func useOneArena() { fieldscribe_use_one_arena() }
}
