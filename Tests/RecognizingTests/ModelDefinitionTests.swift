import FoundationEssentials
import Testing

@testable import Core
@testable import Recognition

/// Tests with Debian's model definition: complete, truncated and damaged.
@Suite("The definition of an acoustic model") struct ModelDefinitionTests {
    private let bytes: [UInt8]

    init() throws {
        let model = PocketSphinxModel(folder: PocketSphinxModel.debian).acousticModel
        bytes = [UInt8](try Data(contentsOf: URL(filePath: "\(model)/mdef")))
    }

    @Test("without triphones, a definition has the same phones with three states each, and nothing else")
    func withoutTriphones() throws {
        let whole = try #require(ModelDefinition(bytes))
        #expect(whole.sounds.count == 42 && Set(whole.sounds).isSuperset(of: ["AA", "SIL", "ZH", "+NSN+"]))
        let small = try #require(whole.withoutTriphones)
        let again = try #require(ModelDefinition(small))
        #expect(again.sounds == whole.sounds)
        let states = 3 * whole.sounds.count
        let last = small.suffix(2 * states)
        let stateNumbers = stride(from: last.startIndex, to: last.endIndex, by: 2).map {
            Int(last[$0]) | Int(last[$0 + 1]) << 8
        }
        #expect(Set(stateNumbers) == Set(0..<states))
        #expect(again.withoutTriphones == small, "there is nothing left to remove")
    }

    @Test("a definition that is truncated or too long is rejected")
    func truncation() {
        var ends = Array(0..<2_000)
        ends += Array(stride(from: 2_000, to: bytes.count, by: 9_973))
        ends += [bytes.count - 2, bytes.count - 1]
        for end in ends { #expect(ModelDefinition(Array(bytes[..<end]))?.withoutTriphones == nil, "at \(end)") }
        #expect(ModelDefinition(bytes + [0])?.withoutTriphones == nil)
        #expect(ModelDefinition(Array("0.3\n42 n_base\n".utf8)) == nil, "a definition in text format")
    }

    @Test("numbers of any size are parsed safely or rejected")
    func extremeNumbers() throws {
        let start = 12 + 1_052
        let extremes: [UInt32] = [0, 1, 0x7F, 0xFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF]
        for field in 0..<10 {
            for extreme in extremes {
                var changedBytes = bytes
                for byte in 0..<4 {
                    changedBytes[start + 4 * field + byte] = UInt8(truncatingIfNeeded: extreme >> (8 * UInt32(byte)))
                }
                let definition = ModelDefinition(changedBytes)?.withoutTriphones
                #expect(definition.map { $0.count < bytes.count } ?? true)
            }
        }
        #expect(ModelDefinition(bytes)?.sounds.count == 42)
    }
}
