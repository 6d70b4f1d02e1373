import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition
@testable import System

@Suite("Decode worker") struct DecodeWorkerTests {
    /// An engine without optional capabilities.
    private final class PlainRecognizer: Recognizer {
        struct Provider: RecognizerProvider {
            func open() throws(DeviceError) -> any Recognizer { PlainRecognizer() }
        }

        let engine = EngineDescription(name: "plain", version: "1", model: "none")

        func recognize(
            _ samples: UnsafeBufferPointer<Int16>, options: RecognitionOptions
        ) throws(DeviceError) -> Hypothesis {
            if samples.count == 13 { throw DeviceError(.failed, "read", "unlucky") }
            let end = SamplePosition(Int64(samples.count))
            let sum = samples.reduce(0) { $0 + Int($1) }
            return Hypothesis(
                words: [Word("w\(samples.count)s\(sum)", SampleRange(.zero, end), confidence: 1)],
                alternatives: (0..<options.alternatives).map { Alternative(text: "a\($0)", confidence: 0) })
        }
    }

    private let folder = TemporaryFolder()

    private func frame(_ kind: WorkerProtocol.Frame, _ payload: [UInt8] = []) -> [UInt8] {
        [kind.rawValue] + withUnsafeBytes(of: UInt32(payload.count).littleEndian) { Array($0) } + payload
    }

    private func utterance(_ request: String, _ pieces: [[Int16]]) -> [UInt8] {
        frame(.request, Array(request.utf8)) + pieces.flatMap { frame(.audio, $0.withUnsafeBytes { Array($0) }) }
            + frame(.end)
    }

    /// Serves the frames with a `PlainRecognizer`, and returns the replies after `ready`.
    private func replies(to frames: [UInt8]) throws -> [WorkerProtocol.Reply] {
        let (input, output) = (folder.file("input"), folder.file("output"))
        try Data(frames).write(to: URL(filePath: input))
        var worker = DecodeWorker(
            input: try FileDescriptor(opening: input, O_RDONLY),
            output: try FileDescriptor(opening: output, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600))
        try worker.serve(PlainRecognizer.Provider())
        let lines = try Data(contentsOf: URL(filePath: output)).split(separator: 0x0A)
        let replies = try lines.map { try JSONDecoder().decode(WorkerProtocol.Reply.self, from: Data($0)) }
        #expect(replies.first?.ready?.name == "plain")
        return Array(replies.dropFirst())
    }

    @Test("an engine without optional capabilities receives only complete utterances")
    func noCapabilities() throws {
        let request = #"{"partials":false,"alternatives":2,"channel":{"cepstralMean":[1]}}"#
        let replies = try replies(
            to: utterance(request, [[1, 2], [], [3]]) + utterance(#"{"partials":false,"alternatives":0}"#, []))
        #expect(replies.compactMap { $0.result?.words.map(\.text) } == [["w3s6"], ["w0s0"]])
        // The end of the audio is reported before decoding, so that the next utterance can be sent.
        #expect(replies.map(\.heard) == [true, nil, true, nil])
        #expect(replies.compactMap(\.result).first?.alternatives.map(\.text) == ["a0", "a1"])
        #expect(replies.allSatisfy { $0.adaptation == nil })
    }

    @Test("an engine without partial results and surveys gives empty answers to such requests, and still decodes")
    func missingCapabilities() throws {
        let replies = try replies(
            to: utterance(#"{"partials":true,"alternatives":0}"#, [[1], [2]])
                + utterance(#"{"partials":false,"alternatives":0,"survey":true}"#, [[1, 2]])
                + utterance(#"{"partials":false,"alternatives":0}"#, [[5]]))
        #expect(replies.compactMap(\.partial) == ["", ""] && replies.compactMap(\.done) == [true])
        #expect(replies.compactMap(\.result).map { $0.words.map(\.text) } == [[], ["w1s5"]])
        #expect(replies.allSatisfy { $0.adaptation == nil && $0.candidates == nil && $0.error == nil })
    }

    @Test("a failure is reported, and the next utterance is decoded")
    func failure() throws {
        let request = #"{"partials":false,"alternatives":0}"#
        let replies = try replies(
            to: utterance(request, [[Int16](repeating: 1, count: 13)]) + utterance(request, [[7]]))
        #expect(replies.compactMap(\.error).map(\.message) == ["unlucky"])
        #expect(replies.last?.result?.words.map(\.text) == ["w1s7"] && replies.map(\.heard) == [true, nil, true, nil])
    }
}
