import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Copying
@testable import Core
@testable import System

@Suite("Plugged-in and allowed sticks") struct AllowedSticksTests {
    private let folder = TemporaryFolder()

    private var path: String { folder.file(AllowedSticks.fileName) }

    private func write(_ text: String, to name: String) throws {
        let parent = folder.file(name).split(separator: "/").dropLast()
        try makeFolder("/" + parent.joined(separator: "/"))
        try Data(text.utf8).write(to: URL(filePath: folder.file(name)))
    }

    /// Adds a device to sysfs and to udev's database.
    private func plug(_ name: String, _ number: String, _ properties: [String: String]) throws {
        try write("\(number)\n", to: "class/\(name)/dev")
        let lines = ["S:disk/by-uuid/x", "I:1", "E:ID_FS_UUID_ENC_LIKE=no"] + properties.map { "E:\($0)=\($1)" }
        try write(lines.joined(separator: "\n") + "\n", to: "data/b\(number)")
    }

    private var plugged: PluggedSticks { PluggedSticks(devices: folder.file("class"), database: folder.file("data")) }

    private static let usb = ["ID_BUS": "usb", "ID_FS_USAGE": "filesystem", "ID_FS_TYPE": "vfat"]

    @Test("file system and device identify a stick, and only sticks are listed")
    func listsSticks() throws {
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
    func invalidIdentifiers(text: String) {
        #expect(StickIdentity(volume: text, device: "b") == nil && StickIdentity(volume: "b", device: text) == nil)
    }

    @Test("a block device of this machine is found in sysfs")
    func realBlockDevice() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: "/sys/class/block").filter { name in
            name.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber) }
        }
        guard let name = names.first else {
            print("➜ skipped: this machine has no block device")
            return
        }
        // The device is found, although it may have no identifiers.
        do throws(DeviceError) { _ = try PluggedSticks().identity(of: name) } catch {
            #expect(error.code == .unsupported, "\(error.message)")
        }
        #expect(throws: DeviceError.self) { try PluggedSticks().identity(of: "no\(name)") }
    }

    @Test("a stick stays allowed until it is forgotten")
    func allowAndForget() throws {
        let (identityA, identityB) = (
            StickIdentity(volume: "1A2B-3C4D", device: "A"), StickIdentity(volume: "1A2B-3C4D", device: "B")
        )
        let (first, second) = (try #require(identityA), try #require(identityB))
        #expect(try !AllowedSticks(in: folder.path).contains(first))
        #expect(try AllowedSticks.allow(first, by: .command, in: folder.path))
        #expect(try !AllowedSticks.allow(first, by: .button, in: folder.path))
        var allowed = try AllowedSticks(in: folder.path)
        // Another stick with the same file system identifier is not allowed.
        #expect(allowed.contains(first) && !allowed.contains(second))
        #expect(try AllowedSticks.allow(second, by: .button, in: folder.path))
        allowed = try AllowedSticks(in: folder.path)
        #expect(allowed.entries.map(\.stick) == [first, second])
        #expect(allowed.entries.map(\.method) == [.command, .button])
        #expect(try AllowedSticks.forget("C", in: folder.path).isEmpty)
        #expect(try AllowedSticks.forget("B", in: folder.path) == [second])
        #expect(try AllowedSticks.forget("1A2B-3C4D", in: folder.path) == [first])
        #expect(try AllowedSticks(in: folder.path).entries.isEmpty)
    }

    @Test(
        "a damaged list allows no stick and is not overwritten",
        arguments: [
            ("1A2B-3C4D A command", 1), ("# x\n1A2B-3C4D A\n", 2), ("1A2B-3C4D A command\n\n", 2),
            ("1A2B-3C4D A command more\n", 1), ("1A2B-3C4D A guess\n", 1), ("1A2B-3C4D  command\n", 1),
            ("1A2B-3C4D \u{1} command\n", 1), ("1A2B-3C4D A command\n\u{0}\u{0}\u{0}", 2),
        ])
    func damagedList(text: String, line: Int) throws {
        try write(text, to: AllowedSticks.fileName)
        let stick = try #require(StickIdentity(volume: "1A2B-3C4D", device: "A"))
        for attempt in [
            { _ = try AllowedSticks(in: folder.path) },
            { _ = try AllowedSticks.allow(stick, by: .command, in: folder.path) },
            { _ = try AllowedSticks.forget("A", in: folder.path) },
        ] {
            #expect {
                try attempt()
            } throws: { error in
                (error as? DeviceError)?.code == .damaged && (error as? DeviceError)?.subject == "\(path):\(line)"
            }
        }
        #expect(try String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self) == text)
    }

    @Test("a link in place of the list is not followed, and a FIFO does not block")
    func linkOrFIFO() throws {
        try write("1A2B-3C4D A command\n", to: "elsewhere")
        #expect(symlink("elsewhere", path) == 0)
        #expect(throws: DeviceError.self) { try AllowedSticks(in: folder.path) }
        #expect(unlink(path) == 0 && mkfifo(path, 0o600) == 0)
        #expect(throws: DeviceError.self) { try AllowedSticks(in: folder.path) }
    }

    @Test("concurrent additions lose no stick")
    func concurrentAdditions() async throws {
        let storage = folder.path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 1...20 {
                group.addTask {
                    guard let stick = StickIdentity(volume: "V\(index)", device: "D") else { return }
                    _ = try AllowedSticks.allow(stick, by: .command, in: storage)
                }
            }
            try await group.waitForAll()
        }
        #expect(try AllowedSticks(in: storage).entries.count == 20)
    }
}
