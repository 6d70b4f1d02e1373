import Testing

@testable import Copying
@testable import Core

@Suite("Reading tar archives") struct TarTests {
    /// Returns a tar archive in the format of the program `tar`.
    private static func tar(_ members: [(name: String, content: [UInt8], kind: Character)]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (name, content, kind) in members {
            var header = [UInt8](repeating: 0, count: 512)
            func put(_ text: String, _ offset: Int) {
                header.replaceSubrange(offset..<offset + text.utf8.count, with: Array(text.utf8))
            }
            put(name, 0)
            let octal = String(content.count, radix: 8)
            put(String(repeating: "0", count: 11 - octal.count) + octal, 124)
            put("        ", 148)
            put(String(kind), 156)
            put("ustar", 257)
            let sum = String(header.reduce(0) { $0 + Int($1) }, radix: 8)
            put(String(repeating: "0", count: 6 - sum.count) + sum + "\0 ", 148)
            bytes += header + content + [UInt8](repeating: 0, count: (512 - content.count % 512) % 512)
        }
        return bytes + [UInt8](repeating: 0, count: 1_024)
    }

    private static func read(_ bytes: [UInt8], chunkLength: Int) throws -> (
        files: [(name: String, content: [UInt8])], isWhole: Bool
    ) {
        var tar = TarParser()
        var files: [(name: String, content: [UInt8])] = []
        var endCount = 0
        for start in stride(from: 0, to: bytes.count, by: chunkLength) {
            let chunk = Array(bytes[start..<min(bytes.count, start + chunkLength)])
            try chunk.withUnsafeBytes { chunk in
                try tar.parse(chunk) { event in
                    switch event {
                    case .file(let name, _): files.append((name, []))
                    case .bytes(let content): files[files.count - 1].content += content
                    case .end: endCount += 1
                    }
                }
            }
        }
        if tar.isWhole { #expect(endCount == files.count) }
        return (files, tar.isWhole)
    }

    @Test("returns the same result for chunks of any length", arguments: [1, 7, 511, 512, 513, 4_096, 1 << 20])
    func chunks(length: Int) throws {
        let long = (0..<2_000).map { UInt8(truncatingIfNeeded: $0) }
        let bytes = Self.tar([
            ("copy/", [], "5"), ("copy/a", Array("one".utf8), "0"), ("copy/none", [], "0"), ("copy/long", long, "0"),
            ("copy/x", Array("14 size=00003\n".utf8), "x"), ("copy/told", Array("abc".utf8), "0"),
        ])
        let (files, isWhole) = try Self.read(bytes, chunkLength: length)
        #expect(isWhole && files.map(\.name) == ["a", "none", "long", "told"])
        #expect(files.map(\.content) == [Array("one".utf8), [], long, Array("abc".utf8)])
    }

    @Test("a truncated archive is not complete")
    func truncated() throws {
        let bytes = Self.tar([("copy/a", Array("one".utf8), "0")])
        for length in [0, 100, 512, 514, 1_024] {
            #expect(try !Self.read(Array(bytes.prefix(length)), chunkLength: 512).isWhole)
        }
    }

    @Test(
        "refuses paths outside the folder, and entries that are not files",
        arguments: ["../a", "/etc/passwd", "a/../b", "copy/..", "copy/.", "copy/a/b", "a", "../..", "copy/"])
    func outside(name: String) throws {
        #expect(throws: DeviceError.self) { try Self.read(Self.tar([(name, [1], "0")]), chunkLength: 512) }
        #expect(throws: DeviceError.self) { try Self.read(Self.tar([("copy/a", [], "2")]), chunkLength: 512) }
        #expect(throws: DeviceError.self) { try Self.read([UInt8](repeating: 7, count: 512), chunkLength: 512) }
    }
}
