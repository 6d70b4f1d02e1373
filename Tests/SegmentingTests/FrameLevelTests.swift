import Testing

@testable import Core

@Suite("Frame levels") struct FrameLevelTests {
    private func levels(_ samples: [Int16], blockSize: Int) -> [Double] {
        var meter = FrameLevels()
        var levels: [Double] = []
        for start in stride(from: 0, to: samples.count, by: blockSize) {
            Array(samples[start..<min(samples.count, start + blockSize)]).withUnsafeBufferPointer { samples in
                meter.append(samples) { levels.append($0) }
            }
        }
        return levels
    }

    @Test("a square wave at half of full scale is -6 dBFS", arguments: [1, 7, 320, 1_000])
    func squareWave(blockSize: Int) {
        let samples = (0..<3_200).map { Int16($0 % 2 == 0 ? 16_384 : -16_384) }
        let levels = levels(samples, blockSize: blockSize)
        #expect(levels.count == 10)
        #expect(levels.allSatisfy { abs($0 + 6.0206) < 0.001 })
    }

    @Test("a constant offset is silence")
    func offset() {
        #expect(levels([Int16](repeating: 12_345, count: 320), blockSize: 320) == [FrameLevels.silence])
    }

    @Test("full scale does not overflow")
    func fullScale() {
        let samples = (0..<320).map { $0 % 2 == 0 ? Int16.max : Int16.min }
        #expect(abs((levels(samples, blockSize: 64).first ?? -1) - 0) < 0.001)
    }
}
