import Foundation
import TestKit
import Testing

@testable import Audio
@testable import Core
@testable import Speech

/// Contains all suites that use a recognizer. They run one at a time, because each loads a model and some count
/// threads.
@Suite("Speech", .serialized) enum Recognizing {}

/// Test audio: sentences from an audiobook, from Debian's package pocketsphinx-testdata.
enum Sounds {
    static let english = Locale(identifier: "en_US")
    /// Selects PocketSphinx, because it recognizes the same words on every machine.
    static let options = SpeechAnalyzer.Options(engine: .pocketSphinx)

    private static let folder = "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-"
    /// "He was not an ill-disposed young man." (3 s)
    static let young = URL(filePath: folder + "0880.wav")
    /// "He might even have been made amiable himself." (3.3 s)
    static let amiable = URL(filePath: folder + "0930.wav")

    static func samples(_ url: URL) throws -> [Int16] { try AudioFileReader(path: url.path).samples() }

    /// Returns faint noise, as in a quiet room.
    static func noise(_ seconds: Double) -> [Int16] {
        var random = SeededGenerator(seed: 5)
        return (0..<Int(seconds * 16_000)).map { _ in Int16.random(in: -8...8, using: &random) }
    }

    /// Returns both sentences, with pauses before, between and after them.
    static func talk() throws -> [Int16] {
        try noise(0.5) + samples(young) + noise(1) + samples(amiable) + noise(1)
    }

    /// Returns short utterances: the first second of a sentence, repeated with pauses.
    static func shortUtterances(_ count: Int) throws -> [Int16] {
        let utterance = try samples(amiable).prefix(16_000) + noise(0.7)
        return (0..<count).flatMap { _ in utterance }
    }

    /// Splits audio into buffers of `length` samples, 20 ms by default.
    static func buffers(_ samples: [Int16], length: Int = 320) -> [AnalyzerInput] {
        stride(from: 0, to: samples.count, by: length).map {
            AnalyzerInput(buffer: AudioBuffer(int16: Array(samples[$0..<min(samples.count, $0 + length)])))
        }
    }

    /// Writes a WAV file with 16-bit or floating-point samples.
    static func writeWAV(_ buffer: AudioBuffer, in folder: TemporaryFolder) throws -> URL {
        let (data, bytesPerSample): (Data, Int) =
            switch buffer.samples {
            case .int16(let samples): (samples.withUnsafeBytes { Data($0) }, 2)
            case .float32(let samples): (samples.withUnsafeBytes { Data($0) }, 4)
            }
        var file = Data("RIFF".utf8)
        func append(_ value: Int, byteCount: Int) {
            withUnsafeBytes(of: UInt32(value).littleEndian) { file.append(contentsOf: $0.prefix(byteCount)) }
        }
        append(36 + data.count, byteCount: 4)
        file += Data("WAVEfmt ".utf8)
        append(16, byteCount: 4)
        append(bytesPerSample == 4 ? 3 : 1, byteCount: 2)
        append(buffer.channelCount, byteCount: 2)
        append(buffer.sampleRate, byteCount: 4)
        append(buffer.sampleRate * buffer.channelCount * bytesPerSample, byteCount: 4)
        append(buffer.channelCount * bytesPerSample, byteCount: 2)
        append(8 * bytesPerSample, byteCount: 2)
        file += Data("data".utf8)
        append(data.count, byteCount: 4)
        let url = URL(filePath: folder.file("talk.wav"))
        try (file + data).write(to: url)
        return url
    }

    /// Writes `talk()` as a WAV file.
    static func writeTalk(in folder: TemporaryFolder) throws -> URL {
        try writeWAV(AudioBuffer(int16: talk()), in: folder)
    }

    /// Returns the final results for a sequence.
    static func finalResults(
        _ inputs: [AnalyzerInput], preset: SpeechTranscriber.Preset = .transcription
    ) async throws -> [SpeechTranscriber.Result] {
        let transcriber = SpeechTranscriber(locale: english, preset: preset)
        let analyzer = SpeechAnalyzer(modules: [transcriber], options: options)
        async let results = transcriber.results.filter(\.isFinal).collected()
        try await analyzer.analyzeSequence(inputs.stream)
        try await analyzer.finalizeAndFinishThroughEndOfInput()
        return try await results
    }

    /// Returns the final results for a file.
    static func finalResults(
        _ url: URL, options: SpeechAnalyzer.Options = options, preset: SpeechTranscriber.Preset = .transcription
    ) async throws -> [SpeechTranscriber.Result] {
        let transcriber = SpeechTranscriber(locale: english, preset: preset)
        let analyzer = SpeechAnalyzer(modules: [transcriber], options: options)
        async let results = transcriber.results.filter(\.isFinal).collected()
        try await analyzer.analyzeSequence(from: url)
        try await analyzer.finalizeAndFinishThroughEndOfInput()
        return try await results
    }
}

extension AsyncSequence {
    func collected() async throws -> [Element] { try await reduce(into: []) { $0.append($1) } }
}

extension [AnalyzerInput] {
    var stream: AsyncStream<AnalyzerInput> {
        AsyncStream { continuation in
            for input in self { continuation.yield(input) }
            continuation.finish()
        }
    }
}

extension SpeechTranscriber.Result {
    var string: String { String(text.characters) }
}

/// Returns the error that `body` throws; nil if it throws none, or one of another type.
func speechError(_ body: () async throws -> Void) async -> SFSpeechError? {
    do { try await body() } catch { return error as? SFSpeechError }
    return nil
}
