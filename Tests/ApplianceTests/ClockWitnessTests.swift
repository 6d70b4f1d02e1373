import Glibc
import Testing
import TestKit

@testable import Appliance

@Suite("Whether the clock is set") struct ClockWitnessTests {
    private let folder = TemporaryFolder()

    private func witness(_ script: String) throws -> ClockWitness {
        ClockWitness(program: try folder.program("timedatectl", script), timesyncd: folder.file("timesync"))
    }

    @Test("yes means that the clock is set")
    func yes() async throws {
        let asked = "[ \"$*\" = 'show --property=NTPSynchronized --value' ] && echo yes"
        #expect(try await witness(asked).saysSet())
    }

    @Test(
        "every other answer means no",
        arguments: ["echo no", "exit 1", "echo yesterday", "echo; echo yes", "yes | head -c 100000"])
    func otherwise(script: String) async throws { #expect(try await !witness(script).saysSet()) }

    @Test("a missing program is an error")
    func absent() async {
        let witness = ClockWitness(program: folder.file("nothing"))
        #expect(await thrown { _ = try await witness.saysSet() }?.code == .missing)
    }

    @Test("timedatectl is not asked if timesyncd sets the clock")
    func timesyncd() throws {
        let witness = try witness("echo yes")
        mkdir(witness.timesyncd, 0o755)
        #expect(!witness.isNeeded)
    }
}
