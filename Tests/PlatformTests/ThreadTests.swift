import Core
import FoundationEssentials
import Platform
import Testing

@Suite struct ThreadTests {
    @Test("the body runs on a thread of its name, and its value comes back")
    func returnsItsValue() async throws {
        let name = try await onThread(named: "a-thread") {
            try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        }
        #expect(name == "a-thread\n")
    }

    @Test("what the body throws comes back")
    func throwsItsError() async {
        let failure = DeviceError(.failed, "test", "a test")
        await #expect(throws: failure) { try await onThread(named: "throws") { throw failure } }
    }
}
