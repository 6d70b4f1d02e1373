import FoundationEssentials
import Glibc
import Testing
import TestKit

/// A running appliance that seals its recordings, and sticks with keys.
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

    /// Starts an appliance and waits until it has recorded and sealed one recording.
    private func sealedRecorder() throws -> ApplianceProcess {
        let appliance = try ApplianceProcess(
            in: folder, microphone: "file+fast:\(Speech.all[4])",
            settings: "[recognizer]\nsecond-pass = no\nworkers = 1\n[storage]\nseal = \(folder.file("key.pub"))")
        #expect(try appliance.run("start").status == 0)
        try waitForSealed(1, appliance)
        #expect(try appliance.run("search", "amiable").output == "")
        return appliance
    }

    /// Waits until `count` recordings are sealed.
    private func waitForSealed(_ count: Int, _ appliance: ApplianceProcess) throws {
        try appliance.process.wait(until: "\(count) sealed recordings", every: .milliseconds(100)) {
            try appliance.run("list").output.split(separator: "\n").count { $0.contains("  sealed") } >= count
        }
    }

    /// Plugs the stick in and returns the content of RESULT.txt.
    private func plug(into appliance: ApplianceProcess) throws -> String {
        _ = try appliance.run("export", "--stick", "--to", stick)
        return try Fieldscribe.text("\(stick)/Fieldscribe/RESULT.txt")
    }

    @Test("a sealed recording can be searched and shown until it is locked; nothing is copied to the key's stick")
    func opens() throws {
        let appliance = try sealedRecorder()
        try shell("cp '\(folder.file("key.txt"))' '\(key)'")
        let result = try plug(into: appliance)
        #expect(
            result.contains("recording 1 is open for an hour") && result.contains("NOTHING WAS COPIED"),
            "\(result)")
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(stick)/Fieldscribe").sorted()
        #expect(names == ["RESULT.txt", "key.txt"])
        #expect(try appliance.run("search", "amiable").output.contains("[amiable]"))
        #expect(try appliance.run("show", "1").output.contains("amiable"))
        #expect(try appliance.run("show", "1", "--format", "json").output.contains("\"amiable\""))
        let status = try appliance.run("status").output
        #expect(
            status.contains("open") && status.contains("for another 60 min, or until fieldscribe lock"), "\(status)")
        #expect(try appliance.run("status", "--json").output.contains("\"opened\":{\"recordings\":[1]"))
        try appliance.process.wait(until: "the lamp shows that a recording is open") {
            try appliance.lamp().contains { $0.shows == "open" }
        }
        #expect(try appliance.run("doctor").output.contains("a private key has opened 1 sealed recording"))
        #expect(try appliance.run("history", "1").output.contains("opened by a private key"))
        // A stick without the key gets the encrypted copy.
        let otherStick = folder.file("other")
        try FileManager.default.createDirectory(atPath: otherStick, withIntermediateDirectories: true)
        #expect(try appliance.run("export", "--stick", "--to", otherStick).output.contains("/000001.fieldscribe.age"))
        try shell("! grep -rail amiable '\(otherStick)' '\(appliance.storage)'")
        #expect(try appliance.run("lock").output == "locked\n")
        #expect(try appliance.run("lock").output == "nothing was open\n")
        #expect(try appliance.run("search", "amiable").output == "")
        let shown = try appliance.run("show", "1")
        #expect(shown.status == 1 && shown.errors.last?.contains("is sealed") == true)
        try expectVerified(appliance.run("verify"))
        let secret = try Fieldscribe.text(folder.file("key.txt")).split(separator: "\n").last.map(String.init) ?? ""
        let outcome = try appliance.stop()
        #expect(outcome.status == 0 && !outcome.errors.contains { $0.contains(secret) })
        try shell("! grep -rFl '\(secret)' '\(appliance.storage)'")
    }

    // wait: a time limit, because code that opened the pipe would hang
    @Test("an invalid or wrong key opens nothing and is reported in one line of RESULT.txt", .timeLimit(.minutes(60)))
    func refuses() throws {
        let appliance = try sealedRecorder()
        let cases: [(command: String, message: String, isKey: Bool)] = [
            ("cp '\(folder.file("other.txt"))' '\(key)'", "does not open the sealed recording", true),
            ("echo age-encryption.org/v1 > '\(key)'", "is protected by a passphrase", true),
            ("cp '\(folder.file("key.pub"))' '\(key)'", "contains a public key, which cannot decrypt", false),
            (
                "ln -s '\(folder.file("key.txt"))' '\(key)'",
                "nothing was opened; replace it with the file that age-keygen made", false
            ),
            ("mkfifo '\(key)'", "nothing was opened; replace it with the file that age-keygen made", false),
            ("mkdir '\(key)'", "nothing was opened; replace it with the file that age-keygen made", false),
            (
                "truncate -s 1G '\(key)'",
                "is too large for a private key (1073741824 bytes); nothing was opened; replace it with the file that age-keygen made",
                false
            ),
            (": > '\(key)'", "contains no private key", false),
        ]
        for (command, message, isKey) in cases {
            try shell("rm -rf '\(key)'; \(command)")
            let result = try plug(into: appliance)
            #expect(result.contains(message), "\(command): \(result)")
            #expect(result.contains("NOTHING WAS COPIED to this stick") == isKey, "\(command): \(result)")
            #expect(result.split(separator: "\n").count { $0.contains("key.txt: ") } == 1, "\(command): \(result)")
            #expect(try !appliance.run("status", "--json").output.contains("\"opened\""))
        }
        let status = try appliance.run("status").output
        #expect(status.contains("contains no private key"), "\(status)")
        #expect(try appliance.run("open", "--key", folder.file("other.txt")).status == 1)
        #expect(try appliance.run("open", "--key", folder.file("missing")).status == 3)
        #expect(try appliance.run("open", "--key", folder.file("key.txt")).status == 0)
        // After a restart the recording is locked.
        #expect(try appliance.stop().status == 0)
        let restarted = try ApplianceProcess(
            in: folder, microphone: "tone:440", settings: "[storage]\nseal = \(folder.file("key.pub"))")
        #expect(try !restarted.run("status", "--json").output.contains("\"opened\""))
        #expect(try restarted.run("search", "amiable").output == "")
        _ = try restarted.stop()
    }

    /// Decrypts a sealed recording with `age` and `tar`, and returns the folder with its files.
    private func unsealed(_ recording: Int, of appliance: ApplianceProcess) throws -> String {
        let target = folder.file("unsealed-\(recording)")
        let file = "\(appliance.storage)/recordings/00000\(recording)/sealed.age"
        try shell(
            "mkdir '\(target)' && cd '\(target)' && age -d -i '\(folder.file("key.txt"))' '\(file)' "
                + "| tar x --strip-components=1 && sha256sum --quiet --strict -c SHA256SUMS "
                + "&& sox audio.flac sound.raw && sox '\(Speech.all[4])' said.raw")
        return target
    }

    @Test("opening and locking do not disturb a running recording")
    func whileRecording() throws {
        try #expect(sealedRecorder().stop().status == 0)
        let appliance = try ApplianceProcess(
            in: folder, microphone: "file:\(Speech.all[4])",
            settings: "[recognizer]\nsecond-pass = no\nworkers = 1\n[storage]\nseal = \(folder.file("key.pub"))")
        try shell("cp '\(folder.file("key.txt"))' '\(key)'")
        #expect(try appliance.run("start").status == 0)
        // Opens with the stick, locks, and opens with the command, until all of the speech is recorded.
        let speechLength = try bytes(Speech.all[4]).count
        let audio = "\(appliance.storage)/recordings/000002/audio.wav"
        var rounds = 0
        while try rounds < 3 || bytes(audio).count < speechLength + 1_000 {
            #expect(try plug(into: appliance).contains("recording 1 is open for an hour"))
            #expect(try appliance.run("search", "amiable").output.contains("[amiable]"))
            #expect(try appliance.run("lock").output == "locked\n")
            #expect(try appliance.run("open", "--key", key).status == 0)
            rounds += 1
        }
        #expect(try appliance.run("stop").status == 0)
        try waitForSealed(2, appliance)
        let unsealedFolder = try unsealed(2, of: appliance)
        let (sound, speech) = (try bytes("\(unsealedFolder)/sound.raw"), try bytes("\(unsealedFolder)/said.raw"))
        #expect(!speech.isEmpty && sound.starts(with: speech), "\(sound.count) bytes of \(speech.count)")
        #expect(try !Fieldscribe.text("\(unsealedFolder)/transcript.txt").contains("gap"))
        try expectVerified(appliance.run("verify"))
        #expect(try appliance.stop().status == 0)
    }
}
