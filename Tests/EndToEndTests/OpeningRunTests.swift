import FoundationEssentials
import Glibc
import Testing
import TestKit

/// A running sealed recorder, and sticks with keys.
@Suite("A private key on a stick opens a sealed recorder", .serialized) struct OpeningRunTests {
    private let folder = TemporaryFolder()
    private let stick: String
    private let key: String

    init() throws {
        stick = folder.file("stick")
        key = "\(stick)/Fieldscribe/key.txt"
        try FileManager.default.createDirectory(atPath: "\(stick)/Fieldscribe", withIntermediateDirectories: true)
        for name in ["key", "other"] {
            try Fieldscribe.tool("age-keygen", "-o", folder.file("\(name).txt"), in: folder)
            try Fieldscribe.tool(
                "bash", "-c", "age-keygen -y '\(folder.file("\(name).txt"))' > '\(folder.file("\(name).pub"))'",
                in: folder)
        }
    }

    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    private func shell(_ command: String) throws { try Fieldscribe.tool("bash", "-c", command, in: folder) }

    /// Starts it, records and seals.
    private func sealed() throws -> ApplianceProcess {
        let appliance = try ApplianceProcess(
            in: folder, microphone: "file+fast:\(Speech.all[4])",
            further: "[recognizer]\nsecond-pass = no\nworkers = 1\n[storage]\nseal = \(folder.file("key.pub"))")
        #expect(try appliance.run("start").status == 0)
        try seals(1, appliance)
        #expect(try appliance.run("search", "amiable").output == "")
        return appliance
    }

    /// Waits until `count` recordings are sealed.
    private func seals(_ count: Int, _ appliance: ApplianceProcess) throws {
        try appliance.process.wait(until: "\(count) sealed recordings", every: .milliseconds(100)) {
            try appliance.run("list").output.split(separator: "\n").count { $0.contains("  sealed") } >= count
        }
    }

    /// Plugs the stick in; returns RESULT.txt.
    private func plug(into appliance: ApplianceProcess) throws -> String {
        _ = try appliance.run("export", "--stick", "--to", stick)
        return try Fieldscribe.text("\(stick)/Fieldscribe/RESULT.txt")
    }

