import Core
import Glibc
import System

/// Opens the engine that whisper.cpp is, by its program: the library's own interface changes with every release.
package struct WhisperProvider: RecognizerProvider {
    private let model: WhisperModel

    package init(model: WhisperModel) { self.model = model }

    package func open() throws(DeviceError) -> any Recognizer {
        try WhisperRecognizer(model, program: model.check())
    }
}

/// Reads each utterance with a `whisper-cli` of its own. It has no partial results, and learns nothing.
final class WhisperRecognizer: Recognizer {
    /// The program takes at most so much longer than the audio; on the smallest boards it is slower than speech.
    private static let patience = (seconds: 60, timesAudio: 40)

    /// What it prints is the text alone; nothing longer is that.
    private static let mostOutput = 1 << 20

    /// Below a second the program reads nothing.
    private static let fewestSamples = SamplePosition.rate * 5 / 4

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
        // For this utterance alone: workers end by SIGKILL, which would leave a folder of the process behind.
        let folder = try ScratchFolder(for: "whisper")
        defer { withExtendedLifetime(folder) {} }
        let (sound, answer) = ("\(folder.path)/utterance.wav", "\(folder.path)/answer")
        try write(Array(samples), to: sound)
        _ = try Self.output(
            of: program,
            ["-m", model.path, "-f", sound, "-l", "auto", "-np", "-ojf", "-of", answer],
            within: Self.patience.seconds + samples.count * Self.patience.timesAudio / SamplePosition.rate)
        guard let bytes = try? content(ofFile: "\(answer).json"), let reading = WhisperAnswer(bytes) else {
            throw DeviceError(
                .failed, "whisper-cli", on: program, "gave no answer with the model \(model.path)",
                remedy: "try both by hand: \(program) -m \(model.path) -f FILE.wav")
        }
        return Hypothesis(words: reading.words)
    }

    private static func version(of program: String) throws(DeviceError) -> String {
        // whisper.cpp version: 1.9.5
        let words = try output(of: program, ["--version"], within: patience.seconds).split(
            whereSeparator: \.isWhitespace)
        return words.last.map(String.init) ?? ""
    }

    /// What a program prints until it ends; its errors are dropped, for they may tell of what was said.
    private static func output(
        of program: String, _ arguments: [String], within seconds: Int
    ) throws(DeviceError) -> String {
        let child = try ChildProcess(program, arguments: arguments, showsErrors: false)
        // For all of it: one that goes on printing is not waited for any longer than one that says nothing.
        let deadline = MonotonicClock.nanoseconds + Int64(seconds) * 1_000_000_000
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while true {
            let left = deadline - MonotonicClock.nanoseconds
            guard left > 0, text.count <= mostOutput else {
                throw DeviceError(
                    .failed, "whisper-cli", on: program,
                    "did not finish within \(seconds) s, or printed without end", remedy: "try it by hand")
            }
            let seconds = Int((left + 999_999_999) / 1_000_000_000)
            let count = try rethrowing {
                try chunk.withUnsafeMutableBytes { try child.read(into: $0, timeoutSeconds: seconds) }
            }
            if count == 0 { return String(decoding: text, as: UTF8.self) }
            text += chunk[..<count]
        }
    }

    /// Writes a WAV: 16 kHz, mono, 16-bit, with silence behind what is too short.
    private func write(_ samples: [Int16], to path: String) throws(DeviceError) {
        let silence = [Int16](repeating: 0, count: max(0, Self.fewestSamples - samples.count))
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
