import Testing

@testable import Appliance
@testable import Core
@testable import Settings

extension DoctorTests {
    /// The facts of a Raspberry Pi 4 without problems.
    static func healthyFacts() -> DoctorFacts {
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
        facts.decoder = .success(DoctorFacts.Decoder(timesRealTime: 1.1, wasMeasuredOnSpeech: true))
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
    static let missingError = DeviceError(.missing, "open", on: "it", "not found", remedy: "plug one in")

    static let cases: [Case] = [
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
        Case("a voice model that can be loaded", .ok, .speakers, "with /voices, which loads without errors") {
            $0.speakers = .success("/voices")
        },
        Case("no voice model", .notice, .speakers, "the model is not there") {
            $0.speakers = .failure(DeviceError(.missing, "open", "the model is not there", remedy: "install it"))
        },
        Case("no voice model, and two microphones", .notice, .speakers, "only where one microphone is louder") {
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
        Case("a recorder that seals its recordings", .ok, .copies, "are encrypted for 1 public key") {
            $0.recorderSealing = .success(1)
        },
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
        Case("a board that can act as a USB drive", .ok, .drive, "the port fe980000.usb") {
            $0.drivePorts = .success(["fe980000.usb"])
        },
        Case("a board that cannot act as a USB drive", .missing, .drive, "no USB port of this board", exit: 3) {
            $0.drivePorts = .success([])
        },
        Case("no program that makes the drive's file system", .missing, .drive, "not found", exit: 3) {
            $0.drivePorts = .failure(missingError)
        },
        Case("a signing key", .ok, .copies, "public key is RWkey") { $0.signing = .success("RWkey") },
        Case("no signing key yet", .ok, .copies, "at the first start") { $0.signing = .success(nil) },
        Case("minisign is not installed", .notice, .copies, "not signed") { $0.signing = .failure(missingError) },
        Case("no copies on sticks", .ok, .copies, "not made on sticks (") { $0.configuration.export.sticks = .none },
        Case("age is not installed", .missing, .copies, "not found", exit: 3) { $0.sealing = .failure(missingError) },
        Case("invalid lines in the configuration", .failed, .configuration, "a.conf:3: bad", exit: 1) {
            $0.configurationProblems = ["a.conf:3: bad", "a.conf:4: worse"]
        },
        Case("an invalid microphone", .notice, .microphone, "not checked, because capture.device is wrong") {
            $0.invalidSettings = ["capture.device"]
            $0.sound = .failure(missingError)
        },
        Case("an invalid lamp", .notice, .lamp, "not checked, because panel.lamp is wrong") {
            $0.invalidSettings = ["panel.lamp"]
        },
        Case("an invalid engine", .notice, .model, "not checked, because recognizer.engine is wrong") {
            $0.invalidSettings = ["recognizer.engine", "speech.sensitivity"]
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
            $0.decoder = .success(DoctorFacts.Decoder(timesRealTime: 0.1, wasMeasuredOnSpeech: true))
        },
        Case("a measurement with synthetic sound", .ok, .decoder, "synthetic") {
            $0.decoder = .success(DoctorFacts.Decoder(timesRealTime: 1.1, wasMeasuredOnSpeech: false))
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
        Case("a user who is not in the groups", .failed, .permissions, "does not belong to: audio,gpio", exit: 1) {
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
}
