import Testing
import TestKit

@Suite("systemd units and udev rules") struct UnitTests {
    static let units = [
        "fieldscribe.service", "fieldscribe-export@.service", "fieldscribe-drive.service",
        "fieldscribe-drive-copy.service", "fieldscribe-drive-copy.path",
    ]

    /// The maximum exposure of each unit, in tenths of the score from `systemd-analyze security`.
    static let maximumExposures = [
        ("fieldscribe.service", 7), ("fieldscribe-export@.service", 3), ("fieldscribe-drive-copy.service", 3),
        ("fieldscribe-drive.service", 8),
    ]

    @Test(
        "no unit exceeds its maximum exposure, and deploy/README.md gives a reason for each remaining point",
        arguments: maximumExposures)
    func exposure(unit: String, maximum: Int) throws {
        let path = Repository.file("deploy/\(unit)")
        let tool = try Tool(
            "systemd-analyze", "security", "--offline=true", "--threshold=\(maximum)", "--no-pager", path)
        #expect(tool.status == 0, "\(tool.output.split(separator: "\n").last ?? "")")
        let instructions = try text(of: Repository.file("deploy/README.md")).split(separator: "\n")
        let remaining = tool.output.split(separator: "\n").filter { $0.hasPrefix("✗") }.compactMap {
            $0.dropFirst().split(separator: " ").first.map(String.init)
        }
        #expect(!remaining.isEmpty)
        for point in remaining {
            let row = instructions.first { $0.hasPrefix("| `\(point)`") }
            let cells = row?.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") } ?? []
            #expect(cells.count == 5, "\(point) has no reason")
            let column = unit == "fieldscribe.service" ? 1 : unit == "fieldscribe-drive.service" ? 3 : 2
            #expect((cells.dropFirst(column).first ?? "-") != "-", "\(point) in \(unit) has no reason")
        }
    }

    /// The maximum exposure of each unit on the card image, in tenths.
    static let cardExposures = [
        ("fieldscribe-card.service", 20), ("fieldscribe-card-clock.service", 20),
        ("fieldscribe-card-console@.service", 20),
        ("fieldscribe-card-fault.service", 5), ("fieldscribe-card-lamp.service", 3),
        ("fieldscribe-card-save.service", 8),
        ("fieldscribe-card-trial.service", 20), ("fieldscribe-card-upgrade.service", 20),
    ]

    @Test("the exposure of each unit on the card image is at most 2.0", arguments: cardExposures)
    func cardExposure(unit: String, maximum: Int) throws {
        let path = Repository.file("deploy/card/\(unit)")
        let tool = try Tool(
            "systemd-analyze", "security", "--offline=true", "--threshold=\(maximum)", "--no-pager", path)
        #expect(tool.status == 0, "\(tool.output.split(separator: "\n").last ?? "")")
        // A comment gives the reason for each setting that is missing.
        let lines = try text(of: path).split(separator: "\n").map(String.init)
        for setting in ["PrivateTmp", "ProcSubset", "ProtectSystem", "ProtectClock", "ProtectHostname", "ProtectHome"] {
            let isSet = lines.contains { $0.hasPrefix("\(setting)=") }
            #expect(isSet || lines.contains { $0.hasPrefix("#") && $0.contains("\(setting)=") }, "\(unit): \(setting)")
        }
    }

    @Test("the exposure of every card unit is tested, and no command runs outside the sandbox")
    func cardUnits() throws {
        let found = try Tool("sh", "-c", "cd '\(Repository.file("deploy/card"))' && ls *.service").output
        #expect(found.split(separator: "\n").map(String.init) == Self.cardExposures.map(\.0).sorted())
        for (unit, _) in Self.cardExposures {
            let lines = try text(of: Repository.file("deploy/card/\(unit)")).split(separator: "\n")
            #expect(!lines.contains { $0.hasPrefix("Exec") && $0.contains("=+") }, "\(unit)")
        }
    }

    @Test("the exposure test fails for a weaker sandbox")
    func exposureCanFail() throws {
        let folder = TemporaryFolder()
        let path = folder.file("fieldscribe.service")
        let unit = try text(of: Repository.file("deploy/fieldscribe.service")).split(separator: "\n")
        try write(unit.filter { !$0.hasPrefix("SystemCallFilter") }.joined(separator: "\n"), to: path)
        #expect(try Tool("systemd-analyze", "security", "--offline=true", "--threshold=8", path).status != 0)
    }

