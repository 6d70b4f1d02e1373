import FoundationEssentials
import Glibc
import Testing
import TestKit

@Suite("A renamed storage folder", .serialized) struct StorageFolderTests {
    private let folder = TemporaryFolder()

    @Test(
        "the running recording ends complete in the renamed folder with a fault, and the next one is in the configured place",
        arguments: [false, true])
    func renamed(isReplaced: Bool) throws {
        let appliance = try ApplianceProcess(in: folder, microphone: "tone:440")
        let moved = folder.file("moved")
        #expect(try appliance.run("start").status == 0)
        try appliance.hear(seconds: 1)
        try Fieldscribe.tool("mv", appliance.storage, moved, in: folder)
        if isReplaced {
            // Another archive, with recordings of the same numbers.
            let other = try Fieldscribe.run(
                "record", "--audio-only", "--seconds", "1", "--microphone", "tone+fast:600", "--directory",
                appliance.storage,
                in: folder)
            #expect(other.status == 0, "\(other.errors)")
        }
        try appliance.status(has: "was renamed, removed or covered while it was in use")
        #expect(try appliance.status().contains("moved now"))
        try appliance.hear(seconds: 1)
        #expect(try appliance.run("stop").status == 0)
        let refused = try appliance.run("delete", "1", "--yes")
        let start = try appliance.run("start")
        if !isReplaced { #expect(access(appliance.storage, F_OK) != 0 || start.status == 0) }
        #expect(refused.status != 0, "\(refused.output)")
        // Refused, until the appliance restarts with the folder that now has the name.
        try appliance.process.wait(until: "a recording") { try appliance.run("start").status == 0 }
        try appliance.hear(seconds: 1)
        #expect(try appliance.run("stop").status == 0)
        #expect(try appliance.end().status == 0)
        let next = isReplaced ? 2 : 1
        #expect(access("\(appliance.storage)/recordings/00000\(next)/audio.wav", F_OK) == 0)
        let verified = try appliance.run("verify")
        #expect(verified.status == 0, "\(verified.output)")
        let list = try appliance.run("list", "--json").output
        #expect(list.contains("\"id\":\(next)") && !list.contains("\"id\":\(next + 1)"), "\(list)")

        let kept = try Fieldscribe.run("verify", "--directory", moved, in: folder)
        #expect(kept.status == 0, "\(kept.output)")
        let there = try Fieldscribe.run("list", "--json", "--directory", moved, in: folder).output
        #expect(there.contains(#""stopReason":"command""#), "\(there)")
        #expect(access("\(moved)/recordings/000002", F_OK) != 0)
    }

    @Test("a folder that regains its name in time is used as before")
    func back() throws {
        let appliance = try ApplianceProcess(in: folder, microphone: "tone:440")
        let moved = folder.file("moved")
        #expect(try appliance.run("start").status == 0)
        try appliance.hear(seconds: 1)
        try Fieldscribe.tool("mv", appliance.storage, moved, in: folder)
        try appliance.status(has: "was renamed, removed or covered while it was in use")
        try Fieldscribe.tool("mv", moved, appliance.storage, in: folder)
        #expect(try appliance.run("stop").status == 0)
        #expect(try appliance.run("start").status == 0)
        try appliance.hear(seconds: 1)
        #expect(try appliance.run("stop").status == 0)
        #expect(try appliance.end().status == 0)
        try expectAllIsWell(appliance.run("verify"))
        #expect(access("\(appliance.storage)/recordings/000002/audio.wav", F_OK) == 0)
    }
}
