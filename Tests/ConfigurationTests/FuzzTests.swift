import Testing
import TestKit

@testable import Settings

@Suite("Malformed files") struct FuzzTests {
    /// The pieces of which files are made. Most of them pass the first check of a line.
    private static let pieces: [[UInt8]] =
        ["\n", "\n", "\r\n", "[", "]", "=", ":", ";", "#", " ", "\t", "\"", "[capture]\n", "[speech]\n", "[panel]\n"]
        .map { Array($0.utf8) } + ConfigurationKey.all.map { Array("\($0.name) = ".utf8) }
        + ConfigurationKey.all.map { Array("[\($0.section)]\n\($0.name)=\($0.value(in: Configuration()))\n".utf8) }
        + [[0xFF], [0], [0xEF, 0xBB, 0xBF], [0xC3], Array(repeating: 0x41, count: 250)]

    @Test("yield a configuration, or problems whose line numbers exist")
    func fuzz() throws {
        var generator = SeededGenerator()
        var acceptedCount = 0
        for _ in 0..<500 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...12, using: &generator) {
                bytes += Self.pieces.randomElement(using: &generator) ?? []
            }
            for _ in 0..<Int.random(in: 0...2, using: &generator) where !bytes.isEmpty {
                bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            let lineCount = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).count
            switch try parse(bytes) {
            case .success: acceptedCount += 1
            case .failure(let error):
                #expect(!error.problems.isEmpty)
                for problem in error.problems {
                    #expect((1...lineCount).contains(problem.line), "seed \(generator.seed): \(bytes)")
                    #expect(!problem.description.contains("\n"), "seed \(generator.seed): \(bytes)")
                }
            }
        }
        // Some files are accepted and some are refused.
        #expect(acceptedCount > 10 && acceptedCount < 490)
    }
}
