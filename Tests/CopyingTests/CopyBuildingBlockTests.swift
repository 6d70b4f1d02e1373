import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Audio
@testable import Copying
@testable import Core
@testable import System

@Suite("Building blocks of a copy") struct CopyBuildingBlockTests {
    @Test("if udev has no links, its database identifies a stick; anything but a UUID is refused")
    func uuidFromDatabase() throws {
        let folder = TemporaryFolder()
        func identifier(_ text: String) throws -> String? {
            try durableReplace(path: folder.file("b8:17"), with: text)
            return uuid(ofDevice: 8 << 8 | 17, links: folder.file("none"), database: folder.path)
        }
        #expect(try identifier("S:disk/by-id/usb\nE:ID_FS_UUID=x\nE:ID_FS_UUID_ENC=1A2B-3C4D\n") == "1A2B-3C4D")
        #expect(try identifier("E:ID_FS_UUID_ENC=1A2B-3C4D") == "1A2B-3C4D")
        for text in ["", "E:ID_FS_UUID_ENC=\n", "E:ID_FS_UUID_ENC=../x\n", "E:ID_FS_UUID_ENC=a\\x2fb\n"] {
            #expect(try identifier(text) == nil)
        }
        #expect(uuid(ofDevice: 8 << 8 | 18, links: folder.file("none"), database: folder.path) == nil)
        // A minor number above 255.
        try durableReplace(path: folder.file("b259:300"), with: "E:ID_FS_UUID_ENC=far\n")
        let deviceNumber: UInt64 = 259 << 8 | 300 & 0xFF | (300 & ~0xFF) << 12
        #expect(uuid(ofDevice: deviceNumber, links: folder.file("none"), database: folder.path) == "far")
    }

    @Test(
        "reading back gives sha256sum's digest for any length and order of reads",
        arguments: [0, 1, 511, 4_096, 1_048_575, 1_048_576, 1_048_577, 3_500_001])
    func readBack(length: Int) throws {
        let folder = TemporaryFolder()
        var random = SeededGenerator(seed: UInt64(length))
        let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
        try Data(bytes).write(to: URL(filePath: folder.file("file")))
        let digest = String(shell("sha256sum < '\(folder.file("file"))'").output.prefix(64))
        let file = try ReadBack("file", in: Folder(opening: folder.path), shouldStop: { false })
        #expect(file.length == Int64(length))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 100_000, alignment: 1)
        defer { buffer.deallocate() }
        for offset in [length / 2, 0, max(0, length - 10), length / 3, length + 5] {
            let count = try file.read(into: buffer, at: Int64(offset))
            #expect(count == max(0, min(100_000, length - offset)))
            #expect(buffer.prefix(count).elementsEqual(bytes.dropFirst(offset).prefix(count)), "at \(offset)")
        }
        #expect(try file.finish() == digest)
        #expect(Digest.of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test("writes of any size and in any order give the expected file")
    func newFile() throws {
        let folder = TemporaryFolder()
        var random = SeededGenerator()
        let file = try NewFile("file", in: Folder(opening: folder.path), shouldStop: { false })
        var expected: [UInt8] = []
        for _ in 0..<400 {
            let appends = Bool.random(using: &random)
            let offset = appends ? expected.count : Int.random(in: 0...expected.count, using: &random)
            let count = [1, 40, 4_000, 300_000].randomElement(using: &random) ?? 1
            let bytes = [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: count)
            try bytes.withUnsafeBytes { try file.write($0, at: Int64(offset)) }
            if expected.count < offset + count {
                expected += [UInt8](repeating: 0, count: offset + count - expected.count)
            }
            expected.replaceSubrange(offset..<offset + count, with: bytes)
            #expect(file.length == Int64(expected.count))
            if expected.count > 4_000_000 { break }
        }
        try file.sync()
        #expect(try Data(contentsOf: URL(filePath: folder.file("file"))) == Data(expected))
    }

    @Test(
        "each peak is the loudest sample of its section, for any length and block size",
        arguments: [1, 7, 1_199, 1_200, 1_201, 50_000])
    func peaks(length: Int) {
        var random = SeededGenerator(seed: UInt64(length))
        let samples = (0..<length).map { _ in Int16.random(in: .min ... .max, using: &random) }
        var peaks = Peaks(length: Int64(length))
        var rest = samples[...]
        while !rest.isEmpty {
            let block = Array(rest.prefix(Int.random(in: 1...333, using: &random)))
            block.withUnsafeBufferPointer { peaks.add($0, channels: 1) }
            rest = rest.dropFirst(block.count)
        }
        let count = min(1_200, length)
        var expected = [UInt8](repeating: 0, count: count)
        for (index, sample) in samples.enumerated() {
            let section = index * count / length
            expected[section] = max(expected[section], UInt8(min(255, sample.magnitude >> 7)))
        }
        #expect(peaks.values == expected)
    }

    @Test(
        "names that are not single path components are refused", arguments: ["", ".", "..", "a/b", "/etc", "a\u{0}b"])
    func invalidNames(name: String) throws {
        let temporary = TemporaryFolder()
        let folder = try Folder(opening: temporary.path)
        for call in [
            { _ = try folder.open(name, O_RDONLY) }, { try folder.makeFolder(name) }, { try folder.remove(name) },
            { try folder.rename("x", toUnused: name) }, { try folder.rename(name, replacing: "x") },
            { try folder.removeFolder(name) }, { _ = try folder.exists(name) },
        ] as [() throws -> Void] { #expect(thrown(call)?.code == .failed) }
        withExtendedLifetime(temporary) {}
    }
}
