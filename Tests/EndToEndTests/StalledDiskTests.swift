import FoundationEssentials
import Glibc
import Testing
import TestKit

/// The real appliance with a preloaded library that delays one sync.
@Suite("A disk that stalls") struct StalledDiskTests {
    private let folder = TemporaryFolder()

    @Test("a stall of the disk delays a stop, and the closed recording has all captured sound")
    func delayedStop() throws {
        let began = ContinuousClock.now
        let appliance = try ApplianceProcess(
            in: folder, microphone: "tone:440", environment: try stalling(milliseconds: 15_000))
        #expect(try appliance.run("start").output == "recording 1\n")
        try appliance.process.wait(until: "the fourth sync begins") { try delayedCalls() > 0 }
        try appliance.waitForSound(seconds: 0.5)
        let outcome = try appliance.stop()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(!outcome.errors.contains { $0.contains("stopped state=") }, "\(outcome.errors)")
        // wait: the stall of 15 s starts after `began`; a slow machine only adds to it
        #expect(ContinuousClock.now - began >= .seconds(15), "the appliance did not wait for the sync")
        let list = try appliance.run("list", "--json").output
        #expect(list.contains(#""stopReason":"shutdown""#), "\(list)")
        // At least half a second was captured during the stall.
        let length = try #require(
            list.firstRange(of: "\"duration\":").flatMap {
                Double(list[$0.upperBound...].prefix { $0 != "," && $0 != "}" })
            })
        #expect(length > 1.3, "\(list)")
        try expectVerified(appliance.run("verify"))
    }

    @Test("a forced exit reports that the recording's end may be lost, not that the recording is complete")
    func forcedExit() throws {
        let process = try Fieldscribe(
            program: "env",
            try stalling(milliseconds: 600_000) + [
                try Fieldscribe.executable(), "record", "--audio-only", "--microphone", "tone:440", "--directory",
                folder.file("storage"),
            ], in: folder)
        try process.wait(until: "the fourth sync begins") {
            try access(folder.file("state"), F_OK) == 0 && delayedCalls() > 0
        }
        // Two signals within half a second count as one.
        try waitUntil("the command gives up", every: .seconds(1)) {
            guard process.isRunning else { return true }
            kill(process.id, SIGINT)
            return false
        }
        let outcome = try process.wait()
        #expect(outcome.status == 130)
        #expect(outcome.errors.contains { $0.contains("its end may be lost") }, "\(outcome.errors)")
    }

    @Test("an appliance that stops although the disk stalls logs that the recording that was just starting is lost")
    func lostOpening() throws {
        let appliance = try ApplianceProcess(
            in: folder, microphone: "tone:440",
            environment: try stalling("/journal.jsonl", at: 1, milliseconds: 600_000))
        try appliance.press()
        try appliance.process.wait(until: "the journal's sync begins") { try delayedCalls() > 0 }
        let outcome = try appliance.stop()
        #expect(outcome.status == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains { $0.contains("fault code=failed") && $0.contains("just starting is lost") })
        #expect(outcome.errors.last?.contains("stopped state=lost") == true, "\(outcome.errors)")
    }

    @Test("until the archive stores that a recording has ended, list shows \"stopping\" and verify finds no fault")
    func listedAsStopping() throws {
        // The stop is written to the history before it is written to the database.
        let appliance = try ApplianceProcess(
            in: folder, microphone: "tone:440",
            environment: try stalling("/history.jsonl", at: 1, milliseconds: 600_000))
        #expect(try appliance.run("start").output == "recording 1\n")
        try appliance.waitForSound(seconds: 0.5)
        #expect(try appliance.run("stop").output == "stopped 1\n")
        try appliance.process.wait(until: "the history's sync begins") { try delayedCalls() > 0 }
        let verified = try appliance.run("verify")
        expectVerified(verified)
        #expect(verified.output.contains("recording 1 is being recorded"), "\(verified.output)")
        #expect(try appliance.run("list").output.contains(/00:0\d    stopping/))
        #expect(try appliance.run("delete", "1", "--yes").status == 1)
    }

    /// Returns environment variables that delay one sync of a file, by default the fourth sync of a recording's audio.
    private func stalling(_ file: String = "/audio.wav", at ordinal: Int = 4, milliseconds: Int) throws -> [String] {
        let storage = folder.file("storage")
        mkdir(storage, 0o700)
        let executable = try Fieldscribe.executable()
        let library = executable.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/libFaultShim.so"
        try #require(access(library, R_OK) == 0, "\(library) is missing; run swift build")
        return [
            "LD_PRELOAD=\(library)", "FAULT_UNDER=\(storage)", "FAULT_FILE=\(file)", "FAULT_CALL=fdatasync",
            "FAULT_AT=\(ordinal)", "FAULT_ERROR=HANG", "FAULT_STALL=\(milliseconds)",
            "FAULT_STATE=\(folder.file("state"))",
        ]
    }

    /// Returns the number of delayed calls so far, from a file in the layout of `struct fault_state`.
    private func delayedCalls() throws -> UInt64 {
        let bytes = try Data(contentsOf: URL(filePath: folder.file("state")))
        // The file is still empty when the library has just created it.
        guard bytes.count >= 17 * 8 else { return 0 }
        return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16 * 8, as: UInt64.self) }
    }
}
