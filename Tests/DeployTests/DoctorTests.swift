import FoundationEssentials
import Testing
import TestKit

@testable import Appliance
@testable import Core
@testable import Settings

@Suite("The doctor's findings") struct DoctorTests {
    /// The facts of a Raspberry Pi 4 without problems.
    private static func healthyFacts() -> DoctorFacts {
        var sound = DoctorFacts.Sound()
        sound.seconds = 2
        sound.rms = -48
        sound.peak = -21
        var permissions = DoctorFacts.Permissions(user: "fieldscribe")
        permissions.isServiceUser = true
        var board = DoctorFacts.Board(name: "Raspberry Pi 4 Model B", memoryMegabytes: 4_000, cores: 4)
        board.temperature = 51
        board.isUndervolted = false
        var configuration = Configuration()
        configuration.recognizer.workers = 4
        var facts = DoctorFacts(
            configuration: configuration, sound: .success(sound),
            button: DoctorFacts.Line(name: "gpio:GPIO17", isGpio: true),
            lamp: DoctorFacts.Line(name: "gpio:GPIO26", isGpio: true),
            disk: .success(
                DoctorFacts.Disk(
                    directory: "/var/lib/fieldscribe", freeBytes: 20e9,
                    syncSeconds: [Double](repeating: 0.02, count: 20))),
            permissions: permissions, isClockSynchronized: true, board: board)
        facts.appliance = .running
        facts.speakers = .success("/usr/share/fieldscribe/models/speakers")
        facts.sealing = .success(2)
        facts.drivePorts = .success(["fe980000.usb"])
        facts.decoder = .success(DoctorFacts.Decoder(timesRealTime: 1.1, isOnSpeech: true))
        return facts
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var status: DoctorFinding.Status
        var check: DoctorFinding.Check
        var excerpt: String
        var exitStatus: Int32
        var change: @Sendable (inout DoctorFacts) -> Void

        init(
            _ name: String, _ status: DoctorFinding.Status, _ check: DoctorFinding.Check, _ excerpt: String,
            exit exitStatus: Int32 = 0, change: @escaping @Sendable (inout DoctorFacts) -> Void
        ) {
            testDescription = name
            self.status = status
            self.check = check
            self.excerpt = excerpt
            self.exitStatus = exitStatus
            self.change = change
        }
    }

    private static func sound(_ change: (inout DoctorFacts.Sound) -> Void) -> Result<DoctorFacts.Sound, DeviceError> {
        var sound = DoctorFacts.Sound()
        sound.seconds = 2
        sound.rms = -48
        sound.peak = -21
        change(&sound)
        return .success(sound)
    }

    private static func disk(free: Double, sync: [Double]) -> Result<DoctorFacts.Disk, DeviceError> {
        .success(DoctorFacts.Disk(directory: "/d", freeBytes: free, syncSeconds: sync))
    }

    private static let busyError = DeviceError(.busy, "open", on: "it", "used by fieldscribe", remedy: "stop that")
    private static let missingError = DeviceError(.missing, "open", on: "it", "not found", remedy: "plug one in")

