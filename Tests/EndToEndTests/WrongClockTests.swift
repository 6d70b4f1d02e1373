import FoundationEssentials
import Glibc
import Testing
import TestKit

/// A machine without a clock may have any time; its recordings work like all others.
@Suite("A wrong clock") struct WrongClockTests {
    private func run(_ words: [String], at wall: Int64, in folder: TemporaryFolder) throws -> Fieldscribe.Ending {
        let executable = try Fieldscribe.executable()
        let library = executable.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/libFaultShim.so"
        try #require(access(library, R_OK) == 0, "\(library) is built by swift build")
        let environment = ["LD_PRELOAD=\(library)", "FAULT_WALL=\(wall)"]
        return try Fieldscribe(program: "env", environment + [executable] + words, in: folder).wait()
    }

    // The year 2300, when nanoseconds exceed 64 bits; the last second of 9999; beyond any calendar; 1901.
    @Test(
        "with any time, recordings are made, listed, shown, checked, recovered and copied",
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
            let ending = try run(command + archive, at: wall, in: folder)
            // Nothing is transcribed yet.
            let status: Int32 = command[0] == "search" ? 1 : 0
            #expect(ending.status == status, "\(command): \(ending.status) \(ending.errors)")
        }
        let rows = try Fieldscribe.run("list", "--json", "--directory", folder.file("archive"), in: folder)
        #expect(rows.output.contains("\"start\":\"\(day)T"), "\(rows.output)")
    }
}
