import Glibc
import Testing
import TestKit

@testable import Appliance

@Suite("The clock query") struct ClockQueryTests {
    private let folder = TemporaryFolder()

    private func query(_ script: String) throws -> ClockQuery {
        ClockQuery(program: try folder.program("timedatectl", script), timesyncFolder: folder.file("timesync"))
    }

    @Test("the answer yes means that the clock is set")
    func setClock() async throws {
        let script = "[ \"$*\" = 'show --property=NTPSynchronized --value' ] && echo yes"
        #expect(try await query(script).isClockSet())
    }

    @Test(
        "every other answer means that the clock is not set",
        arguments: ["echo no", "exit 1", "echo yesterday", "echo; echo yes", "yes | head -c 100000"])
    func unsetClock(script: String) async throws { #expect(try await !query(script).isClockSet()) }

    @Test("a missing program is an error")
    func missingProgram() async {
        let query = ClockQuery(program: folder.file("nothing"))
        #expect(await thrown { _ = try await query.isClockSet() }?.code == .missing)
    }

    @Test("timedatectl is not needed if timesyncd sets the clock")
    func timesyncdRuns() throws {
        let query = try query("echo yes")
        mkdir(query.timesyncFolder, 0o755)
        #expect(!query.isNeeded)
    }
}
