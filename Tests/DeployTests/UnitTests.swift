import Testing
import TestKit

@Suite("Units and rules") struct UnitTests {
    static let units = [
        "fieldscribe.service", "fieldscribe-export@.service", "fieldscribe-drive.service",
        "fieldscribe-drive-copy.service", "fieldscribe-drive-copy.path",
    ]

    /// Ten times the maximum exposure of each, by systemd-analyze.
    static let exposures = [
        ("fieldscribe.service", 7), ("fieldscribe-export@.service", 3), ("fieldscribe-drive-copy.service", 3),
        ("fieldscribe-drive.service", 8),
    ]

    @Test(
        "the sandbox leaves an exposure of at most 0.3 to 0.8, and each open point has a reason",
        arguments: exposures)
    func exposure(unit: String, most: Int) throws {
        let path = Repository.file("deploy/\(unit)")
        let tool = try Tool("systemd-analyze", "security", "--offline=true", "--threshold=\(most)", "--no-pager", path)
        #expect(tool.status == 0, "\(tool.output.split(separator: "\n").last ?? "")")
        let manual = try text(of: Repository.file("deploy/README.md")).split(separator: "\n")
        let left = tool.output.split(separator: "\n").filter { $0.hasPrefix("✗") }.compactMap {
            $0.dropFirst().split(separator: " ").first.map(String.init)
        }
        #expect(!left.isEmpty)
        for point in left {
            let row = manual.first { $0.hasPrefix("| `\(point)`") }
            let cells = row?.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") } ?? []
            #expect(cells.count == 5, "\(point) has no reason")
            let column = unit == "fieldscribe.service" ? 1 : unit == "fieldscribe-drive.service" ? 3 : 2
            #expect((cells.dropFirst(column).first ?? "-") != "-", "\(point) of \(unit) has no reason")
        }
    }

    /// The units of the card image, with ten times their exposure.
    static let cards = [
        ("fieldscribe-card.service", 20), ("fieldscribe-card-clock.service", 20),
        ("fieldscribe-card-console@.service", 20),
        ("fieldscribe-card-fault.service", 5), ("fieldscribe-card-lamp.service", 3),
        ("fieldscribe-card-save.service", 8),
        ("fieldscribe-card-trial.service", 20), ("fieldscribe-card-upgrade.service", 20),
    ]

    @Test("the sandboxes of a card's units leave an exposure of 2.0 at most", arguments: cards)
    func cardExposure(unit: String, most: Int) throws {
        let path = Repository.file("deploy/card/\(unit)")
        let tool = try Tool("systemd-analyze", "security", "--offline=true", "--threshold=\(most)", "--no-pager", path)
        #expect(tool.status == 0, "\(tool.output.split(separator: "\n").last ?? "")")
        // Each exemption has a reason.
        let lines = try text(of: path).split(separator: "\n").map(String.init)
        for setting in ["PrivateTmp", "ProcSubset", "ProtectSystem", "ProtectClock", "ProtectHostname", "ProtectHome"] {
            let isSet = lines.contains { $0.hasPrefix("\(setting)=") }
            #expect(isSet || lines.contains { $0.hasPrefix("#") && $0.contains("\(setting)=") }, "\(unit): \(setting)")
        }
    }

    @Test("all of the card's units are measured, and none runs without its sandbox")
    func cardUnits() throws {
        let found = try Tool("sh", "-c", "cd '\(Repository.file("deploy/card"))' && ls *.service").output
        #expect(found.split(separator: "\n").map(String.init) == Self.cards.map(\.0).sorted())
        for (unit, _) in Self.cards {
            let lines = try text(of: Repository.file("deploy/card/\(unit)")).split(separator: "\n")
            #expect(!lines.contains { $0.hasPrefix("Exec") && $0.contains("=+") }, "\(unit)")
        }
    }

    @Test("a unit without its sandbox fails")
    func exposureCanFail() throws {
        let folder = TemporaryFolder()
        let path = folder.file("fieldscribe.service")
        let unit = try text(of: Repository.file("deploy/fieldscribe.service")).split(separator: "\n")
        try write(unit.filter { !$0.hasPrefix("SystemCallFilter") }.joined(separator: "\n"), to: path)
        #expect(try Tool("systemd-analyze", "security", "--offline=true", "--threshold=8", path).status != 0)
    }

    @Test("systemd reads the units without a warning", arguments: units)
    func verify(unit: String) throws {
        let folder = TemporaryFolder()
        // Programs that are installed later are replaced by any program.
        for name in Self.units {
            let unitText = try text(of: Repository.file("deploy/\(name)"))
                .replacing("/usr/bin/fieldscribe", with: "/bin/true")
                .replacing("/usr/lib/fieldscribe/stick", with: "/bin/true")
                .replacing("/usr/lib/fieldscribe/drive", with: "/bin/true")
            try write(unitText, to: folder.file(name))
        }
        let tool = try Tool("systemd-analyze", "verify", "--man=no", folder.file(unit))
        #expect(tool.output + tool.errors == "")
        #expect(tool.status == 0)
    }