    @Test("systemd accepts the units without a warning", arguments: units)
    func verify(unit: String) throws {
        let folder = TemporaryFolder()
        // /bin/true replaces programs that are not installed.
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

    @Test("the service has no network, restarts after every failure, and reports when it is ready")
    func service() throws {
        let unit = try text(of: Repository.file("deploy/fieldscribe.service")).split(separator: "\n").map(String.init)
        #expect(unit.filter { $0.hasPrefix("RestrictAddressFamilies=") } == ["RestrictAddressFamilies=AF_UNIX"])
        for line in [
            "Type=notify", "Restart=always", "StartLimitIntervalSec=0", "PrivateNetwork=yes", "CapabilityBoundingSet=",
            "DeviceAllow=char-alsa rw", "DeviceAllow=char-gpiochip rw", "OOMPolicy=continue",
            // Replaces the kernel's boot_id, which the sandbox hides: the service needs it to correct dates.
            "Environment=FIELDSCRIBE_BOOT=%b",
        ] {
            #expect(unit.contains(line), "\(line) is missing")
        }
        // ProcSubset=pid hides files in /proc that Debian's ONNX Runtime for arm64 and the check of free memory need.
        #expect(!unit.contains { $0.hasPrefix("ProcSubset=") })
        // systemd restarts a service that hangs for this number of seconds.
        let watchdog = unit.first { $0.hasPrefix("WatchdogSec=") }?.split(separator: "=").last.flatMap { Int($0) }
        #expect(watchdog ?? 99 <= 10)
    }

    @Test("the export unit may open the stick, and its privileged steps run in the mount namespace of process 1")
    func copyIsPossible() throws {
        let unit = try text(of: Repository.file("deploy/fieldscribe-export@.service")).split(separator: "\n")
        #expect(unit.contains("DeviceAllow=/dev/%i rw"))
        // Later commands see only mounts that were made in the namespace of process 1.
        let privileged = unit.filter { $0.contains("=+") }
        #expect(privileged.count == 4)
        #expect(
            privileged.allSatisfy { $0.contains("=+/usr/bin/nsenter --target 1 --mount /usr/lib/fieldscribe/stick ") })
    }

    @Test("the drive's units have no privileges, except for steps that run as root")
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
        // In a separate network namespace, /sys does not show the gadget.
        let drive = try text(of: Repository.file("deploy/fieldscribe-drive.service")).split(separator: "\n")
        #expect(drive.contains("ReadWritePaths=-/sys/kernel/config") && !drive.contains("PrivateNetwork=yes"))
        #expect(drive.contains("Wants=fieldscribe-drive-copy.path"))
        for name in ["fieldscribe-drive-copy.service", "fieldscribe-drive-copy.path"] {
            let copy = try text(of: Repository.file("deploy/\(name)")).split(separator: "\n")
            #expect(copy.contains("BindsTo=fieldscribe-drive.service"))
        }
        // After a change to usb.drive, restarting the recorder also starts the drive.
        let recorder = try text(of: Repository.file("deploy/fieldscribe.service")).split(separator: "\n")
        #expect(recorder.contains("Wants=fieldscribe-drive.service"))
    }

    @Test("systemd-sysusers creates the user in the groups for sound and GPIO")
    func user() throws {
        let tool = try Tool("systemd-sysusers", "--dry-run", Repository.file("deploy/fieldscribe.sysusers"))
        #expect(tool.status == 0)
        #expect(!tool.errors.contains("ignoring") && !tool.errors.contains("Failed"), "\(tool.errors)")
        let lines = try text(of: Repository.file("deploy/fieldscribe.sysusers")).split(separator: "\n")
        #expect(lines.contains("m fieldscribe audio") && lines.contains("m fieldscribe gpio"))
    }

    @Test("systemd-tmpfiles creates the folders with the right modes")
    func folders() throws {
        let root = TemporaryFolder()
        let rules = try text(of: Repository.file("deploy/fieldscribe.tmpfiles"))
        // The empty root folder has no user fieldscribe, and only root could change owners.
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
        // Since systemd 254, udevadm can check rules. The group gpio may not exist on this machine.
        if try Tool("udevadm", "verify", "--help").status == 0 {
            let tool = try Tool("udevadm", "verify", "--no-summary", "--resolve-names=never", path)
            #expect(tool.status == 0, "\(tool.output)\(tool.errors)")
        }
    }
}
