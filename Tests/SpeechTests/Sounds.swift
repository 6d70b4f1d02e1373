import Foundation
import TestKit
import Testing

@testable import Audio
@testable import Core
@testable import Speech

/// All suites with a recognizer: one at a time, since each loads a model, and some count threads.
@Suite("Speech", .serialized) enum Recognizing {}

/// People reading from a novel: Debian's package pocketsphinx-testdata.
enum Sounds {
    static let english = Locale(identifier: "en_US")
    /// Always PocketSphinx: its words are the same on every machine.
    static let options = SpeechAnalyzer.Options(engine: .pocketSphinx)

    private static let folder = "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-"
    /// 3 s: He was not an ill-disposed young man.
    static let young = URL(filePath: folder + "0880.wav")
    /// 3.3 s: He might even have been made amiable himself.
    static let amiable = URL(filePath: folder + "0930.wav")

    static func samples(_ url: URL) throws -> [Int16] { try AudioFileReader(path: url.path).samples() }

    static func quiet(_ seconds: Double) -> [Int16] {
        var random = SeededGenerator(seed: 5)
        return (0..<Int(seconds * 16_000)).map { _ in Int16.random(in: -8...8, using: &random) }
    }

    /// Both sentences, and the pauses around them.
    static func talk() throws -> [Int16] {
        try quiet(0.5) + samples(young) + quiet(1) + samples(amiable) + quiet(1)
    }

    /// The first words repeated, with pauses: short utterances.
    static func short(_ count: Int) throws -> [Int16] {
        let words = try samples(amiable).prefix(16_000) + quiet(0.7)
        return (0..<count).flatMap { _ in words }
    }

    static func buffers(_ samples: [Int16], every count: Int = 320) -> [AnalyzerInput] {
        stride(from: 0, to: samples.count, by: count).map {
            AnalyzerInput(buffer: AudioBuffer(int16: Array(samples[$0..<min(samples.count, $0 + count)])))
        }
    }

    /// A WAV file of 16-bit or floating-point samples.
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

    static func talkFile(in folder: TemporaryFolder) throws -> URL { try wave(AudioBuffer(int16: talk()), in: folder) }

    /// Final results of a whole sequence.
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

    /// Final results of a whole file.
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

/// The error that `body` throws; nil for none, or one of another type.
func speechError(_ body: () async throws -> Void) async -> SFSpeechError? {
    do { try await body() } catch { return error as? SFSpeechError }
    return nil
}
