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

/// Runs `whisper-cli` for each utterance, without partial results and adaptation.
final class WhisperRecognizer: Recognizer {
    /// The smallest boards take longer than the audio lasts.
    private static let timeout = (seconds: 60, timesAudio: 40)

    /// Far above the output for the longest utterance: the program prints only the text.
    private static let maxOutput = 1 << 20

    /// The program ignores anything shorter than a second.
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

    func read(
        _ samples: UnsafeBufferPointer<Int16>, _ request: ReadingRequest
    ) throws(DeviceError) -> Hypothesis {
        if samples.isEmpty { return Hypothesis() }
        // One folder per utterance: workers end by SIGKILL, which would leave a process's folder behind.
        let folder = try ScratchFolder(for: "whisper")
        defer { withExtendedLifetime(folder) {} }
        let (sound, answer) = ("\(folder.path)/utterance.wav", "\(folder.path)/answer")
        try write(Array(samples), to: sound)
        _ = try Self.output(
            of: program,
            ["-m", model.path, "-f", sound, "-l", "auto", "-np", "-ojf", "-of", answer],
            within: Self.timeout.seconds + samples.count * Self.timeout.timesAudio / SamplePosition.rate)
        guard let bytes = try? content(ofFile: "\(answer).json"), let reading = WhisperAnswer(bytes) else {
            throw DeviceError(
                .failed, "whisper-cli", on: program, "gave no result with the model \(model.path)",
                remedy: "try both by hand: \(program) -m \(model.path) -f FILE.wav")
        }
        return Hypothesis(words: reading.words)
    }

    private static func version(of program: String) throws(DeviceError) -> String {
        // whisper.cpp version: 1.9.5
        let words = try output(of: program, ["--version"], within: timeout.seconds).split(
            whereSeparator: \.isWhitespace)
        return words.last.map(String.init) ?? ""
    }

    /// Returns what a program prints until it ends. Standard error is dropped, because it may contain what was said.
    private static func output(
        of program: String, _ arguments: [String], within seconds: Int
    ) throws(DeviceError) -> String {
        let child = try ChildProcess(program, arguments: arguments, showsErrors: false)
        let text = try? child.output(upTo: maxOutput, timeoutSeconds: seconds)
        guard let text, text.count <= maxOutput else {
            throw DeviceError(
                .failed, "whisper-cli", on: program,
                "did not finish within \(seconds) s, or printed without end", remedy: "try it by hand")
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Writes a WAV: 16 kHz, mono, 16-bit; short audio is padded with silence.
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
