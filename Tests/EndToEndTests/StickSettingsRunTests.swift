import FoundationEssentials
import Glibc
import Testing
import TestKit

@Suite("Settings on a stick, with a running appliance") struct StickSettingsRunTests {
    private let folder = TemporaryFolder()

    @Test("apply once nothing is being recorded, and RESULT.txt reports them")
    func counted() throws {
        let appliance = try ApplianceProcess(in: folder, microphone: "tone:440", further: "[export]\nsettings = yes")
        let settings = folder.file("stick/Fieldscribe/settings")
        try FileManager.default.createDirectory(atPath: settings, withIntermediateDirectories: true)
        func export(_ text: String) throws -> String {
            try Data(text.utf8).write(to: URL(filePath: "\(settings)/fieldscribe.conf"))
            _ = try appliance.run("export", "--stick", "--to", folder.file("stick"))
            return try Fieldscribe.text(folder.file("stick/Fieldscribe/RESULT.txt"))
        }
        #expect(try appliance.run("start").status == 0)
        let taken = try export("[capture]\ndevice = alsa:hw:CARD=Nowhere\n")
        #expect(taken.contains("settings/fieldscribe.conf was accepted"), "\(taken)")
        // The running recording ends first.
        #expect(try appliance.run("status", "--json").output.contains(#""device":"tone:440""#))
        #expect(try appliance.run("stop").status == 0)
        let changed = #""device":"alsa:hw:CARD=Nowhere""#
        try appliance.status(has: changed)
        #expect(try appliance.run("list").output.contains("\n1  "))
        // The process is the same one.
        #expect(kill(appliance.process.id, 0) == 0)
        let refused = try export("[storage]\ndirectory = /tmp\n")
        #expect(
            refused.contains("WAS NOT ACCEPTED") && refused.contains("fieldscribe.conf:2: storage.directory: "),
            "\(refused)")
        #expect(try appliance.run("status", "--json").output.contains(changed))
        let ending = try appliance.end()
        #expect(ending.status == 0, "\(ending.errors)")
    }
}
