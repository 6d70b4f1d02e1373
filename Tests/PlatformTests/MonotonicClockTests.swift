import Testing

@testable import System

@Suite struct MonotonicClockTests {
    @Test(
        "a clock counts as set once its error is below 16 s, regardless of the program and the other fields",
        arguments: [
            (-1, false), (0, true), (20_000, true), (15_999_999, true), (16_000_000, false), (.max, false),
        ] as [(Int, Bool)])
    func isSet(maximumError: Int, isSet: Bool) { #expect(MonotonicClock.isSet(maximumError: maximumError) == isSet) }

    @Test("the kernel answers here, or denies the call")
    func mayAsk() { #expect(MonotonicClock.mayAskKernel || !MonotonicClock.isSet(maximumError: -1)) }
}
