import Audio
import Core
import FoundationEssentials
import Recognition
import Settings
import System

/// Finds the times of typed words in the audio, in a separate process, because PocketSphinx exits on some errors.
package struct WordAligner: Sendable {
    /// A request, one line of JSON. The answer is a line of JSON with the range of each word.
    struct Passage: Codable, Sendable {
        /// The range of the recording to search.
        var range: SampleRange
        /// The words spoken there, in order.
        var words: [String]
    }

    /// The timeout for a passage of at most a minute on the smallest board, including loading the model.
    private static let timeoutSeconds = 120
    private static let maximumFailures = 3

    private let model: String
    private let dictionary: String

    init(_ configuration: Configuration) {
        model = configuration.pocketSphinxFolder
        dictionary = configuration.model.dictionary
    }

    /// Returns for each passage the range of each word in the recording; nil if the words were not found. Blocks.
    func times(of passages: [Passage], in audio: String) -> [[SampleRange]?] {
        var times: [[SampleRange]?] = []
        var failures = 0
        while times.count < passages.count, failures < Self.maximumFailures {
            do {
                try ask(Array(passages.dropFirst(times.count)), audio) { times.append($0) }
            } catch {
                // Skips the passage on which the process failed.
                failures += 1
                times.append(nil)
            }
        }
        return times + [[SampleRange]?](repeating: nil, count: max(0, passages.count - times.count))
    }

    private func ask(_ passages: [Passage], _ audio: String, _ append: ([SampleRange]?) -> Void) throws {
        let child = try ChildProcess(
            "/proc/self/exe",
            arguments: ["align-words", "--audio", audio, "--model", model, "--dictionary", dictionary],
            showsErrors: false)
        var received: [UInt8] = []
        for passage in passages {
            let line = Array(try JSONEncoder().encode(passage)) + [0x0A]
            try line.withUnsafeBytes { try child.pipes.write($0, timeoutSeconds: Self.timeoutSeconds) }
            while !received.contains(0x0A) {
                let output = try child.pipes.read(timeoutSeconds: Self.timeoutSeconds)
                guard !output.isEmpty else { throw DeviceError(.failed, "read", "the aligner exited") }
                received += output
            }
            let answer = received.prefix { $0 != 0x0A }
            let ranges = try decodedJSON([SampleRange].self, from: answer)
            received.removeFirst(answer.count + 1)
            append(ranges.count == passage.words.count && !ranges.isEmpty ? ranges : nil)
        }
    }

    /// Answers requests until the input ends. Called in the separate process.
    ///
    /// - Throws: `DeviceError` if the model or the audio cannot be opened.
    package static func serve(audio: String, model: PocketSphinxModel) throws {
        let aligner = try ForcedAligner(model: model)
        let reader = try RecordingReader(path: audio)
        while let line = readLine() {
            let passage = try decodedJSON(Passage.self, from: line.utf8)
            let count = Int(min(passage.range.count, 120 * Int64(SamplePosition.rate)))
            let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: count)
            defer { samples.deallocate() }
            let readCount = try reader.read(at: passage.range.start, into: samples)
            let speech = UnsafeBufferPointer(rebasing: samples[..<readCount])
            let times = try aligner.times(of: passage.words, in: speech) ?? []
            let ranges = times.map {
                SampleRange(passage.range.start + $0.start.samples, passage.range.start + $0.end.samples)
            }
            let answer = Array(try JSONEncoder().encode(ranges)) + [0x0A]
            try rethrowing {
                try answer.withUnsafeBytes { try FileDescriptor.write($0, to: 1, named: "standard output") }
            }
        }
    }
}