    @Test("has no network, restarts after every failure, and reports when it is ready")
    func promises() throws {
        let unit = try text(of: Repository.file("deploy/fieldscribe.service")).split(separator: "\n").map(String.init)
        #expect(unit.filter { $0.hasPrefix("RestrictAddressFamilies=") } == ["RestrictAddressFamilies=AF_UNIX"])
        for line in [
            "Type=notify", "Restart=always", "StartLimitIntervalSec=0", "PrivateNetwork=yes", "CapabilityBoundingSet=",
            "DeviceAllow=char-alsa rw", "DeviceAllow=char-gpiochip rw", "OOMPolicy=continue",
            // The sandbox hides the kernel's own file, without which no recording's date can be corrected.
            "Environment=FIELDSCRIBE_BOOT=%b",
        ] {
            #expect(unit.contains(line), "\(line) is gone")
        }
        // Without the machine's files in /proc, Debian's ONNX Runtime for arm64 does not load, and the free memory is unknown.
        #expect(!unit.contains { $0.hasPrefix("ProcSubset=") })
        // Restarted within 15 s after a hang.
        let watchdog = unit.first { $0.hasPrefix("WatchdogSec=") }?.split(separator: "=").last.flatMap { Int($0) }
        #expect(watchdog ?? 99 <= 10)
    }

    @Test("the copy's sandbox allows its steps to open the stick, and the copy to open files below its folder")
    func copyIsPossible() throws {
        let unit = try text(of: Repository.file("deploy/fieldscribe-export@.service")).split(separator: "\n")
        #expect(unit.contains("DeviceAllow=/dev/%i rw"))
        // The next command only sees mounts of process 1's namespace.
        let privileged = unit.filter { $0.contains("=+") }
        #expect(privileged.count == 4)
        #expect(
            privileged.allSatisfy { $0.contains("=+/usr/bin/nsenter --target 1 --mount /usr/lib/fieldscribe/stick ") })
    }

    @Test("the drive's units have no privileges: root's work is a separate step, which the others see")
    func driveIsPossible() throws {
        for (name, steps) in [
            ("fieldscribe-drive", ["prepare", "clear"]), ("fieldscribe-drive-copy", ["mount", "again", "unmount"]),
        ] {
            let unit = try text(of: Repository.file("deploy/\(name).service")).split(separator: "\n")
            #expect(unit.contains("User=fieldscribe") && unit.contains("CapabilityBoundingSet="))
            let privileged = unit.filter { $0.hasPrefix("Exec") && $0.contains("+") }
            #expect(
                privileged.map { $0.split(separator: "+")[1] }
                    == steps.map { "/usr/bin/nsenter --target 1 --mount /usr/lib/fieldscribe/drive \($0)" })
        }
        // A separate network namespace has its own /sys, without the gadget.
        let drive = try text(of: Repository.file("deploy/fieldscribe-drive.service")).split(separator: "\n")
        #expect(drive.contains("ReadWritePaths=-/sys/kernel/config") && !drive.contains("PrivateNetwork=yes"))
        #expect(drive.contains("Wants=fieldscribe-drive-copy.path"))
        for name in ["fieldscribe-drive-copy.service", "fieldscribe-drive-copy.path"] {
            let copy = try text(of: Repository.file("deploy/\(name)")).split(separator: "\n")
            #expect(copy.contains("BindsTo=fieldscribe-drive.service"))
        }
        // A change of usb.drive requires a restart of the recorder.
        let recorder = try text(of: Repository.file("deploy/fieldscribe.service")).split(separator: "\n")
        #expect(recorder.contains("Wants=fieldscribe-drive.service"))
    }

    @Test("the user is created, and is in the groups for sound and GPIO")
    func user() throws {
        let tool = try Tool("systemd-sysusers", "--dry-run", Repository.file("deploy/fieldscribe.sysusers"))
        #expect(tool.status == 0)
        #expect(!tool.errors.contains("ignoring") && !tool.errors.contains("Failed"), "\(tool.errors)")
        let lines = try text(of: Repository.file("deploy/fieldscribe.sysusers")).split(separator: "\n")
        #expect(lines.contains("m fieldscribe audio") && lines.contains("m fieldscribe gpio"))
    }

    @Test("the rules for folders are valid")
    func folders() throws {
        let root = TemporaryFolder()
        let rules = try text(of: Repository.file("deploy/fieldscribe.tmpfiles"))
        // An empty root has no such user, and only root could change a folder's owner.
        try write(rules.replacing("fieldscribe fieldscribe", with: "- -"), to: root.file("rules.conf"))
        let tool = try Tool("systemd-tmpfiles", "--create", "--root=\(root.path)", root.file("rules.conf"))
        #expect(tool.status == 0, "\(tool.errors)")
        for (path, mode) in [("var/lib/fieldscribe", "700"), ("run/fieldscribe-stick", "700")] {
            #expect(try Tool("stat", "--format=%a", root.file(path)).output == "\(mode)\n")
        }
    }

    @Test("the udev rules are valid", arguments: ["60-fieldscribe.rules", "80-fieldscribe-stick.rules"])
    func rules(name: String) throws {
        let path = Repository.file("udev/\(name)")
        let lines = try text(of: path).split(separator: "\n").filter { !$0.hasPrefix("#") }
        let token = #/^[A-Z]+(\{[^}]+\})?(==|!=|=|\+=|:=)"[^"]*"$/#
        for line in lines {
            for part in line.split(separator: ", ") {
                #expect(part.firstMatch(of: token) != nil, "\(part)")
            }
        }
        let jumps = Set(lines.compactMap { $0.firstMatch(of: #/GOTO="(\w+)"/#)?.1 })
        let labels = Set(lines.compactMap { $0.firstMatch(of: #/LABEL="(\w+)"/#)?.1 })
        #expect(jumps == labels)
        // systemd 254 added a checker; earlier versions only have the rules above. The package adds the group gpio.
        if try Tool("udevadm", "verify", "--help").status == 0 {
            let tool = try Tool("udevadm", "verify", "--no-summary", "--resolve-names=never", path)
            #expect(tool.status == 0, "\(tool.output)\(tool.errors)")
        }
    }
}
