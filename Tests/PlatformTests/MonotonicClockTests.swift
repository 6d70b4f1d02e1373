import Glibc
import Testing

@testable import System

@Suite struct MonotonicClockTests {
    @Test(
        "the clock is regarded as set once the kernel's maximum error is below 16 s",
        arguments: [
            (-1, false), (0, true), (20_000, true), (15_999_999, true), (16_000_000, false), (.max, false),
        ] as [(Int, Bool)])
    func isSet(maximumError: Int, isSet: Bool) { #expect(MonotonicClock.isSet(maximumError: maximumError) == isSet) }

    @Test("the kernel answers the query, unless this process may not make it")
    func query() { #expect(MonotonicClock.canQueryKernel || [EPERM, ENOSYS].contains(errno)) }
}
