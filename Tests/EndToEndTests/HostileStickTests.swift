import FoundationEssentials
import Glibc
import TestKit
import Testing

/// Files on a stick that are made to do harm, while a recording goes on with little memory.
@Suite("A stick of hostile files") struct HostileStickTests {
    private let folder = TemporaryFolder()

    /// A name, its bytes, and what RESULT.txt says of it.
    private static let files: [(name: String, bytes: String, line: String)] = [
        (
            "corrections.json",
            #"{"format":"fieldscribe-corrections","version":1,"recording":{"id":1,"sound":"\#(String(repeating: "a", count: 64))"},"#
                + #""editor":{"name":"Ann","saved":1},"segments":[],"other":["#
                + String(repeating: "1,", count: 7_700_000) + "1]}",
            "corrections.json: recording 1 is still being written down"
        ),
        (
            "corrections (1).json", String(repeating: "[", count: 16_000_000),
            "corrections (1).json: is not whole, or no corrections of Fieldscribe's"
        ),
        (
            "corrections (2).html", String(repeating: "\u{301}", count: 8_000_000),
            "corrections (2).html: is not whole, or no corrections of Fieldscribe's"
        ),
    ]

    @Test("is answered line by line, and the recording is whole, with 400 MB of address space")
    func recording() throws {
        let appliance = try ApplianceProcess(
            in: folder, microphone: "tone:440", environment: ["prlimit", "--as=400000000"])
        #expect(try appliance.run("start").status == 0)
        let top = folder.file("stick/Fieldscribe")
        try FileManager.default.createDirectory(atPath: top, withIntermediateDirectories: true)
        for file in Self.files { try Data(file.bytes.utf8).write(to: URL(filePath: "\(top)/\(file.name)")) }
        try Data("{".utf8).write(to: URL(filePath: "\(top)/corrections\n.json"))
        let export = try appliance.run("export", "--stick", "--to", folder.file("stick"))
        let result = try Fieldscribe.text("\(top)/RESULT.txt")
        for file in Self.files {
            #expect(result.contains(file.line), "\(result)")
            // By the socket, too, as a person imports it.
            let name = folder.file(file.name)
            try Data(file.bytes.utf8).write(to: URL(filePath: name))
            let imported = try appliance.run("import", name)
            #expect(imported.status != 0 && imported.errors.count == 1, "\(imported.errors)")
            #expect(imported.errors.first?.contains(file.line) == true, "\(imported.errors)")
        }
        #expect(export.status == 0, "\(export.errors)")
        // A name of two lines is told in one.
        #expect(!export.errors.contains { $0.hasPrefix(".json") }, "\(export.errors)")
        #expect(kill(appliance.process.id, 0) == 0)
        #expect(try appliance.run("stop").status == 0)
        #expect(try appliance.run("verify").status == 0)
        let ending = try appliance.end()
        #expect(ending.status == 0 && !ending.errors.contains { $0.contains("fault") }, "\(ending.errors)")
    }
}
