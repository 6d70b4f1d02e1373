import Audio
import Core
import FoundationEssentials
import Recognition
import Settings
import System

/// Times a person's words in a process of its own, since PocketSphinx exits on some errors.
package struct WordTimes: Sendable {
    /// The request and the answer, a line of JSON each.
    struct Piece: Codable, Sendable {
        /// The range of the recording to search.
        var range: SampleRange
        /// The words spoken there, in order.
        var words: [String]
    }

    /// Seconds for one piece of at most a minute, on the smallest board, including loading the model.
    private static let timeoutSeconds = 120
    /// After this many failures, the process is not started again.
    private static let maxFailures = 3

    private let model: String
    private let dictionary: String

    init(_ configuration: Configuration) {
        model = configuration.pocketSphinxFolder
        dictionary = configuration.model.dictionary
    }

    /// The range of each word of each piece, in the recording; nil if unknown. Blocks.
    func times(of pieces: [Piece], in audio: String) -> [[SampleRange]?] {
        var times: [[SampleRange]?] = []
        var failures = 0
        while times.count < pieces.count, failures < Self.maxFailures {
            do {
                try ask(Array(pieces.dropFirst(times.count)), audio) { times.append($0) }
            } catch {
                // Skips the piece on which the process failed.
                failures += 1
                times.append(nil)
            }
        }
        return times + [[SampleRange]?](repeating: nil, count: max(0, pieces.count - times.count))
    }

    private func ask(_ pieces: [Piece], _ audio: String, _ take: ([SampleRange]?) -> Void) throws {
        let child = try ChildProcess(
            "/proc/self/exe",
            arguments: ["align-words", "--audio", audio, "--model", model, "--dictionary", dictionary],
            showsErrors: false)
        var received: [UInt8] = []
        for piece in pieces {
            let line = Array(try JSONEncoder().encode(piece)) + [0x0A]
            try line.withUnsafeBytes { try child.pipes.write($0, timeoutSeconds: Self.timeoutSeconds) }
            while !received.contains(0x0A) {
                let more = try child.pipes.read(timeoutSeconds: Self.timeoutSeconds)
                guard !more.isEmpty else { throw DeviceError(.failed, "read", "the aligner has ended") }
                received += more
            }
            let answer = received.prefix { $0 != 0x0A }
            let ranges = try decodedJSON([SampleRange].self, from: answer)
            received.removeFirst(answer.count + 1)
            take(ranges.count == piece.words.count && !ranges.isEmpty ? ranges : nil)
        }
    }

    /// Runs in the process: answers until its input ends.
    ///
    /// - Throws: `DeviceError` if the model or the audio cannot be opened.
    package static func serve(audio: String, model: PocketSphinxModel) throws {
        let aligner = try ForcedAligner(model: model)
        let reader = try RecordingReader(path: audio)
        while let line = readLine() {
            let piece = try decodedJSON(Piece.self, from: line.utf8)
            let count = Int(min(piece.range.count, 120 * Int64(SamplePosition.rate)))
            let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: count)
            defer { samples.deallocate() }
            let read = try reader.read(at: piece.range.start, into: samples)
            let heard = UnsafeBufferPointer(rebasing: samples[..<read])
            let times = try aligner.times(of: piece.words, in: heard) ?? []
            let ranges = times.map {
                SampleRange(piece.range.start + $0.start.samples, piece.range.start + $0.end.samples)
            }
            let answer = Array(try JSONEncoder().encode(ranges)) + [0x0A]
            try rethrowing {
                try answer.withUnsafeBytes { try FileDescriptor.write($0, to: 1, named: "standard output") }
            }
        }
    }
}
