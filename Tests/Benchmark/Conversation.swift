import Core
import Glibc
import TestKit

/// A conversation mixed from files of single speakers, with the ranges in which each speaker speaks. The same seed
/// yields the same conversation.
struct Conversation {
    /// The acoustic condition.
    enum Condition: String, CaseIterable {
        case clean
        /// The second speaker is 12 dB below the others.
        case far
        /// Noise is 15 dB below the speech.
        case noise
        /// Noise is 10 dB below the speech; used only to choose the constants of `SpeechEdges`.
        case noisy
        /// A room with 0.35 s of reverberation and a different response for each speaker; the second speaker is 12 dB
        /// below the others.
        case room
        /// The second speaker is on the telephone (300 to 3,400 Hz), which a loudspeaker plays in the room, 6 dB below
        /// the others.
        case telephone
        /// Like `room`, with noise 20 dB below the speech, turns of 0.5 to 4 s, and overlap at a quarter of the
        /// speaker changes.
        case hard

        /// The conditions whose errors are reported.
        static let reported = allCases.filter { $0 != .noisy }
    }

    /// The audio at 16 kHz.
    let samples: [Int16]
    /// The ranges in which each speaker speaks; ranges of the same speaker never overlap.
    let truth: DiarizationErrors.Annotation

    /// - Parameters:
    ///   - files: the samples of each speaker's files.
    ///   - seconds: the minimum duration.
    init(_ files: [[[Int16]]], _ condition: Condition, seconds: Double, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let rate = Double(SamplePosition.rate)
        let isHard = condition == .hard
        let hasRoom = condition == .room || isHard
        let responses = files.map { _ in Self.response(&random) }
        var mix: [Float] = []
        var truth: DiarizationErrors.Annotation = []
        var queues = files.map { $0.shuffled(using: &random)[...] }
        var remaining = files.map { _ in ArraySlice<Int16>() }
        var speaker = Int.random(in: 0..<files.count, using: &random)
        var start = Int(0.5 * rate)
        while Double(start) < seconds * rate {
            let length = Int(Double.random(in: isHard ? 0.5...4 : 1...15, using: &random) * rate)
            var turn: [Int16] = []
            while turn.count < length {
                if remaining[speaker].isEmpty {
                    if queues[speaker].isEmpty { queues[speaker] = files[speaker].shuffled(using: &random)[...] }
                    remaining[speaker] = (queues[speaker].popFirst() ?? [])[...]
                    if remaining[speaker].isEmpty { break }
                }
                let part = remaining[speaker].prefix(length - turn.count)
                turn += part
                remaining[speaker] = remaining[speaker].dropFirst(part.count)
            }
            let isOnTelephone = condition == .telephone && speaker == 1
            let level: Float = isOnTelephone ? 0.5 : (condition == .far || hasRoom) && speaker == 1 ? 0.251 : 1
            var audio = Self.leveled(turn).map { $0 * level }
            truth += Self.speech(in: turn).map {
                (
                    speaker,
                    SampleRange(
                        SamplePosition(Int64(start + $0.lowerBound)), SamplePosition(Int64(start + $0.upperBound)))
                )
            }
            if isOnTelephone { audio = Self.convolved(audio, Self.telephone) }
            if hasRoom || isOnTelephone { audio = Self.convolved(audio, responses[speaker]) }
            if mix.count < start + audio.count { mix += [Float](repeating: 0, count: start + audio.count - mix.count) }
            for (index, value) in audio.enumerated() { mix[start + index] += value }
            let overlaps = Double.random(in: 0..<1, using: &random) < (isHard ? 0.25 : 0.1)
            let gap =
                overlaps
                ? -min(Double.random(in: 0.2...1, using: &random), Double(turn.count) / rate / 2)
                : Double.random(in: 0.2...1.5, using: &random)
            start += max(1, turn.count + Int(gap * rate))
            if files.count > 1 {
                var next = Int.random(in: 0..<files.count - 1, using: &random)
                if next >= speaker { next += 1 }
                speaker = next
            }
        }
        mix += [Float](repeating: 0, count: SamplePosition.rate / 2)
        // The RMS of the noise; that of speech is 0.05.
        let noise: Float =
            switch condition {
            case .noisy: 0.05 * 0.316
            case .noise: 0.05 * 0.178
            case .hard: 0.05 * 0.1
            default: 0.05 * 0.02
            }
        samples = mix.map { value in
            let white = Float.random(in: -1...1, using: &random) * 1.732 * noise
            return Int16(max(-1, min(1, value + white)) * 32_767)
        }
        self.truth = DiarizationErrors.united(truth)
    }

