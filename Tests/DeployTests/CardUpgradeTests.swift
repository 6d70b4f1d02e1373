import Testing
import TestKit

@Suite("A card image on a stick as an upgrade") struct CardUpgradeTests {
    private let folder = TemporaryFolder()

    private static let signed = "fieldscribe-image version=1.1 made=2000 mebibytes=100"

    /// The running system: version 1.0, built at second 1000, which accepts images signed by `ours`.
    init() throws {
        let upgrades = "run/fieldscribe-stick/Fieldscribe/upgrade"
        for name in [
            upgrades, "run/fieldscribe-card", "card/fieldscribe", "usr/lib/fieldscribe", "etc/fieldscribe", "bin",
        ] {
            #expect(try Tool("mkdir", "-p", folder.file(name)).status == 0)
        }
        #expect(try Tool("cp", Repository.file("deploy/card/slot"), folder.file("usr/lib/fieldscribe")).status == 0)
        try write("version=1.0\nmade=1000\nslot=a\ntrial=\ndisk=mmcblk0\n", to: folder.file("etc/fieldscribe/image"))
        // Replaces the commands that would change this machine.
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

    private func upgrade(_ name: String = "") -> String {
        folder.file("run/fieldscribe-stick/Fieldscribe/upgrade/\(name)")
    }

    private func sign(_ name: String, by key: String = "ours", _ words: String = signed) throws {
        let tool = try Tool("minisign", "-S", "-s", folder.file("\(key).key"), "-t", words, "-m", upgrade(name))
        #expect(tool.status == 0, "\(tool.errors)")
    }

    private func take() throws -> Tool {
        try Tool(
            "PATH=\(folder.file("bin")):/usr/sbin:/usr/bin:/sbin:/bin", "FIELDSCRIBE_ROOT=\(folder.path)", "sh",
            Repository.file("deploy/card/upgrade"), "take")
    }

    private func calls() -> String { (try? text(of: folder.file("calls"))) ?? "" }

    @Test("is copied to the card and checked there; a Mac's own files beside it are ignored")
    func accepted() throws {
        #expect(try take().status == 0, "a stick without an upgrade")
        #expect(calls() == "")
        try write("the image", to: upgrade("new.img.xz"))
        try write("a Mac", to: upgrade("._new.img.xz"))
        try sign("new.img.xz")
        let tool = try take()
        #expect(tool.status == 0 && tool.errors.contains("its signature is valid"), "\(tool.errors)")
        #expect(try text(of: folder.file("card/upgrade/new.img.xz")) == "the image")
        #expect(try text(of: folder.file("card/upgrade/new.words")) == "2000 1.1 100\n")
        #expect(calls().contains("start --no-block fieldscribe-card-upgrade.service"))
        let answer = try text(of: folder.file("run/fieldscribe-stick/Fieldscribe/RESULT.txt"))
        #expect(answer.contains("new.img.xz is version 1.1"), "\(answer)")
    }

    @Test(
        "is refused, with the reason",
        arguments: [
            ("unsigned", "has no signature"), ("theirs", "is not signed with the key"),
            ("older", "downgrades are rejected"),
            ("changed", "is not signed with the key"), ("words", "is not signed with the key"),
            ("other", "not as an image"),
            ("two", "there are 2 upgrades"), ("no key", "has no upgrade-key"), ("refused", "to try it again"),
            ("trial", "is being tried"),
        ])
    func refused(how: String, reason: String) throws {
        try write("the image", to: upgrade("new.img.xz"))
        if how != "unsigned" {
            let words = [
                "older": "fieldscribe-image version=0.9 made=900 mebibytes=100", "other": "a letter, made=2000",
            ]
            try sign("new.img.xz", by: how == "theirs" ? "theirs" : "ours", words[how] ?? Self.signed)
        }
        switch how {
        case "changed": try write("the imagE", to: upgrade("new.img.xz"))
        case "words":
            let signature = try text(of: upgrade("new.img.xz.minisig"))
            try write(signature.replacing("made=2000", with: "made=3000"), to: upgrade("new.img.xz.minisig"))
        case "two": try write("another", to: upgrade("old.img.xz"))
        case "no key": #expect(try Tool("rm", folder.file("run/fieldscribe-card/upgrade-key")).status == 0)
        case "refused":
            #expect(try Tool("mkdir", folder.file("card/upgrade")).status == 0)
            try write("2000 1.1 100\n", to: folder.file("card/upgrade/refused"))
        case "trial":
            try write("version=1.0\nmade=1000\nslot=b\ntrial=yes\n", to: folder.file("etc/fieldscribe/image"))
        default: break
        }
        let tool = try take()
        #expect(tool.status == 1 && tool.errors.contains(reason), "\(tool.errors)")
        #expect(tool.errors.hasPrefix("<3>upgrade: ") && tool.errors.contains("Version 1.0 stays"))
        let answer = try text(of: folder.file("run/fieldscribe-stick/Fieldscribe/RESULT.txt"))
        #expect(answer.contains(reason), "\(answer)")
        #expect(!calls().contains("start --no-block"))
        #expect(try Tool("find", folder.file("card"), "-name", "new*").output == "", "files remain")
    }

    @Test("that is already installed is not a fault")
    func same() throws {
        try write("the image", to: upgrade("new.img.xz"))
        try sign("new.img.xz", "fieldscribe-image version=1.0 made=1000 mebibytes=100")
        let tool = try take()
        #expect(tool.status == 0 && tool.errors.contains("already has") && !calls().contains("start"), "\(tool.errors)")
    }

    @Test("links and pipes of its name are not followed")
    func strange() throws {
        #expect(try Tool("ln", "-s", "/etc/passwd", upgrade("a.img.xz")).status == 0)
        #expect(try Tool("mkfifo", upgrade("b.img.xz")).status == 0)
        #expect(try take().status == 0 && calls() == "")
        try write("the image", to: upgrade("new.img.xz"))
        #expect(try Tool("mkfifo", upgrade("new.img.xz.minisig")).status == 0)
        #expect(try take().errors.contains("has no signature"))
    }

    @Test("slot.txt always has one length and fits a sector; it names a system's first start")
    func slot() throws {
        let script = ". '\(Repository.file("deploy/card/slot"))'; slot_text"
        for words in ["a", "b", "b 'trial of b'", "a 'tried b'"] {
            let text = try Tool("sh", "-c", "\(script) \(words)").output
            #expect(text.utf8.count == 160 && text.contains("os_prefix=\(words.prefix(1))/\r\n"), "\(text)")
        }
    }
}
