import Testing
import TestKit

@Suite("Upgrading from a card image on a stick") struct CardUpgradeTests {
    private let folder = TemporaryFolder()

    private static let newerVersion = "fieldscribe-image version=1.1 made=2000 mebibytes=100"

    /// Prepares the running system: version 1.0, made at the Unix time 1000. It accepts images that are signed
    /// with the key `ours`.
    init() throws {
        let upgrades = "run/fieldscribe-stick/Fieldscribe/upgrade"
        for name in [
            upgrades, "run/fieldscribe-card", "card/fieldscribe", "usr/lib/fieldscribe", "etc/fieldscribe", "bin",
        ] {
            #expect(try Tool("mkdir", "-p", folder.file(name)).status == 0)
        }
        #expect(try Tool("cp", Repository.file("deploy/card/slot"), folder.file("usr/lib/fieldscribe")).status == 0)
        try write("version=1.0\nmade=1000\nslot=a\ntrial=\ndisk=mmcblk0\n", to: folder.file("etc/fieldscribe/image"))
        // Replaces commands that would change this machine.
        for name in ["mount", "systemctl"] {
            _ = try folder.program("bin/\(name)", "echo \"$0 $*\" >>'\(folder.file("calls"))'")
        }
        for name in ["ours", "theirs"] {
            let key = try Tool(
                "minisign", "-G", "-W", "-s", folder.file("\(name).key"), "-p", folder.file("\(name).pub"))
            #expect(key.status == 0, "\(key.errors)")
        }
        let key = try text(of: folder.file("ours.pub")).split(separator: "\n")[1]
        try write("\(key)\n", to: folder.file("run/fieldscribe-card/upgrade-key"))
    }

    private func upgradeFile(_ name: String = "") -> String {
        folder.file("run/fieldscribe-stick/Fieldscribe/upgrade/\(name)")
    }

    private func sign(_ name: String, by key: String = "ours", _ comment: String = newerVersion) throws {
        let tool = try Tool("minisign", "-S", "-s", folder.file("\(key).key"), "-t", comment, "-m", upgradeFile(name))
        #expect(tool.status == 0, "\(tool.errors)")
    }

    private func runUpgrade() throws -> Tool {
        try Tool(
            "PATH=\(folder.file("bin")):/usr/sbin:/usr/bin:/sbin:/bin", "FIELDSCRIBE_ROOT=\(folder.path)", "sh",
            Repository.file("deploy/card/upgrade"), "take")
    }

    private func calls() -> String { (try? text(of: folder.file("calls"))) ?? "" }

    @Test("an image is copied to the card and checked there; macOS metadata files are ignored")
    func accepted() throws {
        // A stick without an upgrade is not a fault.
        #expect(try runUpgrade().status == 0)
        #expect(calls() == "")
        try write("the image", to: upgradeFile("new.img.xz"))
        try write("metadata", to: upgradeFile("._new.img.xz"))
        try sign("new.img.xz")
        let tool = try runUpgrade()
        #expect(tool.status == 0 && tool.errors.contains("its signature is valid"), "\(tool.errors)")
        #expect(try text(of: folder.file("card/upgrade/new.img.xz")) == "the image")
        #expect(try text(of: folder.file("card/upgrade/new.words")) == "2000 1.1 100\n")
        #expect(calls().contains("start --no-block fieldscribe-card-upgrade.service"))
        let result = try text(of: folder.file("run/fieldscribe-stick/Fieldscribe/RESULT.txt"))
        #expect(result.contains("new.img.xz is version 1.1"), "\(result)")
    }

    @Test(
        "an unsuitable image is refused with the reason",
        arguments: [
            ("unsigned", "has no signature"), ("theirs", "is not signed with the key"),
            ("older", "downgrades are rejected"),
            ("changed image", "is not signed with the key"), ("changed comment", "is not signed with the key"),
            ("not an image", "not as an image"),
            ("two images", "there are 2 upgrades"), ("no key", "has no upgrade-key"),
            ("refused before", "to try it again"),
            ("during a trial", "is being tried"),
        ])
    func refused(fault: String, reason: String) throws {
        try write("the image", to: upgradeFile("new.img.xz"))
        if fault != "unsigned" {
            let comments = [
                "older": "fieldscribe-image version=0.9 made=900 mebibytes=100", "not an image": "a letter, made=2000",
            ]
            try sign("new.img.xz", by: fault == "theirs" ? "theirs" : "ours", comments[fault] ?? Self.newerVersion)
        }
        switch fault {
        case "changed image": try write("the imagE", to: upgradeFile("new.img.xz"))
        case "changed comment":
            let signature = try text(of: upgradeFile("new.img.xz.minisig"))
            try write(signature.replacing("made=2000", with: "made=3000"), to: upgradeFile("new.img.xz.minisig"))
        case "two images": try write("another", to: upgradeFile("old.img.xz"))
        case "no key": #expect(try Tool("rm", folder.file("run/fieldscribe-card/upgrade-key")).status == 0)
        case "refused before":
            #expect(try Tool("mkdir", folder.file("card/upgrade")).status == 0)
            try write("2000 1.1 100\n", to: folder.file("card/upgrade/refused"))
        case "during a trial":
            try write("version=1.0\nmade=1000\nslot=b\ntrial=yes\n", to: folder.file("etc/fieldscribe/image"))
        default: break
        }
        let tool = try runUpgrade()
        #expect(tool.status == 1 && tool.errors.contains(reason), "\(tool.errors)")
        #expect(tool.errors.hasPrefix("<3>upgrade: ") && tool.errors.contains("Version 1.0 stays"))
        let result = try text(of: folder.file("run/fieldscribe-stick/Fieldscribe/RESULT.txt"))
        #expect(result.contains(reason), "\(result)")
        #expect(!calls().contains("start --no-block"))
        #expect(try Tool("find", folder.file("card"), "-name", "new*").output == "", "files remain")
    }

    @Test("an image that is already installed is not a fault")
    func alreadyInstalled() throws {
        try write("the image", to: upgradeFile("new.img.xz"))
        try sign("new.img.xz", "fieldscribe-image version=1.0 made=1000 mebibytes=100")
        let tool = try runUpgrade()
        #expect(tool.status == 0 && tool.errors.contains("already has") && !calls().contains("start"), "\(tool.errors)")
    }

    @Test("links and pipes are not read, whatever their names")
    func linksAndPipes() throws {
        #expect(try Tool("ln", "-s", "/etc/passwd", upgradeFile("a.img.xz")).status == 0)
        #expect(try Tool("mkfifo", upgradeFile("b.img.xz")).status == 0)
        #expect(try runUpgrade().status == 0 && calls() == "")
        try write("the image", to: upgradeFile("new.img.xz"))
        #expect(try Tool("mkfifo", upgradeFile("new.img.xz.minisig")).status == 0)
        #expect(try runUpgrade().errors.contains("has no signature"))
    }

    @Test("slot.txt is always 160 bytes long and names the system, with and without a note")
    func slot() throws {
        let script = ". '\(Repository.file("deploy/card/slot"))'; slot_text"
        for arguments in ["a", "b", "b 'trial of b'", "a 'tried b'"] {
            let text = try Tool("sh", "-c", "\(script) \(arguments)").output
            #expect(text.utf8.count == 160 && text.contains("os_prefix=\(arguments.prefix(1))/\r\n"), "\(text)")
        }
    }
}
