import Core
import Glibc

/// Generates sounds without speech from a seed: silence, noise, tones, hum, clicks, plucked strings, melodies, sirens,
/// chirps and wind.
package struct NonSpeechSounds {
    package struct Piece: Sendable {
        package var name: String
        /// Samples from -1 to 1, at 16 kHz.
        package var samples: [Double]

        package var pcm: [Int16] { samples.map { Int16(max(-1, min(1, $0)) * 32_767) } }
    }

    private static let rate = SamplePosition.rate

    package let seed: UInt64
    private var random: SeededGenerator

    package init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
    }

    /// Generates all 147 sounds.
    package mutating func pieces() -> [Piece] {
        var pieces: [Piece] = []
        func add(_ name: String, _ samples: [Double], peak: Double? = nil) {
            let loudest = samples.reduce(0) { max($0, abs($1)) }
            let gain = peak.map { loudest > 0 ? $0 / loudest : 1 } ?? 1
            pieces.append(Piece(name: name, samples: samples.map { $0 * gain }))
        }
        for seconds in [1.0, 3, 6, 10, 12] {
            add("silence-\(Int(seconds))", Array(repeating: 0, count: Self.count(seconds)))
            for level in [0.0001, 0.001] {
                add("quiet-\(Int(seconds))-\(Int(level * 10_000))", noise(seconds).map { $0 * level })
            }
        }
        for hertz in [50.0, 100, 150, 200, 300, 440, 500, 700, 1_000, 1_500, 2_000, 2_500, 3_000, 4_000, 5_000, 6_000] {
            for seconds in [2.0, 7] {
                add("tone-\(Int(hertz))-\(Int(seconds))", Self.sound(seconds) { 0.3 * sin(2 * .pi * hertz * $0) })
            }
        }
        for hertz in [50.0, 60, 100, 120] {
            for seconds in [3.0, 10] {
                add("hum-\(Int(hertz))-\(Int(seconds))", Self.sound(seconds) { Self.hum(hertz, $0) })
            }
        }
        for seconds in [2.0, 5, 8, 12] {
            for level in [0.01, 0.1, 0.3] {
                let white = noise(seconds)
                let name = "\(Int(seconds))-\(Int(level * 100))"
                add("white-\(name)", white.map { $0 * level * 0.3 })
                add("brown-\(name)", Self.brown(white), peak: level)
                add("pink-\(name)", pink(seconds), peak: level)
            }
        }
        for number in 1...8 { add("clicks-\(number)", clicks(), peak: 0.6) }
        for number in 1...14 { add("plucked-\(number)", plucked(seconds(3...12)), peak: 0.5) }
        for number in 1...14 { add("melody-\(number)", melody(seconds(3...12)), peak: 0.5) }
        for number in 1...8 { add("siren-\(number)", Self.siren(seconds(2...10), speed: seconds(0.3...6))) }
        for number in 1...6 { add("birds-\(number)", birds(), peak: 0.4) }
        for number in 1...6 { add("wind-\(number)", wind(), peak: 0.3) }
        return pieces
    }

    /// Generates the sound of a quiet room: noise with a varying level, a faint hum, and occasional knocks.
    package mutating func room(seconds: Int) -> [Int16] {
        var brown = 0.0
        var samples: [Int16] = []
        samples.reserveCapacity(seconds * Self.rate)
        for second in 0..<seconds {
            let level = 26 * exp(sin(Double(second) / 37) * 0.46 + Double.random(in: -0.12...0.12, using: &random))
            let knock =
                Int.random(in: 0..<40, using: &random) == 0 ? Int.random(in: 0..<Self.rate / 2, using: &random) : nil
            for index in 0..<Self.rate {
                let white = Double.random(in: -1.732...1.732, using: &random)
                brown = 0.98 * brown + 0.2 * white
                var value = (0.6 * white + 0.8 * brown) * level
                value += 8 * sin(2 * .pi * 50 * Double(index) / Double(Self.rate))
                if let knock, index >= knock { value += 900 * white * exp(-Double(index - knock) / 320) }
                samples.append(Int16(max(-32_768, min(32_767, value))))
            }
        }
        return samples
    }

    private static func count(_ seconds: Double) -> Int { Int(seconds * Double(rate)) }

    private static func sound(_ seconds: Double, _ value: (Double) -> Double) -> [Double] {
        (0..<count(seconds)).map { value(Double($0) / Double(rate)) }
    }

    private static func hum(_ hertz: Double, _ time: Double) -> Double {
        var sum = 0.0
        for harmonic in 1...7 {
            let order = Double(harmonic)
            sum += 0.2 / order * sin(2 * .pi * hertz * order * time + order)
        }
        return sum
    }

    /// Returns a random number with a standard normal distribution.
    private mutating func normal() -> Double {
        let radius = (-2 * log(Double.random(in: 1e-12..<1, using: &random))).squareRoot()
        return radius * cos(2 * .pi * Double.random(in: 0..<1, using: &random))
    }

    private mutating func noise(_ seconds: Double) -> [Double] { (0..<Self.count(seconds)).map { _ in normal() } }

    /// Integrates noise and subtracts its moving average over 0.1 s.
    private static func brown(_ white: [Double]) -> [Double] {
        var sums = [0.0]
        var level = 0.0
        let walk = white.map { value -> Double in
            level += value
            return level
        }
        for value in walk { sums.append(sums[sums.count - 1] + value) }
        return walk.indices.map { index in
            let (from, to) = (max(0, index - 800), min(walk.count, index + 800))
            return walk[index] - (sums[to] - sums[from]) / Double(to - from)
        }
    }

    /// Generates pink noise with Voss's algorithm, which sums noise sources whose update rates halve.
    private mutating func pink(_ seconds: Double) -> [Double] {
        var rows = (0..<12).map { _ in normal() }
        return (0..<Self.count(seconds)).map { index in
            rows[min(11, (index + 1).trailingZeroBitCount)] = normal()
            return rows.reduce(0, +) + normal()
        }
    }

    private mutating func seconds(_ range: ClosedRange<Double>) -> Double { .random(in: range, using: &random) }

    private mutating func clicks() -> [Double] {
        let length = seconds(2...12)
        var samples = noise(length).map { $0 * 0.001 }
        for _ in 0..<Int(length * seconds(1...6)) {
            let position = Int.random(in: 0..<samples.count - 100, using: &random)
            for index in position..<position + 20 { samples[index] += normal() }
        }
        return samples
    }

    /// Generates plucked strings with the Karplus–Strong algorithm.
    package mutating func plucked(_ length: Double) -> [Double] {
        var samples = [Double](repeating: 0, count: Self.count(length))
        var position = 0
        while position < samples.count {
            let hertz = 110 * exp2(Double(Int.random(in: 0..<30, using: &random)) / 12)
            var string = (0..<Int(Double(Self.rate) / hertz)).map { _ in Double.random(in: -1...1, using: &random) }
            for index in 0..<min(Self.count(1.5), samples.count - position) {
                let (current, next) = (index % string.count, (index + 1) % string.count)
                samples[position + index] += string[current]
                string[current] = 0.996 * 0.5 * (string[current] + string[next])
            }
            position += Self.count(seconds(0.2...1))
        }
        return samples
    }

    /// Generates notes and chords of one to three tones, with five harmonics each.
    package mutating func melody(_ length: Double) -> [Double] {
        var samples = [Double](repeating: 0, count: Self.count(length))
        var position = 0
        while position < samples.count {
            let length = seconds(0.15...0.8)
            let root = 130 * exp2(Double(Int.random(in: 0..<24, using: &random)) / 12)
            for step in [0.0, 4, 7].prefix(Int.random(in: 1...3, using: &random)) {
                for harmonic in 1...5 {
                    let (hertz, phase) = (root * exp2(step / 12) * Double(harmonic), seconds(0...6))
                    for index in 0..<min(Self.count(length), samples.count - position) {
                        let time = Double(index) / Double(Self.rate)
                        let envelope = min(1, min(time / 0.02, (length - time) / 0.05))
                        samples[position + index] += envelope * sin(2 * .pi * hertz * time + phase) / Double(harmonic)
                    }
                }
            }
            position += Self.count(length)
        }
        return samples
    }

    /// Generates a tone whose pitch oscillates at `speed` Hz.
    package static func siren(_ length: Double, speed: Double) -> [Double] {
        var phase = 0.0
        return sound(length) { time in
            phase += (800 + 600 * sin(2 * .pi * speed * time)) / Double(Self.rate)
            return 0.3 * sin(2 * .pi * phase)
        }
    }

    private mutating func birds() -> [Double] {
        var samples = noise(8).map { $0 * 0.002 }
        for _ in 0..<20 {
            let position = Int.random(in: 0..<samples.count - 4_000, using: &random)
            let (hertz, rise) = (seconds(2_000...5_000), seconds(-4_000...4_000))
            for index in 0..<3_200 {
                let time = Double(index) / Double(Self.rate)
                let window = 0.5 - 0.5 * cos(2 * .pi * Double(index) / 3_199)
                samples[position + index] += window * sin(2 * .pi * (hertz * time + rise * time * time))
            }
        }
        return samples
    }

    private mutating func wind() -> [Double] {
        let (white, speed) = (noise(9), seconds(0.2...3))
        return white.indices.map { index in
            let window = white[max(0, index - 19)...index]
            let swell = (1 + sin(2 * .pi * speed * Double(index) / Double(Self.rate))) / 2
            return window.reduce(0, +) / 20 * swell
        }
    }
}
