import Audio
import Core
import Synchronization
import System

/// The audio of a file or of standard input, unpaced.
package final class FileAudioSource: AudioSource {
    /// Samples per step: 2 s.
    private static let chunk = 2 * SamplePosition.rate

    private struct State {
        let reader: AudioFileReader
        /// The position of the next samples.
        var position = SamplePosition.zero
        /// The number of reported gaps.
        var gaps = 0
        var pending: [AudioChunk] = []
    }

    private let state: Mutex<State>

    /// The number of interleaved channels that `next` returns: 1, or 2 if the file has two and both are kept.
    package let channels: Int

    /// Opens a file; `-` is standard input.
    ///
    /// - Parameters:
    ///   - keeping: 2 to keep both channels of a stereo file; 1 to mix them.
    ///   - track: the tracks of a container to decode.
    /// - Throws: `DeviceError` that names the file and the remedy.
    package init(path: String, keeping: Int = 1, track: SoundTrack = .automatic) throws(DeviceError) {
        let opened =
            try path == "-"
            ? AudioFileReader(descriptor: 0, named: "standard input", track: track)
            : AudioFileReader(path: path, keeping: keeping, track: track)
        channels = opened.outputs
        state = Mutex(State(reader: opened))
    }

    /// The length from the file's header; nil if unknown.
    package var estimatedLength: SamplePosition? { state.withLock { $0.reader.estimatedLength } }

    /// The account of the audio that was read and of the file's content; complete at the end of the file.
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

    /// Returns the samples, with gaps instead of the silence that the reader inserts for missing audio.
    private func chunks(of samples: [Int16], _ state: inout State) -> [AudioChunk] {
        guard !samples.isEmpty else { return [] }
        let read = SampleRange(state.position, state.position + Int64(samples.count / channels))
        state.position = read.end
        // Diarization by channels counts positions itself, without gaps.
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
