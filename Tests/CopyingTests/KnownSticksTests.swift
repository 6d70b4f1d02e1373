import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Copying
@testable import Core
@testable import System

@Suite("Plugged-in and known sticks") struct KnownSticksTests {
    private let folder = TemporaryFolder()

    private var path: String { folder.file(KnownSticks.fileName) }

    private func write(_ text: String, to name: String) throws {
        let above = folder.file(name).split(separator: "/").dropLast()
        try makeFolder("/" + above.joined(separator: "/"))
        try Data(text.utf8).write(to: URL(filePath: folder.file(name)))
    }

    /// A device in sysfs and in udev's database.
    private func plug(_ name: String, _ number: String, _ properties: [String: String]) throws {
        try write("\(number)\n", to: "class/\(name)/dev")
        let lines = ["S:disk/by-uuid/x", "I:1", "E:ID_FS_UUID_ENC_LIKE=no"] + properties.map { "E:\($0)=\($1)" }
        try write(lines.joined(separator: "\n") + "\n", to: "data/b\(number)")
    }

    private var plugged: PluggedSticks { PluggedSticks(devices: folder.file("class"), database: folder.file("data")) }

    private static let usb = ["ID_BUS": "usb", "ID_FS_USAGE": "filesystem", "ID_FS_TYPE": "vfat"]

    @Test("file system and device identify a stick, and only sticks are listed")
    func reported() throws {
        let sandisk = ["ID_FS_UUID_ENC": "1A2B-3C4D", "ID_SERIAL": "SanDisk_Ultra_4C53-0:0"]
        try plug("sdb1", "8:17", Self.usb.merging(sandisk) { $1 })
        try plug("sda1", "8:1", ["ID_BUS": "ata", "ID_FS_USAGE": "filesystem", "ID_FS_TYPE": "ext4"])
        try plug("sdc1", "8:33", Self.usb.merging(["ID_FS_TYPE": "swap"]) { $1 })
        #expect(plugged.names() == ["sdb1"])
        let stick = try plugged.identity(of: "sdb1")
        #expect(stick == StickIdentity(volume: "1A2B-3C4D", device: "SanDisk_Ultra_4C53-0:0"))
        for (name, code) in [("sda1", DeviceError.Code.unsupported), ("sdx1", .missing), ("../data", .missing)] {
            #expect {
                _ = try plugged.identity(of: name)
            } throws: { error in
                (error as? DeviceError)?.code == code && (error as? DeviceError)?.subject == name
            }
        }
    }

    @Test(
        "a stick's identifiers cannot break the list",
        arguments: ["", "a b", "a\u{1}", "é", "#a", String(repeating: "x", count: 201)])
    func hostile(text: String) {
        #expect(StickIdentity(volume: text, device: "b") == nil && StickIdentity(volume: "b", device: text) == nil)
    }

    @Test("a block device of this machine is found in sysfs")
    func ofThisMachine() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: "/sys/class/block").filter { name in
            name.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber) }
        }
        guard let name = names.first else {
            print("➜ skipped: this machine has no block device")
            return
        }
        // None is an identifiable stick, but each must be found.
        do throws(DeviceError) { _ = try PluggedSticks().identity(of: name) } catch {
            #expect(error.code == .unsupported, "\(error.message)")
        }
        #expect(throws: DeviceError.self) { try PluggedSticks().identity(of: "no\(name)") }
    }

    @Test("a stick is known from allow to forget, even after the file is read again")
    func ledger() throws {
        let (one, two) = (
            StickIdentity(volume: "1A2B-3C4D", device: "A"), StickIdentity(volume: "1A2B-3C4D", device: "B")
        )
        let (first, second) = (try #require(one), try #require(two))
        #expect(try !KnownSticks(in: folder.path).contains(first))
        #expect(try KnownSticks.allow(first, by: .command, in: folder.path))
        #expect(try !KnownSticks.allow(first, by: .button, in: folder.path))
        var known = try KnownSticks(in: folder.path)
        // Another stick with a copy of the file system is not known.
        #expect(known.contains(first) && !known.contains(second))
        #expect(try KnownSticks.allow(second, by: .button, in: folder.path))
        known = try KnownSticks(in: folder.path)
        #expect(known.entries.map(\.stick) == [first, second] && known.entries.map(\.way) == [.command, .button])
        #expect(try KnownSticks.forget("C", in: folder.path).isEmpty)
        #expect(try KnownSticks.forget("B", in: folder.path) == [second])
        #expect(try KnownSticks.forget("1A2B-3C4D", in: folder.path) == [first])
        #expect(try KnownSticks(in: folder.path).entries.isEmpty)
    }

    @Test(
        "a damaged list makes every stick unknown and is not overwritten",
        arguments: [
            ("1A2B-3C4D A command", 1), ("# x\n1A2B-3C4D A\n", 2), ("1A2B-3C4D A command\n\n", 2),
            ("1A2B-3C4D A command more\n", 1), ("1A2B-3C4D A guess\n", 1), ("1A2B-3C4D  command\n", 1),
            ("1A2B-3C4D \u{1} command\n", 1), ("1A2B-3C4D A command\n\u{0}\u{0}\u{0}", 2),
        ])
    func damaged(text: String, line: Int) throws {
        try write(text, to: KnownSticks.fileName)
        let stick = try #require(StickIdentity(volume: "1A2B-3C4D", device: "A"))
        for attempt in [
            { _ = try KnownSticks(in: folder.path) },
            { _ = try KnownSticks.allow(stick, by: .command, in: folder.path) },
            { _ = try KnownSticks.forget("A", in: folder.path) },
        ] {
            #expect {
                try attempt()
            } throws: { error in
                (error as? DeviceError)?.code == .damaged && (error as? DeviceError)?.subject == "\(path):\(line)"
            }
        }
        #expect(try String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self) == text)
    }

    @Test("a link or FIFO instead of the list neither redirects nor blocks")
    func planted() throws {
        try write("1A2B-3C4D A command\n", to: "elsewhere")
        #expect(symlink("elsewhere", path) == 0)
        #expect(throws: DeviceError.self) { try KnownSticks(in: folder.path) }
        #expect(unlink(path) == 0 && mkfifo(path, 0o600) == 0)
        #expect(throws: DeviceError.self) { try KnownSticks(in: folder.path) }
    }

    @Test("concurrent calls of allow lose no stick")
    func together() async throws {
        let storage = folder.path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...20 {
                group.addTask {
                    guard let stick = StickIdentity(volume: "V\(number)", device: "D") else { return }
                    _ = try KnownSticks.allow(stick, by: .command, in: storage)
                }
            }
            try await group.waitForAll()
        }
        #expect(try KnownSticks(in: storage).entries.count == 20)
    }
}
