import Testing

@testable import Appliance
@testable import Core
@testable import Settings

@Suite("The doctor's findings") struct DoctorTests {
    @Test("a machine without problems has only findings with the status ok")
    func healthy() {
        let findings = Self.healthyFacts().findings
        #expect(findings.allSatisfy { $0.status == .ok && $0.remedy == nil }, "\(findings)")
        #expect(Set(findings.map(\.check)) == Set(DoctorFinding.Check.allCases))
        #expect(findings.exitStatus == 0)
    }

    @Test(
        "each finding has the expected status, and a remedy unless it is ok; the worst determines the exit status",
        arguments: cases)
    func remedies(_ expected: Case) throws {
        var facts = Self.healthyFacts()
        expected.change(&facts)
        let findings = facts.findings
        let found = try #require(
            findings.first {
                $0.check == expected.check && $0.status == expected.status && $0.message.contains(expected.excerpt)
            },
            "\(findings)")
        #expect((found.remedy == nil) == (expected.status == .ok))
        #expect(findings.exitStatus == expected.exitStatus)
        #expect(findings.allSatisfy { !$0.message.contains("\n") })
    }

    @Test("if copies cannot be encrypted, there are findings for sticks and for the recorder")
    func sealingFaults() {
        var facts = Self.healthyFacts()
        facts.configuration.export.sticks = .known
        facts.allowedSticks = .success(2)
        facts.sealing = .failure(Self.missingError)
        facts.recorderSealing = .failure(
            DeviceError(.unsupported, "age", on: "recorder.pub", "contains no public key", remedy: "write one per line")
        )
        let reported = facts.findings.filter { $0.check == .copies }.map(\.message)
        #expect(reported.contains { $0.contains("not found") }, "\(reported)")
        #expect(reported.contains { $0.contains("only on 2 allowed sticks") }, "\(reported)")
        #expect(reported.contains { $0.contains("recorder.pub: contains no public key") }, "\(reported)")
        #expect(facts.findings.exitStatus == 3)
    }

    @Test("each invalid line in the configuration is a finding")
    func configurationLines() {
        var facts = Self.healthyFacts()
        facts.configurationProblems = ["a.conf:3: bad", "a.conf:4: worse"]
        #expect(facts.findings.filter { $0.check == .configuration }.map(\.message) == facts.configurationProblems)
    }

    @Test("if the microphone is missing, the finding names the available ones")
    func availableMicrophones() {
        var facts = Self.healthyFacts()
        facts.sound = .failure(Self.missingError)
        facts.microphones = ["plughw:CARD=Mic,DEV=0 (USB Microphone)"]
        #expect(facts.findings.first { $0.check == .microphone }?.remedy?.contains("plughw:CARD=Mic") == true)
    }

    @Test(
        "the finding names the settings that the appliance uses for the board's memory, cores and speed",
        arguments: [
            ("Zero 2 W", 420, 4, 0.25, "1 worker, no second pass; transcription finishes after"),
            ("3 B", 900, 4, 0.15, "4 workers, no second pass; transcription finishes after"),
            ("3 B+", 900, 4, 0.5, "4 workers, a second pass; transcription keeps up"),
            ("4", 4_000, 4, 1.1, "4 workers, a second pass; transcription keeps up"),
            ("5", 8_000, 4, 2.6, "4 workers, a second pass; transcription keeps up"),
            ("one core", 8_000, 1, 3.0, "1 worker, a second pass; transcription keeps up"),
            ("tiny", 100, 4, 0.1, "1 worker, no second pass; transcription finishes after"),
        ])
    func profiles(name: String, megabytes: Int, cores: Int, speed: Double, excerpt: String) throws {
        var facts = Self.healthyFacts()
        facts.configuration.recognizer.workers = 0
        facts.board = DoctorFacts.Board(name: name, memoryMegabytes: megabytes, cores: cores)
        facts.decoder = .success(DoctorFacts.Decoder(timesRealTime: speed, wasMeasuredOnSpeech: true))
        let profile = facts.findings.first { $0.check == .profile }
        let finding = try #require(profile)
        #expect(finding.message.contains(excerpt), "\(finding.message)")
        // The default settings suit every board.
        #expect(finding.remedy == nil)
        facts.configuration.recognizer.secondPass = .yes
        let remedy = facts.findings.first { $0.check == .profile }?.remedy
        #expect(remedy == (excerpt.contains("no second") ? "in [recognizer], set second-pass = auto" : nil))
    }

    @Test("no second pass is announced if it would produce the same transcript")
    func unneededSecondPass() throws {
        var facts = Self.healthyFacts()
        facts.configuration.recognizer.engine = "moonshine"
        facts.board = DoctorFacts.Board(name: "5", memoryMegabytes: 8_000, cores: 4)
        facts.decoder = .success(DoctorFacts.Decoder(timesRealTime: 10, wasMeasuredOnSpeech: true))
        let finding = try #require(facts.findings.first { $0.check == .profile })
        #expect(
            finding.message.contains("4 workers, no second pass needed; transcription keeps up"), "\(finding.message)")
        facts.decoder = .success(DoctorFacts.Decoder(timesRealTime: 0.4, wasMeasuredOnSpeech: true))
        let slow = try #require(facts.findings.first { $0.check == .profile })
        #expect(slow.message.contains("4 workers, a second pass; transcription keeps up"), "\(slow.message)")
    }
}