    private static let cases: [Case] = [
        Case("one channel instead of the requested two", .notice, .microphone, "it has one channel") {
            $0.configuration.capture.channels = 2
        },
        Case("two identical channels", .notice, .microphone, "both channels are the same") {
            $0.configuration.capture.channels = 2
            $0.sound = sound { sound in (sound.channels, sound.channelsIdentical) = (2, true) }
        },
        Case("a channel without a microphone", .notice, .microphone, "channel 2 delivers a constant value") {
            $0.configuration.capture.channels = 2
            $0.sound = sound { sound in (sound.channels, sound.stuckChannel) = (2, 2) }
        },
        Case("two microphones", .ok, .microphone, "two channels, level") {
            $0.configuration.capture.channels = 2
            $0.sound = sound { sound in sound.channels = 2 }
        },
        Case("a voice model that can be loaded", .ok, .speakers, "with /voices, which can be loaded") {
            $0.speakers = .success("/voices")
        },
        Case("no voice model", .notice, .speakers, "the model is not there") {
            $0.speakers = .failure(DeviceError(.missing, "open", "the model is not there", remedy: "install it"))
        },
        Case("no voice model, and two microphones", .notice, .speakers, "only where the two microphones differ") {
            $0.configuration.capture.channels = 2
            $0.sound = sound { sound in sound.channels = 2 }
            $0.speakers = .failure(DeviceError(.missing, "open", "the model is not there", remedy: "install it"))
        },
        Case("saved voices with sealing", .notice, .speakers, "before their speakers") {
            $0.configuration.speakers.remember = true
            $0.configuration.storage.seal = ["age1key"]
        },
        Case("copies that are not sealed", .notice, .copies, "anyone who plugs in a stick gets every recording") {
            $0.sealing = .success(0)
        },
        Case("copies for allowed sticks", .notice, .copies, "anyone who finds a stick can read") {
            $0.sealing = .success(0)
            $0.configuration.export.sticks = .known
        },
        Case("no allowed stick", .notice, .copies, "no stick is allowed, so nothing is copied") {
            $0.configuration.export.sticks = .known
            $0.allowedSticks = .success(0)
        },
        Case("allowed sticks", .ok, .copies, "only on 2 allowed sticks") {
            $0.configuration.export.sticks = .known
            $0.allowedSticks = .success(2)
        },
        Case("a missing list of allowed sticks", .missing, .copies, "not found", exit: 3) {
            $0.configuration.export.sticks = .known
            $0.allowedSticks = .failure(missingError)
        },
        Case("a sealed recorder", .ok, .copies, "are encrypted for 1 public key") { $0.recorderSealing = .success(1) },
        Case(
            "a damaged database beside sealed recordings", .notice, .copies,
            "damaged-1: a damaged database that was set aside"
        ) {
            $0.sealing = .success(1)
            $0.recorderSealing = .success(1)
            $0.damagedDatabases = ["/d/archive.sqlite.damaged-1"]
        },
        Case("an archive that others may read", .notice, .disk, "can read archive.sqlite, recordings") {
            var disk = DoctorFacts.Disk(directory: "/d", freeBytes: 1e10, syncSeconds: [0.01])
            disk.readable = ["archive.sqlite", "recordings"]
            $0.disk = .success(disk)
        },
        Case("a recorder that cannot seal", .missing, .copies, "not found", exit: 3) {
            $0.recorderSealing = .failure(missingError)
        },
        Case("a board that can be a drive", .ok, .drive, "the port fe980000.usb") {
            $0.drivePorts = .success(["fe980000.usb"])
        },
        Case("a board that cannot be a drive", .missing, .drive, "no USB port of this board", exit: 3) {
            $0.drivePorts = .success([])
        },
        Case("no program that makes the drive's file system", .missing, .drive, "not found", exit: 3) {
            $0.drivePorts = .failure(missingError)
        },
        Case("a signing key", .ok, .copies, "public key is RWkey") { $0.signing = .success("RWkey") },
        Case("no signing key yet", .ok, .copies, "at the first start") { $0.signing = .success(nil) },
        Case("no minisign", .notice, .copies, "not signed") { $0.signing = .failure(missingError) },
        Case("no copies on sticks", .ok, .copies, "not made on sticks (") { $0.configuration.export.sticks = .none },
        Case("no age", .missing, .copies, "not found", exit: 3) { $0.sealing = .failure(missingError) },
        Case("invalid lines in the configuration", .failed, .configuration, "a.conf:3: bad", exit: 1) {
            $0.configurationProblems = ["a.conf:3: bad", "a.conf:4: worse"]
        },
        Case("an invalid microphone", .notice, .microphone, "not checked, because capture.device is wrong") {
            $0.refusedSettings = ["capture.device"]
            $0.sound = .failure(missingError)
        },
        Case("an invalid lamp", .notice, .lamp, "not checked, because panel.lamp is wrong") {
            $0.refusedSettings = ["panel.lamp"]
        },
        Case("an invalid engine", .notice, .model, "not checked, because recognizer.engine is wrong") {
            $0.refusedSettings = ["recognizer.engine", "speech.sensitivity"]
            $0.modelError = missingError
            $0.decoder = nil
        },
        Case("a missing configuration file", .missing, .configuration, "it: not found", exit: 3) {
            $0.configurationError = missingError
        },
        Case("an appliance that is not running", .notice, .appliance, "not running") { $0.appliance = .stopped },
        Case("an appliance that the user may not query", .notice, .appliance, "may not query") {
            $0.appliance = .denied
        },
        Case("a microphone in use by the appliance", .ok, .microphone, "in use by the appliance") {
            $0.sound = .failure(busyError)
            $0.microphoneIsOurs = true
        },
        Case(
            "a microphone in use by another program while the appliance runs", .failed, .microphone, "used by", exit: 1
        ) {
            $0.sound = .failure(busyError)
        },
        Case("a microphone in use by another program", .failed, .microphone, "used by", exit: 1) {
            $0.sound = .failure(busyError)
            $0.appliance = .stopped
        },
        Case("an engine that the service may not run", .failed, .model, "the service's sandbox", exit: 1) {
            $0.configuration.recognizer.engine = "command:/opt/engine"
            $0.runnable = ["/usr/bin/fieldscribe", "/usr/lib", "/opt/eng"]
        },
        Case("no microphone", .missing, .microphone, "not found", exit: 3) { $0.sound = .failure(missingError) },
        Case("a microphone without samples", .failed, .microphone, "delivers no audio", exit: 1) {
            $0.sound = sound { $0.seconds = 0 }
        },
        Case("a muted microphone", .failed, .microphone, "a constant value", exit: 1) {
            $0.sound = sound { $0.isStuck = true }
        },
        Case("lost samples", .notice, .microphone, "480 samples were lost") { $0.sound = sound { $0.lost = 480 } },
        Case("channels that cancel each other", .notice, .microphone, "its channels cancel each other") {
            $0.sound = sound { $0.channelsCancel = true }
        },
        Case("clipping", .notice, .microphone, "clips") { $0.sound = sound { $0.clipped = 0.01 } },
        Case("an almost silent microphone", .notice, .microphone, "almost silent") {
            $0.sound = sound { $0.peak = -75 }
        },
        Case("a GPIO line in use by the appliance", .ok, .button, "in use by the appliance") {
            $0.button.error = busyError
            $0.button.isOurs = true
        },
        Case("a GPIO line in use by another program while the appliance runs", .failed, .button, "used by", exit: 1) {
            $0.button.error = busyError
        },
        Case("a GPIO line in use by another program", .failed, .lamp, "used by fieldscribe", exit: 1) {
            $0.lamp.error = busyError
            $0.appliance = .stopped
        },
        Case("a GPIO line that does not exist", .missing, .button, "not found", exit: 3) {
            $0.button.error = missingError
        },
        Case("a model that lacks a file", .missing, .model, "not found", exit: 3) {
            $0.modelError = missingError
            $0.decoder = nil
        },
        Case("a model that cannot be loaded", .failed, .model, "bad", exit: 1) {
            $0.decoder = .failure(DeviceError(.damaged, "ps_init", "bad", remedy: "install it again"))
        },
        Case("a slow board", .notice, .decoder, "too slow to keep up") {
            $0.decoder = .success(DoctorFacts.Decoder(timesRealTime: 0.1, isOnSpeech: true))
        },
        Case("a measurement with synthetic sound", .ok, .decoder, "synthetic") {
            $0.decoder = .success(DoctorFacts.Decoder(timesRealTime: 1.1, isOnSpeech: false))
        },
        Case("a full disk", .failed, .disk, "200 MB are free", exit: 1) { $0.disk = disk(free: 200e6, sync: [0.01]) },
        Case("a disk with space for one hour", .notice, .disk, "space for 1.0 hours") {
            $0.disk = disk(free: 256e6 + 115.2e6, sync: [0.01])
        },
        Case("a card that stalls", .notice, .disk, "10.0 ms (median), 3000.0 ms (worst)") {
            $0.disk = disk(free: 20e9, sync: [0.01, 0.01, 3])
        },
        Case("a card that is slower than real time", .failed, .disk, "slower than real time", exit: 1) {
            $0.disk = disk(free: 20e9, sync: [1.2, 1.3, 1.1])
        },
        Case("a folder that belongs to another user", .failed, .disk, "denied", exit: 1) {
            $0.disk = .failure(DeviceError(.denied, "open", on: "/d", "denied", remedy: "ask"))
        },
        Case("a user who is not in the groups", .failed, .permissions, "not in the group audio,gpio", exit: 1) {
            $0.permissions.missingGroups = ["audio", "gpio"]
        },
        Case("a group that does not exist", .failed, .permissions, "the group gpio does not exist", exit: 1) {
            $0.permissions.unknownGroups = ["gpio"]
        },
        Case("no dedicated user", .notice, .permissions, "the user fieldscribe does not exist") {
            $0.permissions.isServiceUser = false
        },
        Case("a clock that is not set", .notice, .clock, "not synchronized") { $0.isClockSynchronized = false },
        Case("a weak power supply", .failed, .board, "too low", exit: 1) { $0.board.isUndervolted = true },
        Case("a hot board", .notice, .board, "82.5 degrees") { $0.board.temperature = 82.5 },
        Case("settings for another board", .notice, .profile, "4 workers") { $0.configuration.recognizer.workers = 1 },
    ]

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
        facts.decoder = .success(DoctorFacts.Decoder(timesRealTime: speed, isOnSpeech: true))
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
        facts.decoder = .success(DoctorFacts.Decoder(timesRealTime: 10, isOnSpeech: true))
        let finding = try #require(facts.findings.first { $0.check == .profile })
        #expect(
            finding.message.contains("4 workers, no second pass needed; transcription keeps up"), "\(finding.message)")
        facts.decoder = .success(DoctorFacts.Decoder(timesRealTime: 0.4, isOnSpeech: true))
        let slow = try #require(facts.findings.first { $0.check == .profile })
        #expect(slow.message.contains("4 workers, a second pass; transcription keeps up"), "\(slow.message)")
    }
}

