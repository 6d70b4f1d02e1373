import Audio
import Core
import Glibc
import Recognition
import Settings

/// Measures the speed of one decode worker with the configured model.
func doctorDecoder(_ configuration: Configuration) async -> Result<DoctorFacts.Decoder, DeviceError> {
    do {
        let (samples, isSpeech) = testAudio()
        let pool = WorkerPool(try configuration.workerCommand(profile: "live"), size: 1)
        let engine = try await pool.prepare()
        // The first run also reads files from the card and allocates memory; only the second is measured.
        _ = try await pool.measure(samples)
        let elapsedSeconds = max(1e-3, try await pool.measure(samples))
        let audioSeconds = Double(samples.count) / Double(SamplePosition.rate)
        return .success(
            DoctorFacts.Decoder(
                timesRealTime: audioSeconds / elapsedSeconds, wasMeasuredOnSpeech: isSpeech, engine: engine))
    } catch let error as DeviceError { return .failure(error) } catch {
        return .failure(
            DeviceError(.failed, "decode-worker", "the decode worker failed: \(error)", remedy: "see the log"))
    }
}

/// Returns a spoken sentence from Debian's package pocketsphinx-testdata. If it is not installed, returns five seconds
/// of synthetic sound.
private func testAudio() -> (samples: [Int16], isSpeech: Bool) {
    let path = "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0880.wav"
    if let speech = try? AudioFileReader(path: path).samples(), !speech.isEmpty { return (speech, true) }
    return (syntheticSyllables(seconds: 5), false)
}

/// Returns four syllables per second: a 120 Hz buzz, filtered by the formants of three vowels.
private func syntheticSyllables(seconds: Int) -> [Int16] {
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