    @Test("it can be searched and shown until it is locked; nothing is copied to the key's stick")
    func opens() throws {
        let appliance = try sealed()
        try shell("cp '\(folder.file("key.txt"))' '\(key)'")
        let reported = try plug(into: appliance)
        #expect(
            reported.contains("recording 1 is open for an hour") && reported.contains("NOTHING WAS COPIED"),
            "\(reported)")
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(stick)/Fieldscribe").sorted()
        #expect(names == ["RESULT.txt", "key.txt"])
        #expect(try appliance.run("search", "amiable").output.contains("[amiable]"))
        #expect(try appliance.run("show", "1").output.contains("amiable"))
        #expect(try appliance.run("show", "1", "--format", "json").output.contains("\"amiable\""))
        let status = try appliance.run("status").output
        #expect(status.contains("open") && status.contains("for 60 min more, or until fieldscribe lock"), "\(status)")
        #expect(try appliance.run("status", "--json").output.contains("\"opened\":{\"recordings\":[1]"))
        try appliance.process.wait(until: "the lamp shows it") { try appliance.lamp().contains { $0.shows == "open" } }
        #expect(try appliance.run("doctor").output.contains("a private key has opened 1 sealed recording"))
        #expect(try appliance.run("history", "1").output.contains("opened by a private key"))
        // Another stick gets the encrypted copy.
        let other = folder.file("other")
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        #expect(try appliance.run("export", "--stick", "--to", other).output.contains("/000001.fieldscribe.age"))
        try shell("! grep -rail amiable '\(other)' '\(appliance.storage)'")
        #expect(try appliance.run("lock").output == "locked\n")
        #expect(try appliance.run("lock").output == "nothing was open\n")
        #expect(try appliance.run("search", "amiable").output == "")
        let shown = try appliance.run("show", "1")
        #expect(shown.status == 1 && shown.errors.last?.contains("is sealed") == true)
        try expectAllIsWell(appliance.run("verify"))
        let secret = try Fieldscribe.text(folder.file("key.txt")).split(separator: "\n").last.map(String.init) ?? ""
        let ending = try appliance.end()
        #expect(ending.status == 0 && !ending.errors.contains { $0.contains(secret) })
        try shell("! grep -rFl '\(secret)' '\(appliance.storage)'")
    }

    // wait: a guard; code that opens the pipe hangs
    @Test("an invalid or different key yields one line in RESULT.txt, and opens nothing", .timeLimit(.minutes(60)))
    func refuses() throws {
        let appliance = try sealed()
        let cases: [(make: String, words: String, isKey: Bool)] = [
            ("cp '\(folder.file("other.txt"))' '\(key)'", "does not open the sealed recording", true),
            ("echo age-encryption.org/v1 > '\(key)'", "is protected by a passphrase", true),
            ("cp '\(folder.file("key.pub"))' '\(key)'", "holds a public key, which cannot decrypt", false),
            (
                "ln -s '\(folder.file("key.txt"))' '\(key)'",
                "nothing was opened; put the file there that age-keygen made", false
            ),
            ("mkfifo '\(key)'", "nothing was opened; put the file there that age-keygen made", false),
            ("mkdir '\(key)'", "nothing was opened; put the file there that age-keygen made", false),
            (
                "truncate -s 1G '\(key)'",
                "is too long for a private key (1073741824 bytes); nothing was opened; put the file there", false
            ),
            (": > '\(key)'", "holds no private key", false),
        ]
        for (make, words, isKey) in cases {
            try shell("rm -rf '\(key)'; \(make)")
            let reported = try plug(into: appliance)
            #expect(reported.contains(words), "\(make): \(reported)")
            #expect(reported.contains("NOTHING WAS COPIED to this stick") == isKey, "\(make): \(reported)")
            #expect(reported.split(separator: "\n").count { $0.contains("key.txt: ") } == 1, "\(make): \(reported)")
            #expect(try !appliance.run("status", "--json").output.contains("\"opened\""))
        }
        let fault = try appliance.run("status").output
        #expect(fault.contains("holds no private key"), "\(fault)")
        #expect(try appliance.run("open", "--key", folder.file("other.txt")).status == 1)
        #expect(try appliance.run("open", "--key", folder.file("missing")).status == 3)
        #expect(try appliance.run("open", "--key", folder.file("key.txt")).status == 0)
        // After a restart it is locked.
        #expect(try appliance.end().status == 0)
        let again = try ApplianceProcess(
            in: folder, microphone: "tone:440", further: "[storage]\nseal = \(folder.file("key.pub"))")
        #expect(try !again.run("status", "--json").output.contains("\"opened\""))
        #expect(try again.run("search", "amiable").output == "")
        _ = try again.end()
    }

    /// Opens a sealed recording with `age` and `tar`; returns the folder.
    private func unsealed(_ recording: Int, of appliance: ApplianceProcess) throws -> String {
        let target = folder.file("unsealed-\(recording)")
        let file = "\(appliance.storage)/recordings/00000\(recording)/sealed.age"
        try shell(
            "mkdir '\(target)' && cd '\(target)' && age -d -i '\(folder.file("key.txt"))' '\(file)' "
                + "| tar x --strip-components=1 && sha256sum --quiet --strict -c SHA256SUMS "
                + "&& sox audio.flac sound.raw && sox '\(Speech.all[4])' said.raw")
        return target
    }

    @Test("a recording in the meantime loses nothing, and begins immediately")
    func whileRecording() throws {
        try #expect(sealed().end().status == 0)
        let appliance = try ApplianceProcess(
            in: folder, microphone: "file:\(Speech.all[4])",
            further: "[recognizer]\nsecond-pass = no\nworkers = 1\n[storage]\nseal = \(folder.file("key.pub"))")
        try shell("cp '\(folder.file("key.txt"))' '\(key)'")
        #expect(try appliance.run("start").status == 0)
        // Opens, locks and opens again, by stick and by command, until the speech ends.
        let said = try bytes(Speech.all[4]).count
        let audio = "\(appliance.storage)/recordings/000002/audio.wav"
        var times = 0
        while try times < 3 || bytes(audio).count < said + 1_000 {
            #expect(try plug(into: appliance).contains("recording 1 is open for an hour"))
            #expect(try appliance.run("search", "amiable").output.contains("[amiable]"))
            #expect(try appliance.run("lock").output == "locked\n")
            #expect(try appliance.run("open", "--key", key).status == 0)
            times += 1
        }
        #expect(try appliance.run("stop").status == 0)
        try seals(2, appliance)
        let made = try unsealed(2, of: appliance)
        let (sound, speech) = (try bytes("\(made)/sound.raw"), try bytes("\(made)/said.raw"))
        #expect(!speech.isEmpty && sound.starts(with: speech), "\(sound.count) bytes of \(speech.count)")
        #expect(try !Fieldscribe.text("\(made)/transcript.txt").contains("gap"))
        try expectAllIsWell(appliance.run("verify"))
        #expect(try appliance.end().status == 0)
    }
}
