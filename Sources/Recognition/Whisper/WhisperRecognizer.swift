import Core
import Glibc
import System

/// Opens whisper.cpp through its command-line program, because the library's API changes with every release.
package struct WhisperProvider: RecognizerProvider {
    private let model: WhisperModel

    package init(model: WhisperModel) { self.model = model }

    package func open() throws(DeviceError) -> any Recognizer {
        try WhisperRecognizer(model, program: model.check())
    }
}

/// Runs `whisper-cli` for each utterance. It has no partial results and does not adapt.
final class WhisperRecognizer: Recognizer {
    /// The time limit is the sum of a constant and a multiple of the audio's length, since the smallest boards decode
    /// much slower than real time.
    private static let timeout = (seconds: 60, timesAudio: 40)

    /// The maximum output in bytes. The program prints only the text, which is far shorter for any utterance.
    private static let maxOutput = 1 << 20

    /// The minimum number of samples: the program ignores audio shorter than a second.
    private static let minSamples = SamplePosition.rate * 5 / 4

    let engine: EngineDescription
    private let model: WhisperModel
    private let program: String

    init(_ model: WhisperModel, program: String) throws(DeviceError) {
        self.model = model
        self.program = program
        engine = EngineDescription(
            name: "whisper", version: try Self.version(of: program), model: model.path)
    }

    func recognize(
        _ samples: UnsafeBufferPointer<Int16>, options: RecognitionOptions
    ) throws(DeviceError) -> Hypothesis {
        if samples.isEmpty { return Hypothesis() }
        // Each utterance has its own folder: a folder for the whole process would remain when SIGKILL ends the worker.
        let folder = try ScratchFolder(for: "whisper")
        defer { withExtendedLifetime(folder) {} }
        let (audioPath, answerPath) = ("\(folder.path)/utterance.wav", "\(folder.path)/answer")
        try write(Array(samples), to: audioPath)
        _ = try Self.output(
            of: program,
            ["-m", model.path, "-f", audioPath, "-l", "auto", "-np", "-ojf", "-of", answerPath],
            within: Self.timeout.seconds + samples.count * Self.timeout.timesAudio / SamplePosition.rate)
        guard let bytes = try? content(ofFile: "\(answerPath).json"), let answer = WhisperAnswer(bytes) else {
            throw DeviceError(
                .failed, "whisper-cli", on: program, "returned no result with the model \(model.path)",
                remedy: "try both by hand: \(program) -m \(model.path) -f FILE.wav")
        }
        return Hypothesis(words: answer.words)
    }

    private static func version(of program: String) throws(DeviceError) -> String {
        // The program prints `whisper.cpp version: 1.9.5`.
        let words = try output(of: program, ["--version"], within: timeout.seconds).split(
            whereSeparator: \.isWhitespace)
        return words.last.map(String.init) ?? ""
    }

    /// Returns a program's output. Standard error is dropped, because it may contain spoken words.
    private static func output(
        of program: String, _ arguments: [String], within seconds: Int
    ) throws(DeviceError) -> String {
        let child = try ChildProcess(program, arguments: arguments, showsErrors: false)
        let text = try? child.output(upTo: maxOutput, timeoutSeconds: seconds)
        guard let text, text.count <= maxOutput else {
            throw DeviceError(
                .failed, "whisper-cli", on: program,
                "did not finish within \(seconds) s, or printed too much output", remedy: "try it by hand")
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Writes a WAV file (16 kHz, mono, 16-bit), and pads short audio with silence.
    private func write(_ samples: [Int16], to path: String) throws(DeviceError) {
        let silence = [Int16](repeating: 0, count: max(0, Self.minSamples - samples.count))
        let size = UInt32((samples.count + silence.count) * 2)
        let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        var header = Array("RIFF".utf8) + Self.bytes(size + 36) + Array("WAVEfmt ".utf8)
        header += Self.bytes(UInt32(16)) + Self.bytes(UInt16(1)) + Self.bytes(UInt16(1))
        header += Self.bytes(UInt32(SamplePosition.rate)) + Self.bytes(UInt32(SamplePosition.rate * 2))
        header += Self.bytes(UInt16(2)) + Self.bytes(UInt16(16)) + Array("data".utf8) + Self.bytes(size)
        try Self.write(header, to: file)
        try Self.write(samples + silence, to: file)
    }

    private static func write<Element>(_ elements: [Element], to file: borrowing FileDescriptor) throws(DeviceError) {
        try rethrowing { try elements.withUnsafeBytes { try file.write($0) } }
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
