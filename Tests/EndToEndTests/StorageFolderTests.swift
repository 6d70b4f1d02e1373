import FoundationEssentials
import Glibc
import Testing
import TestKit

@Suite("A renamed storage folder", .serialized) struct StorageFolderTests {
    private let folder = TemporaryFolder()

    @Test(
        "a running recording is completed in the renamed folder, with a fault; the next one uses the configured path",
        arguments: [false, true])
    func renamed(isReplaced: Bool) throws {
        let appliance = try ApplianceProcess(in: folder, microphone: "tone:440")
        let movedFolder = folder.file("moved")
        #expect(try appliance.run("start").status == 0)
        try appliance.waitForSound(seconds: 1)
        try Fieldscribe.tool("mv", appliance.storage, movedFolder, in: folder)
        if isReplaced {
            // Another archive, with the same recording numbers.
            let other = try Fieldscribe.run(
                "record", "--audio-only", "--seconds", "1", "--microphone", "tone+fast:600", "--directory",
                appliance.storage,
                in: folder)
            #expect(other.status == 0, "\(other.errors)")
        }
        try appliance.waitForStatus("was renamed, removed or covered by a mount while it was in use")
        #expect(try appliance.status().contains("is now "))
        try appliance.waitForSound(seconds: 1)
        #expect(try appliance.run("stop").status == 0)
        let deletion = try appliance.run("delete", "1", "--yes")
        let start = try appliance.run("start")
        if !isReplaced { #expect(access(appliance.storage, F_OK) != 0 || start.status == 0) }
        #expect(deletion.status != 0, "\(deletion.output)")
        // A start is refused until the appliance has restarted with the folder now at the configured path.
        try appliance.process.wait(until: "a recording") { try appliance.run("start").status == 0 }
        try appliance.waitForSound(seconds: 1)
        #expect(try appliance.run("stop").status == 0)
        #expect(try appliance.stop().status == 0)
        let nextRecording = isReplaced ? 2 : 1
        #expect(access("\(appliance.storage)/recordings/00000\(nextRecording)/audio.wav", F_OK) == 0)
        let verification = try appliance.run("verify")
        #expect(verification.status == 0, "\(verification.output)")
        let list = try appliance.run("list", "--json").output
        #expect(list.contains("\"id\":\(nextRecording)") && !list.contains("\"id\":\(nextRecording + 1)"), "\(list)")

        let movedVerification = try Fieldscribe.run("verify", "--directory", movedFolder, in: folder)
        #expect(movedVerification.status == 0, "\(movedVerification.output)")
        let movedList = try Fieldscribe.run("list", "--json", "--directory", movedFolder, in: folder).output
        #expect(movedList.contains(#""stopReason":"command""#), "\(movedList)")
        #expect(access("\(movedFolder)/recordings/000002", F_OK) != 0)
    }

    @Test("if the folder is renamed back before the next recording, it is used again")
    func back() throws {
        let appliance = try ApplianceProcess(in: folder, microphone: "tone:440")
        let movedFolder = folder.file("moved")
        #expect(try appliance.run("start").status == 0)
        try appliance.waitForSound(seconds: 1)
        try Fieldscribe.tool("mv", appliance.storage, movedFolder, in: folder)
        try appliance.waitForStatus("was renamed, removed or covered by a mount while it was in use")
        try Fieldscribe.tool("mv", movedFolder, appliance.storage, in: folder)
        #expect(try appliance.run("stop").status == 0)
        #expect(try appliance.run("start").status == 0)
        try appliance.waitForSound(seconds: 1)
        #expect(try appliance.run("stop").status == 0)
        #expect(try appliance.stop().status == 0)
        try expectVerified(appliance.run("verify"))
        #expect(access("\(appliance.storage)/recordings/000002/audio.wav", F_OK) == 0)
    }
}
