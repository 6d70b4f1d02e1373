import FoundationEssentials
import Glibc
import Testing
import TestKit

/// A machine without a hardware clock may have any time; its recordings must work like all others.
@Suite("A wrong clock") struct WrongClockTests {
    private func run(_ arguments: [String], at wall: Int64, in folder: TemporaryFolder) throws -> Fieldscribe.Outcome {
        let executable = try Fieldscribe.executable()
        let library = executable.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/libFaultShim.so"
        try #require(access(library, R_OK) == 0, "\(library) is built by swift build")
        let environment = ["LD_PRELOAD=\(library)", "FAULT_WALL=\(wall)"]
        return try Fieldscribe(program: "env", environment + [executable] + arguments, in: folder).wait()
    }

    // The year 2300, whose nanoseconds exceed Int64; the last second of 9999; a time beyond any calendar; 1901.
    @Test(
        "at any time, recordings can be made, listed, shown, checked, recovered and copied",
        arguments: [
            (10_413_792_000, "2300-01-01"), (253_402_300_799, "9999-12-31"), (Int64.max / 2, "9999-12-31"),
            (-2_177_452_800, "1970-01-01"),
        ])
    func everyCommand(wall: Int64, day: String) throws {
        let folder = TemporaryFolder()
        let archive = ["--directory", folder.file("archive")]
        let recorded = try run(
            ["record", "--audio-only", "--json", "--microphone", "file+fast:\(Speech.all[1])"] + archive, at: wall,
            in: folder)
        #expect(recorded.status == 0, "\(recorded.errors)")
        let commands = [
            ["list"], ["list", "--json"], ["show", "1"], ["show", "1", "--format", "json"],
            ["show", "1", "--format", "eaf"],
            ["search", "the"], ["verify"], ["recover"], ["export", "--to", folder.file("copy")],
        ]
        try FileManager.default.createDirectory(atPath: folder.file("copy"), withIntermediateDirectories: true)
        for command in commands {
            let outcome = try run(command + archive, at: wall, in: folder)
            // Nothing is transcribed yet, so a search finds nothing.
            let status: Int32 = command[0] == "search" ? 1 : 0
            #expect(outcome.status == status, "\(command): \(outcome.status) \(outcome.errors)")
        }
        let rows = try Fieldscribe.run("list", "--json", "--directory", folder.file("archive"), in: folder)
        #expect(rows.output.contains("\"start\":\"\(day)T"), "\(rows.output)")
    }
}
