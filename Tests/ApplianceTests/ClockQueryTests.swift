import Glibc
import Testing
import TestKit

@testable import Appliance

@Suite("Whether the clock is set") struct ClockQueryTests {
    private let folder = TemporaryFolder()

    private func query(_ script: String) throws -> ClockQuery {
        ClockQuery(program: try folder.program("timedatectl", script), timesyncd: folder.file("timesync"))
    }

    @Test("the answer yes means that the clock is set")
    func yes() async throws {
        let script = "[ \"$*\" = 'show --property=NTPSynchronized --value' ] && echo yes"
        #expect(try await query(script).isClockSet())
    }

    @Test(
        "every other answer means no",
        arguments: ["echo no", "exit 1", "echo yesterday", "echo; echo yes", "yes | head -c 100000"])
    func notSet(script: String) async throws { #expect(try await !query(script).isClockSet()) }

    @Test("a missing program is an error")
    func absent() async {
        let query = ClockQuery(program: folder.file("nothing"))
        #expect(await thrown { _ = try await query.isClockSet() }?.code == .missing)
    }

    @Test("timedatectl is not needed if timesyncd sets the clock")
    func timesyncd() throws {
        let query = try query("echo yes")
        mkdir(query.timesyncd, 0o755)
        #expect(!query.isNeeded)
    }
}
