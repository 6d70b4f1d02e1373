import FoundationEssentials
import Glibc
import Testing
import TestKit

/// The real appliance, whose disk stalls: a preloaded library delays one call.
@Suite("A disk that stalls") struct StalledDiskTests {
    private let folder = TemporaryFolder()

    @Test("at the end delays the end, and all captured sound is in the closed recording")
    func isWaitedFor() throws {
        let began = ContinuousClock.now
        let appliance = try ApplianceProcess(
            in: folder, microphone: "tone:440", environment: try stalling(milliseconds: 15_000))
        #expect(try appliance.run("start").output == "recording 1\n")
        try appliance.process.wait(until: "the fourth sync begins, and does not end") { try raised() > 0 }
        try appliance.hear(seconds: 0.5)
        let ending = try appliance.end()
        #expect(ending.status == 0, "\(ending.errors)")
        #expect(!ending.errors.contains { $0.contains("stopped state=") }, "\(ending.errors)")
        // wait: the stall of 15 s starts after `began`; a slow machine only adds to it
        #expect(ContinuousClock.now - began >= .seconds(15), "it was not waited for")
        let list = try appliance.run("list", "--json").output
        #expect(list.contains(#""stopReason":"shutdown""#), "\(list)")
        // At least half a second was captured during the stall.
        let length = try #require(
            list.firstRange(of: "\"duration\":").flatMap {
                Double(list[$0.upperBound...].prefix { $0 != "," && $0 != "}" })
            })
        #expect(length > 1.3, "\(list)")
        try expectAllIsWell(appliance.run("verify"))
    }

    @Test("a forced end reports that the end may be lost, not that the recording is complete")
    func isNotWaitedFor() throws {
        let process = try Fieldscribe(
            program: "env",
            try stalling(milliseconds: 600_000) + [
                try Fieldscribe.executable(), "record", "--audio-only", "--microphone", "tone:440", "--directory",
                folder.file("storage"),
            ], in: folder)
        try process.wait(until: "the fourth sync begins") {
            try access(folder.file("state"), F_OK) == 0 && raised() > 0
        }
        // Two within half a second count as one.
        try waitUntil("it gives up", every: .seconds(1)) {
            guard process.isRunning else { return true }
            kill(process.id, SIGINT)
            return false
        }
        let ending = try process.wait()
        #expect(ending.status == 130)
        #expect(ending.errors.contains { $0.contains("its end may be lost") }, "\(ending.errors)")
    }

    @Test("after stop, until the archive has the recording's end, verify finds nothing wrong, and list says so")
    func isNotDamage() throws {
        // The end is in the history before it is in the database.
        let appliance = try ApplianceProcess(
            in: folder, microphone: "tone:440",
            environment: try stalling("/history.jsonl", at: 1, milliseconds: 600_000))
        #expect(try appliance.run("start").output == "recording 1\n")
        try appliance.hear(seconds: 0.5)
        #expect(try appliance.run("stop").output == "stopped 1\n")
        try appliance.process.wait(until: "the entry's sync begins, and does not end") { try raised() > 0 }
        let verified = try appliance.run("verify")
        expectAllIsWell(verified)
        #expect(verified.output.contains("recording 1 is being recorded"), "\(verified.output)")
        #expect(try appliance.run("list").output.contains(/00:0\d    stopping/))
        #expect(try appliance.run("delete", "1", "--yes").status == 1)
    }

    /// Variables that delay a sync of a file, by default the fourth one of a recording's audio.
    private func stalling(_ file: String = "/audio.wav", at number: Int = 4, milliseconds: Int) throws -> [String] {
        let storage = folder.file("storage")
        mkdir(storage, 0o700)
        let executable = try Fieldscribe.executable()
        let library = executable.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/libFaultShim.so"
        try #require(access(library, R_OK) == 0, "\(library) is built by swift build")
        return [
            "LD_PRELOAD=\(library)", "FAULT_UNDER=\(storage)", "FAULT_FILE=\(file)", "FAULT_CALL=fdatasync",
            "FAULT_AT=\(number)", "FAULT_ERROR=HANG", "FAULT_STALL=\(milliseconds)",
            "FAULT_STATE=\(folder.file("state"))",
        ]
    }

    /// The number of delayed calls so far, with the layout of `struct fault_state`.
    private func raised() throws -> UInt64 {
        let bytes = try Data(contentsOf: URL(filePath: folder.file("state")))
        // The file exists before it has its length.
        guard bytes.count >= 17 * 8 else { return 0 }
        return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16 * 8, as: UInt64.self) }
    }
}