@Suite("fieldscribe doctor") struct DoctorCommandTests {
    private struct Report: Decodable {
        struct Finding: Decodable {
            var check: String
            var status: String
            var message: String
            var remedy: String?
        }
        var findings: [Finding]
        var measurements: [String: Double]
        var exitStatus: Int32
    }

    private let folder = TemporaryFolder()

    private func examine(_ configuration: String) throws -> (status: Int32, report: Report) {
        let path = folder.file("fieldscribe.conf")
        try write("\(configuration)\n[storage]\ndirectory = \(folder.path)/archive\n", to: path)
        let tool = try Tool(Repository.executable(), "doctor", "--json", "--config", path)
        return (tool.status, try JSONDecoder().decode(Report.self, from: Data(tool.output.utf8)))
    }

    @Test("doctor measures a simulated microphone, the real model and the real disk, and leaves no files")
    func measures() throws {
        let (status, report) = try examine("[capture]\ndevice = tone:440\n[panel]\nbutton = sim:\nlamp = none")
        let problems = report.findings.filter { $0.status == "failed" || $0.status == "missing" }
        // The test machine may have these problems.
        #expect(problems.allSatisfy { ["permissions", "board", "disk"].contains($0.check) }, "\(problems)")
        #expect(status == report.exitStatus)
        // A sine wave with its peaks at -20 dBFS.
        #expect(abs((report.measurements["microphone.rms"] ?? 0) + 23.01) < 0.1)
        #expect(abs((report.measurements["microphone.peak"] ?? 0) + 20) < 0.1)
        #expect(report.measurements["decoder.timesRealTime"] ?? 0 > 0)
        #expect(report.measurements["disk.syncWorstSeconds"] ?? 0 > 0)
        #expect(try Tool("ls", "-A", folder.path).output == "fieldscribe.conf\n")
    }

