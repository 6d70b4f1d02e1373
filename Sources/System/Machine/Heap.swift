internal import CLinux

/// Memory allocator settings.
package enum Heap {
    /// Makes all threads share one arena. By default, glibc reserves 64 MB of address space per thread, which is too
    /// much with `ulimit -v` at 400 MB. Call this before starting other threads.
    package static func useOneArena() { fieldscribe_use_one_arena() }
}
