import Foundation
import TestKit
import Testing

@testable import Audio
@testable import Core
@testable import Speech

/// Contains all suites that use a recognizer. They run one at a time, because each loads a model and some count
/// threads.
@Suite("Speech", .serialized) enum Recognizing {}

/// Test audio: readings from a novel, from Debian's package pocketsphinx-testdata.
enum Sounds {
    static let english = Locale(identifier: "en_US")
    /// Selects PocketSphinx, whose words are the same on every machine.
    static let options = SpeechAnalyzer.Options(engine: .pocketSphinx)

    private static let folder = "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-"
    /// "He was not an ill-disposed young man." (3 s)
    static let young = URL(filePath: folder + "0880.wav")
    /// "He might even have been made amiable himself." (3.3 s)
    static let amiable = URL(filePath: folder + "0930.wav")

    static func samples(_ url: URL) throws -> [Int16] { try AudioFileReader(path: url.path).samples() }

    /// Returns faint noise, like in a quiet room.
    static func quiet(_ seconds: Double) -> [Int16] {
        var random = SeededGenerator(seed: 5)
        return (0..<Int(seconds * 16_000)).map { _ in Int16.random(in: -8...8, using: &random) }
    }

    /// Returns both sentences, with pauses before, between and after them.
    static func talk() throws -> [Int16] {
        try quiet(0.5) + samples(young) + quiet(1) + samples(amiable) + quiet(1)
    }

    /// Returns short utterances: the first second of a sentence, repeated with pauses.
    static func short(_ count: Int) throws -> [Int16] {
        let words = try samples(amiable).prefix(16_000) + quiet(0.7)
        return (0..<count).flatMap { _ in words }
    }

    static func buffers(_ samples: [Int16], every count: Int = 320) -> [AnalyzerInput] {
        stride(from: 0, to: samples.count, by: count).map {
            AnalyzerInput(buffer: AudioBuffer(int16: Array(samples[$0..<min(samples.count, $0 + count)])))
        }
    }

    /// Writes a WAV file with 16-bit or floating-point samples.
    static func wave(_ buffer: AudioBuffer, in folder: TemporaryFolder, named name: String = "talk.wav") throws -> URL {
        let (data, bytes): (Data, Int) =
            switch buffer.samples {
            case .int16(let samples): (samples.withUnsafeBytes { Data($0) }, 2)
            case .float32(let samples): (samples.withUnsafeBytes { Data($0) }, 4)
            }
        var file = Data("RIFF".utf8)
        func add(_ value: Int, _ count: Int) {
            withUnsafeBytes(of: UInt32(value).littleEndian) { file.append(contentsOf: $0.prefix(count)) }
        }
        add(36 + data.count, 4)
        file += Data("WAVEfmt ".utf8)
        add(16, 4)
        add(bytes == 4 ? 3 : 1, 2)
        add(buffer.channelCount, 2)
        add(buffer.sampleRate, 4)
        add(buffer.sampleRate * buffer.channelCount * bytes, 4)
        add(buffer.channelCount * bytes, 2)
        add(8 * bytes, 2)
        file += Data("data".utf8)
        add(data.count, 4)
        let url = URL(filePath: folder.file(name))
        try (file + data).write(to: url)
        return url
    }

    /// Writes `talk()` as a WAV file.
    static func talkFile(in folder: TemporaryFolder) throws -> URL { try wave(AudioBuffer(int16: talk()), in: folder) }

    /// Returns the final results for a sequence.
    static func finals(
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
    static func finals(
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
