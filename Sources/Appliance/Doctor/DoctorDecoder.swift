import Audio
import Core
import Glibc
import Recognition
import Settings

/// Measures the speed of one decode worker with the configured model.
func doctorDecoder(_ configuration: Configuration) async -> Result<DoctorFacts.Decoder, DeviceError> {
    do {
        let (samples, isOnSpeech) = testSound()
        let pool = WorkerPool(try configuration.workerCommand(profile: "live"), size: 1)
        let engine = try await pool.prepare()
        // The first run also reads files from the card and allocates memory; only the second is measured.
        _ = try await pool.measure(samples)
        let wall = max(1e-3, try await pool.measure(samples))
        let seconds = Double(samples.count) / Double(SamplePosition.rate)
        return .success(DoctorFacts.Decoder(timesRealTime: seconds / wall, isOnSpeech: isOnSpeech, engine: engine))
    } catch let error as DeviceError { return .failure(error) } catch {
        return .failure(DeviceError(.failed, "decode-worker", "the decode worker: \(error)", remedy: "see the log"))
    }
}

/// Returns a spoken sentence from Debian's package pocketsphinx-testdata or, if it is not installed, five seconds of a
/// synthetic sound.
private func testSound() -> (samples: [Int16], isOnSpeech: Bool) {
    let path = "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0880.wav"
    if let speech = try? AudioFileReader(path: path).samples(), !speech.isEmpty { return (speech, true) }
    return (syllables(seconds: 5), false)
}

/// Returns a synthetic voice: a 120 Hz buzz filtered by the formants of three vowels, four syllables per second.
private func syllables(seconds: Int) -> [Int16] {
    let vowels: [[Double]] = [[730, 1_090, 2_440], [270, 2_290, 3_010], [300, 870, 2_240]]
    let rate = Double(SamplePosition.rate)
    var samples: [Int16] = []
    samples.reserveCapacity(seconds * SamplePosition.rate)
    for index in 0..<seconds * SamplePosition.rate {
        let time = Double(index) / rate
        let beat = time * 4
        let syllable = beat.rounded(.down)
        let vowel = vowels[Int(syllable) % vowels.count]
        var value = 0.0
        for harmonic in 1...30 {
            let frequency = 120.0 * Double(harmonic)
            var gain = 0.0
            for formant in vowel {
                let distance = (frequency - formant) / 90
                gain += 1 / (1 + distance * distance)
            }
            let phase: Double = 2 * Double.pi * frequency * time
            value += gain * sin(phase)
        }
        let envelope: Double = max(0, sin(Double.pi * (beat - syllable) * 1.25))
        let level: Double = 4_000 * envelope * value
        samples.append(Int16(max(-32_000, min(32_000, level))))
    }
    return samples
}