    /// Returns the ranges of speech in a file: audio within 35 dB of the maximum, including pauses shorter than 0.5 s.
    private static func speech(in samples: [Int16]) -> [Range<Int>] {
        let frame = 320
        let levels = stride(from: 0, to: samples.count, by: frame).map { start -> Float in
            let part = samples[start..<min(samples.count, start + frame)]
            return part.reduce(0) { $0 + Float($1) * Float($1) } / Float(max(1, part.count))
        }
        let minimum = (levels.max() ?? 0) / 3_162
        var ranges: [Range<Int>] = []
        for (index, level) in levels.enumerated() where level > minimum && level > 0 {
            let range = index * frame..<min(samples.count, (index + 1) * frame)
            if let last = ranges.last, range.lowerBound - last.upperBound < SamplePosition.rate / 2 {
                ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
            } else {
                ranges.append(range)
            }
        }
        return ranges
    }

    /// Scales samples so that the RMS of their speech is 0.05 (-26 dBFS).
    private static func leveled(_ samples: [Int16]) -> [Float] {
        let speech = speech(in: samples)
        let power = speech.reduce(Float(0)) { sum, range in
            sum + samples[range].reduce(Float(0)) { $0 + Float($1) * Float($1) }
        }
        let count = speech.reduce(0) { $0 + $1.count }
        guard count > 0, power > 0 else { return samples.map { Float($0) / 32_768 } }
        let root = (power / Float(count)).squareRoot() / 32_768
        return samples.map { Float($0) / 32_768 * 0.05 / root }
    }

    /// Returns a room's impulse response: the direct sound, then noise that decays by 60 dB within 0.35 s.
    private static func response(_ random: inout SeededGenerator) -> [Float] {
        let count = Int(0.35 * Double(SamplePosition.rate))
        var decay: Float = 1
        let factor = Float(pow(10, -3.0 / Double(count)))
        return (0..<count).map { index in
            decay *= factor
            return index == 0 ? 1 : index < 40 ? 0 : Float.random(in: -0.06...0.06, using: &random) * decay
        }
    }

    /// The band-pass filter of a telephone: a low-pass at 3,400 Hz minus a low-pass at 300 Hz, delayed by 12 ms.
    private static let telephone: [Float] = {
        let half = 192
        return (-half...half).map { (index: Int) -> Float in
            let window = 0.54 + 0.46 * cos(.pi * Double(index) / Double(half))
            let lowPasses = [3_400.0, 300].map { (hertz: Double) -> Double in
                let angle = 2 * .pi * hertz / Double(SamplePosition.rate)
                return index == 0 ? angle / .pi : sin(angle * Double(index)) / (.pi * Double(index))
            }
            return Float((lowPasses[0] - lowPasses[1]) * window)
        }
    }()

    private static func convolved(_ audio: [Float], _ response: [Float]) -> [Float] {
        var sum = [Float](repeating: 0, count: audio.count)
        sum.withUnsafeMutableBufferPointer { sum in
            audio.withUnsafeBufferPointer { audio in
                for (delay, weight) in response.enumerated() where weight != 0 && delay < audio.count {
                    for index in delay..<audio.count { sum[index] += weight * audio[index - delay] }
                }
            }
        }
        return sum
    }

    /// The ranges of `speech`, extended by up to 0.2 s on both sides, as for recordings.
    var regions: [SampleRange] { Diarization.regions(speech, length: SamplePosition(Int64(samples.count))) }

    /// The ranges in which the segmenter detects speech.
    var speech: [SampleRange] {
        var segmenter = Segmenter(settings: SpeechSettings())
        var levels = FrameLevels()
        var effects: [Segmenter.Effect] = []
        samples.withUnsafeBufferPointer { samples in
            levels.append(samples) { effects += segmenter.handle(level: $0) }
        }
        effects += segmenter.finish(at: SamplePosition(Int64(samples.count)))
        var speech: [SampleRange] = []
        for case .ended(let utterance) in effects { speech.append(utterance.speech) }
        return speech
    }
}
