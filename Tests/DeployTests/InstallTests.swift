import Testing
import TestKit

@Suite("Installing and uninstalling") struct InstallTests {
    private let root = TemporaryFolder()

    private func install(_ options: String...) throws -> Tool {
        try Tool([Repository.file("deploy/install")] + options, environment: ["DESTDIR": root.path])
    }

    private func uninstall(_ options: String...) throws -> Tool {
        try Tool([Repository.file("deploy/uninstall")] + options, environment: ["DESTDIR": root.path])
    }

    /// All files in the root folder, with their modes, such as `755 usr/bin/fieldscribe`.
    private func files() throws -> [String] {
        try Tool("find", root.path, "-type", "f", "-printf", "%m %P\n").output.split(separator: "\n")
            .map(String.init).sorted()
    }

    private let allFiles = [
        "644 etc/fieldscribe/fieldscribe.conf", "644 usr/lib/systemd/system/fieldscribe-export@.service",
        "644 usr/lib/systemd/system/fieldscribe.service", "644 usr/lib/systemd/system/fieldscribe-drive.service",
        "644 usr/lib/systemd/system/fieldscribe-drive-copy.path",
        "644 usr/lib/systemd/system/fieldscribe-drive-copy.service", "644 usr/lib/sysusers.d/fieldscribe.conf",
        "644 usr/lib/tmpfiles.d/fieldscribe.conf", "644 usr/lib/udev/rules.d/60-fieldscribe.rules",
        "644 usr/lib/udev/rules.d/80-fieldscribe-stick.rules",
        "644 usr/share/bash-completion/completions/fieldscribe", "644 usr/share/man/man1/fieldscribe.1.gz",
        "644 usr/share/man/man5/fieldscribe.conf.5.gz", "644 usr/share/man/man8/fieldscribe.8.gz",
        "644 usr/share/polkit-1/rules.d/50-fieldscribe.rules", "755 usr/bin/fieldscribe",
        "755 usr/lib/fieldscribe/drive", "755 usr/lib/fieldscribe/stick",
    ].sorted()

    @Test("installing twice gives the same files, and keeps an existing configuration")
    func twice() throws {
        #expect(try install("--executable", "/bin/true").status == 0)
        #expect(try files() == allFiles)
        try write("[capture]\nrate = 48000\n", to: root.file("etc/fieldscribe/fieldscribe.conf"))
        let second = try install("--executable", "/bin/true")
        #expect(second.status == 0)
        #expect(second.errors.contains("kept: "))
        #expect(try files() == allFiles)
        #expect(try text(of: root.file("etc/fieldscribe/fieldscribe.conf")) == "[capture]\nrate = 48000\n")
    }

    @Test("uninstalling removes everything except recordings and configuration, and can be repeated")
    func removal() throws {
        #expect(try install("--executable", "/bin/true").status == 0)
        let recording = "var/lib/fieldscribe/recordings/000001/audio.wav"
        #expect(try Tool("install", "-D", "-m", "0640", "/dev/null", root.file(recording)).status == 0)
        for _ in 1...2 {
            let tool = try uninstall()
            #expect(tool.status == 0)
            #expect(tool.errors.contains("kept: the recordings"))
            #expect(try files() == ["640 \(recording)", "644 etc/fieldscribe/fieldscribe.conf"])
        }
        #expect(try uninstall("--configuration").status == 0)
        #expect(try files() == ["640 \(recording)"])
    }

    @Test("a missing executable and an unknown option are refused with a message")
    func refusals() throws {
        let missingExecutable = try install("--executable", "/no/such/program")
        #expect(missingExecutable.status == 3)
        #expect(missingExecutable.errors.contains("/no/such/program: is not an executable"))
        let unknownOption = try install("--prefix", "/opt")
        #expect(unknownOption.status == 2)
        #expect(unknownOption.errors.contains("--prefix: no such option"))
        #expect(try files() == [])
    }

    @Test(
        "scripts at former paths run the scripts at the new ones",
        arguments: [
            ("deploy/chaos", "Tests/Chaos/run"), ("deploy/test-appliance", "Tests/Appliance/run"),
            ("deploy/arm64/build", "Tests/Arm64/build"),
        ])
    func forwards(old: String, new: String) throws {
        let moved = try Tool(Repository.file(new), "--help")
        let forwarded = try Tool(Repository.file(old), "--help")
        #expect(moved.status == 0 && moved.output.contains(new))
        #expect(forwarded.status == 0 && forwarded.output == moved.output)
    }

    @Test(
        "shellcheck has no complaints about the scripts",
        arguments: [
            "deploy/install", "deploy/uninstall", "deploy/stick", "deploy/drive", "deploy/deb", "deploy/test",
            "deploy/demo", "deploy/docs", "deploy/model", "deploy/image", "deploy/chaos", "deploy/test-appliance",
            "deploy/arm64/build", "deploy/card/init", "deploy/card/card", "deploy/card/customize",
            "deploy/card/upgrade", "deploy/card/slot", "deploy/lib/files.sh", "deploy/lib/packages.sh",
            "deploy/lib/arm64.sh", "deploy/lib/deb.sh", "deploy/lib/debian.sh",
            "deploy/lib/dependencies.sh", "deploy/lib/model.sh",
            "deploy/lib/speakers.sh", "deploy/completion/fieldscribe.bash",
            "deploy/completion/fieldscribe-office.bash", "Tests/Appliance/run", "Tests/Appliance/guest/agent",
            "Tests/Appliance/guest/hardware", "Tests/Appliance/image/build", "Tests/Appliance/image/customize",
            "Tests/Appliance/image/init", "Tests/Arm64/build", "Tests/Arm64/emulation.sh", "Tests/Arm64/instructions",
            "Tests/Arm64/test", "Tests/Arm64/try-package", "Tests/Benchmark/slow-stick", "Tests/Chaos/run",
            "Tests/Fuzz/run", "Tests/check-api", "Tests/lib/pypi.sh", "Tests/lib/whisper.sh", "Tests/postgresql-of",
        ])
    func shellcheck(script: String) throws {
        let shell = script.hasSuffix(".bash") ? ["--shell=bash"] : []
        let tool = try Tool(
            ["env", "--chdir=\(Repository.path)", "shellcheck", "--external-sources"] + shell + [script])
        #expect(tool.output == "")
        #expect(tool.status == 0)
    }
}
