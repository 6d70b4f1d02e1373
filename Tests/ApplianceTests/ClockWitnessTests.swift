import Glibc
import Testing
import TestKit

@testable import Appliance

@Suite("Who tells of the clock") struct ClockWitnessTests {
    private let folder = TemporaryFolder()

    private func witness(_ script: String) throws -> ClockWitness {
        ClockWitness(program: try folder.program("timedatectl", script), timesyncd: folder.file("timesync"))
    }

    @Test("it is believed where it says yes, and asked for nothing else")
    func yes() async throws {
        let asked = "[ \"$*\" = 'show --property=NTPSynchronized --value' ] && echo yes"
        #expect(try await witness(asked).saysSet())
    }

    @Test(
        "all else is no", arguments: ["echo no", "exit 1", "echo yesterday", "echo; echo yes", "yes | head -c 100000"])
    func otherwise(script: String) async throws { #expect(try await !witness(script).saysSet()) }

    @Test("one that is not there cannot be asked")
    func absent() async {
        let witness = ClockWitness(program: folder.file("nothing"))
        #expect(await thrown { _ = try await witness.saysSet() }?.code == .missing)
    }

    @Test("where timesyncd sets the clock nobody else is asked")
    func timesyncd() throws {
        let witness = try witness("echo yes")
        mkdir(witness.timesyncd, 0o755)
        #expect(!witness.isNeeded)
    }
}
