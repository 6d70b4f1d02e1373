import FoundationEssentials
import Glibc
import Testing
import TestKit

@Suite("Settings on a stick, with a running appliance") struct StickSettingsRunTests {
    private let folder = TemporaryFolder()

    @Test("settings take effect once no recording runs, and RESULT.txt reports them")
    func applied() throws {
        let appliance = try ApplianceProcess(in: folder, microphone: "tone:440", settings: "[export]\nsettings = yes")
        let settings = folder.file("stick/Fieldscribe/settings")
        try FileManager.default.createDirectory(atPath: settings, withIntermediateDirectories: true)
        func export(_ text: String) throws -> String {
            try Data(text.utf8).write(to: URL(filePath: "\(settings)/fieldscribe.conf"))
            _ = try appliance.run("export", "--stick", "--to", folder.file("stick"))
            return try Fieldscribe.text(folder.file("stick/Fieldscribe/RESULT.txt"))
        }
        #expect(try appliance.run("start").status == 0)
        let accepted = try export("[capture]\ndevice = alsa:hw:CARD=Nowhere\n")
        #expect(accepted.contains("settings/fieldscribe.conf was accepted"), "\(accepted)")
        // The settings do not apply while the recording runs.
        #expect(try appliance.run("status", "--json").output.contains(#""device":"tone:440""#))
        #expect(try appliance.run("stop").status == 0)
        let changed = #""device":"alsa:hw:CARD=Nowhere""#
        try appliance.waitForStatus(changed)
        #expect(try appliance.run("list").output.contains("\n1  "))
        // The process was not restarted.
        #expect(kill(appliance.process.id, 0) == 0)
        let refused = try export("[storage]\ndirectory = /tmp\n")
        #expect(
            refused.contains("WAS NOT ACCEPTED") && refused.contains("fieldscribe.conf:2: storage.directory: "),
            "\(refused)")
        #expect(try appliance.run("status", "--json").output.contains(changed))
        let outcome = try appliance.stop()
        #expect(outcome.status == 0, "\(outcome.errors)")
    }
}
