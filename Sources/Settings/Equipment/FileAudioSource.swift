import Audio
import Core
import Recognition
import Synchronization
import System

/// An audio file, or standard input, as the source of a transcription: as fast as it is asked for.
package final class FileAudioSource: AudioSource {
    /// Audio that one step reads: 2 s.
    private static let chunk = 2 * SamplePosition.rate

    private struct State {
        let reader: AudioFileReader
        /// Where the next samples lie.
        var position = SamplePosition.zero
        /// Gaps that were passed on.
        var gaps = 0
        var pending: [AudioChunk] = []
    }

    private let state: Mutex<State>

    /// Channels of what `next` gives, interleaved: 1, or 2 where both were to be kept and the file has two.
    package let channels: Int

    /// Opens a file; `-` is standard input.
    ///
    /// - Parameters:
    ///   - keeping: 2 keeps both channels of a file that has two; they are mixed else.
    ///   - track: which tracks of a container are read.
    /// - Throws: `DeviceError` that names the file and the remedy.
    package init(path: String, keeping: Int = 1, track: SoundTrack = .automatic) throws(DeviceError) {
        let opened =
            try path == "-"
            ? AudioFileReader(descriptor: 0, named: "standard input", track: track)
            : AudioFileReader(path: path, keeping: keeping, track: track)
        channels = opened.outputs
        state = Mutex(State(reader: opened))
    }

    /// The file's own length, where its header tells.
    package var estimatedLength: SamplePosition? { state.withLock { $0.reader.estimatedLength } }

    /// What was read against what the file holds; complete after its end.
    package var report: SoundAccount { state.withLock { $0.reader.report } }

    package func next() async throws -> AudioChunk? {
        try await onThread(named: "file") {
            try self.state.withLock { state in
                if state.pending.isEmpty { try self.read(&state) }
                return state.pending.isEmpty ? nil : state.pending.removeFirst()
            }
        }
    }

    private func read(_ state: inout State) throws {
        let reader = state.reader
        let samples = try [Int16](unsafeUninitializedCapacity: Self.chunk) { buffer, count in
            while count < buffer.count {
                let more = try reader.read(into: UnsafeMutableBufferPointer(rebasing: buffer[count...]))
                if more == 0 { break }
                count += more
            }
        }
        state.pending = chunks(of: samples, &state)
    }

    /// The samples, and gaps in place of the silence that stands for sound that is missing.
    private func chunks(of samples: [Int16], _ state: inout State) -> [AudioChunk] {
        guard !samples.isEmpty else { return [] }
        let read = SampleRange(state.position, state.position + Int64(samples.count / channels))
        state.position = read.end
        // Who keeps channels apart looks for people, at places of its own.
        guard channels == 1 else { return [.samples(samples)] }
        var chunks: [AudioChunk] = []
        var done = read.start
        for gap in state.reader.report.gaps.dropFirst(state.gaps) {
            guard let part = gap.intersection(read) else { break }
            if part.start > done {
                chunks.append(.samples(Array(samples[Int(done - read.start)..<Int(part.start - read.start)])))
            }
            chunks.append(.gap(Gap(part, cause: .damage)))
            done = part.end
            if gap.end <= read.end { state.gaps += 1 }
        }
        if done < read.end { chunks.append(.samples(Array(samples[Int(done - read.start)...]))) }
        return chunks
    }
}