    @Test("doctor continues after an invalid setting and missing devices, and exits with 3")
    func missing() throws {
        let (status, report) = try examine(
            "[capture]\nrate = 9\n[recognizer]\nmodel = /no/such/model\n[panel]\nbutton = gpio:NO_SUCH_LINE")
        #expect(status == 3)
        #expect(report.findings.contains { $0.check == "configuration" && $0.message.contains("fieldscribe.conf:2:") })
        #expect(report.findings.allSatisfy { ["ok", "notice"].contains($0.status) || $0.remedy != nil })
    }

    @Test("doctor names a missing model")
    func model() throws {
        let (status, report) = try examine("[recognizer]\nmodel = /no/such/model\n[panel]\nbutton = none\nlamp = none")
        #expect(status == 3)
        let finding = try #require(report.findings.first { $0.check == "model" })
        #expect(finding.status == "missing" && finding.message.contains("/no/such/model"))
    }

    @Test("the ports that can be a drive come from the kernel's list; a missing mkfs.vfat is reported")
    func drivePorts() throws {
        for name in ["bin", "sys/class/udc/fe980000.usb", "sys/class/udc/dummy_udc.0"] {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
        }
        let ports = { doctorDrivePorts(system: folder.file("sys"), programs: [folder.file("bin")]) }
        guard case .failure(let error) = ports() else {
            Issue.record("no error, although mkfs.vfat is missing")
            return
        }
        #expect(error.code == .missing && error.message.contains("apt install dosfstools"))
        #expect(
            FileManager.default.createFile(
                atPath: folder.file("bin/mkfs.vfat"), contents: nil, attributes: [.posixPermissions: 0o755]))
        #expect(try ports().get() == ["dummy_udc.0", "fe980000.usb"])
        #expect(try doctorDrivePorts(system: folder.file("none"), programs: [folder.file("bin")]).get() == [])
    }

    @Test("files in an archive that others may read are found, unless the mode of its folder prevents access")
    func readable() throws {
        let folder = TemporaryFolder()
        for (mode, name) in [("600", "archive.sqlite"), ("644", "history.jsonl"), ("640", "signing.pub")] {
            #expect(try Tool("install", "-m", mode, "/dev/null", folder.file(name)).status == 0)
        }
        #expect(try Tool("install", "-d", "-m", "750", folder.file("recordings")).status == 0)
        for (mode, expected) in [
            ("755", ["history.jsonl", "recordings"]), ("710", ["history.jsonl", "recordings"]), ("700", []),
        ] {
            #expect(try Tool("chmod", mode, folder.path).status == 0)
            #expect(doctorReadable(folder.path) == expected, "\(mode)")
        }
        #expect(doctorReadable(folder.file("none")) == [])
    }
}
