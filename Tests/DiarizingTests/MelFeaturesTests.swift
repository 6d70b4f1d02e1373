import Glibc
import Testing

@testable import Core

/// The linear congruential generator of the C standard's example.
struct LinearCongruentialGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> Double {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31)
        return Double(state) / Double(1 << 31)
    }
}

@Suite("Mel features")
struct MelFeaturesTests {
    /// A quarter of a second of noise with a tone whose pitch rises.
    private static let samples: [Int16] = {
        var noise = LinearCongruentialGenerator(1)
        return (0..<4_000).map { index in
            let angle = 2 * Double.pi * (200 + Double(index) / 10) * Double(index) / 16_000
            return Int16(8_000 * sin(angle) + (noise.next() - 0.5) * 2_000)
        }
    }()

    /// The expected values are every eighth bin of a frame, from kaldi-native-fbank 1.23.0 with dither 0, 80 bins and
    /// samples from -1 to 1.
    @Test(
        "features equal those of Kaldi",
        arguments: [
            (0, [-9.1141, 1.7083, -5.1856, -4.9045, -2.5784, -4.1526, -2.2137, -1.4272, -1.508, 0.0942]),
            (11, [-9.5827, -7.384, -0.1699, -4.1036, -3.0475, -3.2126, -2.9635, -1.9697, -0.0862, -0.9451]),
            (22, [-10.4215, -7.7118, -6.6035, 0.0782, -3.1437, -3.0584, -2.2125, -1.6003, -0.2342, 0.3015]),
        ] as [(Int, [Double])])
    func kaldi(_ frame: Int, _ expected: [Double]) {
        let features = MelFeatures()(Self.samples)
        #expect(features.count == 23 * MelFeatures.bins)
        for (index, value) in expected.enumerated() {
            #expect(abs(Double(features[frame * MelFeatures.bins + 8 * index]) - value) < 0.002, "bin \(8 * index)")
        }
    }

    @Test("the features of digital silence are finite and minimal")
    func silence() {
        let features = MelFeatures()([Int16](repeating: 0, count: 800))
        #expect(features.count == 3 * MelFeatures.bins)
        #expect(features.allSatisfy { abs($0 + 15.942385) < 0.0001 })
    }

    @Test("audio that is shorter than a frame has no features", arguments: [0, 1, 399])
    func shortAudio(_ count: Int) { #expect(MelFeatures()([Int16](repeating: 1, count: count)).isEmpty) }

    @Test(
        "windows cover a region evenly, about half a second apart",
        arguments: [9, 10, 46, 148, 149, 172, 173, 197, 198, 222, 223, 300, 6_000])
    func windows(_ frames: Int) {
        let hop = Diarization.Settings().hop
        let windows = SpeechWindow.windows(frameCount: frames, hop: hop)
        guard frames >= 10 else {
            #expect(windows.isEmpty)
            return
        }
        #expect(windows.first?.frames.lowerBound == 0 && windows.last?.frames.upperBound == frames)
        #expect(
            windows.count == 1 ? windows[0].frames.count < 148 + hop / 2 : windows.allSatisfy { $0.frames.count == 148 }
        )
        let hops = zip(windows, windows.dropFirst()).map { $1.frames.lowerBound - $0.frames.lowerBound }
        #expect(hops.allSatisfy { hop / 2...hop * 3 / 2 ~= $0 } && (hops.max() ?? 0) - (hops.min() ?? 0) <= 1)
        // There are no more windows than needed.
        #expect(abs(windows.count - 1 - max(0, frames - 148) / hop) <= 1)
    }

    @Test("each bin of a window has zero mean, and a short window is extended for the network")
    func window() {
        let region = (0..<20 * MelFeatures.bins).map { Float($0 % 7) + Float($0 % MelFeatures.bins) }
        let window = SpeechWindow.windows(frameCount: 20, hop: 50)[0].features(of: region)
        #expect(window.count == 60 * MelFeatures.bins)
        for bin in 0..<MelFeatures.bins {
            let mean = stride(from: bin, to: window.count, by: MelFeatures.bins).reduce(0) { $0 + window[$1] }
            #expect(abs(mean) < 0.001)
        }
    }
}
